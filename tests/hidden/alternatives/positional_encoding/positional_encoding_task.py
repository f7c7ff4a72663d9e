"""Right answers to `positional_encoding_task` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.data import order


def echoes(ids):
    """What the model learns, in one line."""
    return F.one_hot(ids.roll(order.DELAY, 1), len(order.LETTERS)).float()


def echoes_letter_by_letter(ids):
    logits = torch.zeros(*ids.shape, len(order.LETTERS), dtype=torch.float64) - 3.0
    for row, letters in zip(logits, ids.tolist(), strict=True):
        for t in range(order.DELAY, len(letters)):
            row[t, letters[t - order.DELAY]] = 2.0
    return logits


ALTERNATIVES = [echoes, echoes_letter_by_letter]
