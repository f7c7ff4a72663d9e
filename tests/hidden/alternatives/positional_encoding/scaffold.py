"""What several of this topic's answers are made of."""

from __future__ import annotations


def even(d):
    if d % 2 != 0:
        raise ValueError("odd")
