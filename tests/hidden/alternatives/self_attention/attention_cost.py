"""Right answers to `attention_cost` that look nothing like the reference."""

from __future__ import annotations

import torch


def cost_by_counting_sizes(n, d):
    pairs, matrix = torch.empty(n, n, device="meta"), torch.empty(d, d, device="meta")
    return {"recurrent": n * matrix.numel(), "self_attention": pairs.numel() * d}


def cost_in_floats(n, d):
    return {"self_attention": float(n) * n * d, "recurrent": float(n) * d * d}


ALTERNATIVES = [cost_by_counting_sizes, cost_in_floats]
