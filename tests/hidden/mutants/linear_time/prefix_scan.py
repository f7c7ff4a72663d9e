"""Wrong answers to `prefix_scan` that no misconception knows by name."""

from __future__ import annotations

import torch


def ten_passes_for_any_length(a, b):
    for s in (2**i for i in range(10)):
        b = torch.cat([b[:, :s], b[:, s:] + a[:, s:] * b[:, :-s]], 1)
        a = torch.cat([a[:, :s], a[:, s:] * a[:, :-s]], 1)
    return b


MUTANTS = [ten_passes_for_any_length]
