"""Topic 03's classifier with its interface, on torch's own layer: what later topics compare with."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class ElmanClassifier(nn.Module):
    """Elman's network with ReLU: ids (B, T) and lengths (B,) give logits (B, classes), read at the last real token.

    The weights of a token start as an embedding's do, from N(0, 1).
    """

    def __init__(self, vocab_size: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.vocab_size = vocab_size
        self.rnn = nn.RNN(vocab_size, hidden, nonlinearity="relu", batch_first=True)
        nn.init.normal_(self.rnn.weight_ih_l0)
        self.to_classes = nn.Linear(hidden, classes)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        xs = F.one_hot(ids, self.vocab_size).to(self.to_classes.weight.dtype)  # (B, T, V)
        states, _ = self.rnn(xs)
        return self.to_classes(states[torch.arange(len(ids)), lengths - 1])
