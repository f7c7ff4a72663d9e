"""Right answers to `dequantise` that look nothing like the reference."""

from __future__ import annotations

import torch


def by_loops(codes, scales, levels, shape):
    flat = []
    for row, scale in zip(codes.tolist(), scales.tolist()):
        for byte in row:
            flat += [scale * float(levels[byte // 16]), scale * float(levels[byte % 16])]
    return torch.tensor(flat[: shape[0] * shape[1]], dtype=scales.dtype).reshape(shape)


def by_a_table_of_bytes(codes, scales, levels, shape):
    """Look up each byte's pair of levels in a table of 256."""
    pairs = torch.cartesian_prod(levels, levels).to(scales.dtype)  # (256, 2)
    blocks = torch.einsum("bcp, b -> bcp", pairs[codes.long()], scales)
    return blocks.reshape(-1).narrow(0, 0, shape[0] * shape[1]).reshape(shape)


ALTERNATIVES = [by_loops, by_a_table_of_bytes]
