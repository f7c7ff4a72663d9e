"""Right answers to `rms_norm` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def by_the_norm(x, gamma, eps=1e-6):
    D = x.shape[-1]
    squares = torch.linalg.vector_norm(x, dim=-1, keepdim=True) ** 2
    return x * gamma / torch.sqrt(squares / D + eps)


def with_eps_as_one_more_number(x, gamma, eps=1e-6):
    """A vector of length one, which has eps as the square of one more number."""
    D = x.shape[-1]
    longer = torch.cat([x, torch.full_like(x[..., :1], (D * eps) ** 0.5)], -1)
    return gamma * D**0.5 * F.normalize(longer, dim=-1)[..., :D]


def in_single_precision(x, gamma, eps=1e-6):
    """As LLaMA does it: half precision is widened for the norm, and narrowed again."""
    wide = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
    return gamma * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)).type_as(x)


ALTERNATIVES = [by_the_norm, with_eps_as_one_more_number, in_single_precision]
