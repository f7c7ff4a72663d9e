"""Recurrent classifiers as baselines: topic 03's on torch's own layer, and one that takes its cell as an argument.

Both take ids (B, T) and lengths (B,), and return logits (B, classes) from the state after the last real token. The
input weights of a token are initialised like an embedding's, from N(0, 1).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class ElmanClassifier(nn.Module):
    """Elman's network with ReLU."""

    def __init__(self, vocab_size: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.tokens = vocab_size
        self.rnn = nn.RNN(vocab_size, hidden, nonlinearity="relu", batch_first=True)
        nn.init.normal_(self.rnn.get_parameter("weight_ih_l0"))
        self.readout = nn.Linear(hidden, classes)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Return logits (B, classes) of the state at each last token, from int64 ids (B, T) and lengths (B,)."""
        xs = F.one_hot(ids, self.tokens).to(self.readout.weight.dtype)  # (B, T, V)
        states, _ = self.rnn(xs)
        return self.readout(states[torch.arange(len(ids)), lengths - 1])


class OneGate(nn.Module):
    """The lecture's network with one gate: `cell(x, h, W_x, W_h, b, V_x, V_h, c)` is topic 04's `gated_cell`.

    The gate begins open towards the old state, with a bias of 1.
    """

    def __init__(self, cell: Callable[..., Tensor], vocab_size: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.cell, self.tokens, self.hidden = cell, vocab_size, hidden
        parts = [part for bias in (0.0, 1.0) for part in _weights(vocab_size, hidden, bias)]
        self.weights = nn.ParameterList(parts)
        self.readout = nn.Linear(hidden, classes)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Return logits (B, classes) of the state at each last token, from int64 ids (B, T) and lengths (B,)."""
        xs = F.one_hot(ids, self.tokens).to(self.readout.weight.dtype)  # (B, T, V)
        h = end = xs.new_zeros(len(ids), self.hidden)
        for t, x in enumerate(xs.unbind(dim=1)):
            h = self.cell(x, h, *self.weights)
            end = torch.where((lengths - 1 == t)[:, None], h, end)
        return self.readout(end)


def _weights(vocab_size: int, hidden: int, bias: float) -> list[Tensor]:
    """Return weights for the token, weights for the state, and a bias."""
    recurrent = (2 * torch.rand(hidden, hidden) - 1) / hidden**0.5
    return [torch.randn(hidden, vocab_size), recurrent, torch.full((hidden,), bias)]
