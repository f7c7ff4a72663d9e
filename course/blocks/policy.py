"""A policy over short answers of three phrases, as a table, for topic 18's task."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class TablePolicy(nn.Module):
    """A policy: `policy(ids (B, T))` -> logits (B, T, V) for the phrase after each, from a table.

    An answer has three places of V phrases each, after a first id that is ignored. So T is at most 4, and after the
    third phrase the logits are zeros. The policy begins with the given probabilities.

    Args:
        log_p: log-probabilities of all answers, (V³,), in the order of their phrases.

    Raises:
        ValueError: their number is not that of three places of V phrases.
    """

    def __init__(self, log_p: Tensor) -> None:
        super().__init__()
        V = round(len(log_p) ** (1 / 3))
        if len(log_p) != V**3:
            raise ValueError(f"{len(log_p)} answers are no three places of as many phrases each")
        third = log_p.detach().float().view(V, V, V)
        two = third.logsumexp(-1)  # answers by their first two phrases, (V, V)
        self.first, self.second, self.third = (nn.Parameter(x.clone()) for x in (two.logsumexp(-1), two, third))

    def forward(self, ids: Tensor) -> Tensor:
        """Return logits (B, T, V) for ids (B, T)."""
        B, T = ids.shape
        found = [self.first.expand(B, -1)]
        if T > 1:
            found.append(self.second[ids[:, 1]])
        if T > 2:
            found.append(self.third[ids[:, 1], ids[:, 2]])
        if T > 3:
            found.append(torch.zeros_like(found[0]))
        return torch.stack(found, 1)
