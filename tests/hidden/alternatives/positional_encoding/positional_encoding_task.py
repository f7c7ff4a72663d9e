"""Right answers to `positional_encoding_task` that look nothing like the reference."""

from __future__ import annotations

from torch.nn import functional as F

from course.data import order


def echoes(ids):
    """What the model learns, in one line."""
    return F.one_hot(ids.roll(order.DELAY, 1), len(order.LETTERS)).float()


ALTERNATIVES = [echoes]
