"""Right answers to `discretise` that look nothing like the reference."""

from __future__ import annotations

import math

import torch


def as_the_paper_prints_it(a, b, delta):
    kept = math.e ** (delta * a)
    return kept, 1 / (delta * a) * (kept - 1) * (delta * b)


def state_by_state(a, b, delta):
    kept = [(each * delta).exp() for each in a]
    written = [(1 - a_bar) / -each * other for each, a_bar, other in zip(a, kept, b)]
    return torch.stack(kept), torch.stack(written)


ALTERNATIVES = [as_the_paper_prints_it, state_by_state]
