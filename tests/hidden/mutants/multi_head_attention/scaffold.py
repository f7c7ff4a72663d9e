"""What several of this topic's answers are made of."""

from __future__ import annotations


def demand_whole_heads(D, h):
    if D % h:
        raise ValueError("no")
