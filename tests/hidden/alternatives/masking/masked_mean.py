"""Right answers to `masked_mean` that look nothing like the reference."""

from __future__ import annotations

import torch


def mean_by_einsum(x, mask):
    counts = mask.sum(1).clamp(min=1).to(x.dtype)
    return torch.einsum("btd,bt->bd", x, mask.to(x.dtype)) / counts[:, None]


def mean_of_what_is_a_number(x, mask):
    return torch.where(mask[..., None], x, torch.nan).nanmean(1).nan_to_num(0.0)


ALTERNATIVES = [mean_by_einsum, mean_of_what_is_a_number]
