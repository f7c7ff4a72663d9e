"""Convert a list of pairs to a sequence of vectors, in two layouts, for any model that reads the sequence.

Both take keys (B, S), values (B, S) and query (B,). The query is a key alone at the last position.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

N_KEYS, N_VALUES = 26, 10


class PairSlots(nn.Module):
    """One position for each pair, key embedding + value embedding, and then the query: (B, S + 1, D)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.keys = nn.Embedding(N_KEYS, width)
        self.values = nn.Embedding(N_VALUES, width)

    def forward(self, keys: Tensor, values: Tensor, query: Tensor) -> Tensor:
        """Return vectors (B, S + 1, D) for keys and values (B, S) and query (B,), all int64."""
        pairs = self.keys(keys) + self.values(values)  # (B, S, D)
        return torch.cat([pairs, self.keys(query)[:, None]], dim=1)


class FlatSlots(nn.Module):
    """One position for each symbol, key, value, key, value, ..., and then the query: (B, 2S + 1, D)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.keys = nn.Embedding(N_KEYS, width)
        self.values = nn.Embedding(N_VALUES, width)

    def forward(self, keys: Tensor, values: Tensor, query: Tensor) -> Tensor:
        """Return vectors (B, 2S + 1, D) for keys and values (B, S) and query (B,), all int64."""
        symbols = torch.stack([self.keys(keys), self.values(values)], dim=2)  # (B, S, 2, D)
        return torch.cat([symbols.flatten(1, 2), self.keys(query)[:, None]], dim=1)
