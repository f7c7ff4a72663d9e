"""Stack rows of different lengths in one tensor."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import torch
from torch import Tensor


def side_by_side(rows: Sequence[Sequence[int]]) -> Tensor:
    """Return rows of ids as a LongTensor (B, T), padded with zeros."""
    return torch.tensor([*zip_longest(*rows, fillvalue=0)], dtype=torch.long).T.contiguous()
