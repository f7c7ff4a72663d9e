"""Wrong answers to `dot_scores` that no misconception knows by name."""

from __future__ import annotations

import torch


def dot_of_the_first_query(query, keys):
    return keys @ query[0]


def dot_keys_reversed(query, keys):
    return torch.einsum("bd,bsd->bs", query, keys.flip(1))


MUTANTS = [dot_of_the_first_query, dot_keys_reversed]
