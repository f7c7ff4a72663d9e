"""What several exercises of this topic are examined with."""

from __future__ import annotations

import torch


def with_an_image(rng, places, T, image_id):
    """Ids (B, T) of words from 20 on, with the image token at each row's place; learned (B, T), False there."""
    ids, rows = rng.integers(20, 99, len(places), T), torch.arange(len(places))
    learned = rng.uniform(len(places), T) < 0.5
    ids[rows, places], learned[rows, places] = image_id, False
    return ids, learned


TWO_AND_NONE = torch.tensor([[5, 5], [1, 2]])
"""Ids with the image token 5: as many images as rows, but two in the first one."""
NO_IMAGE = torch.tensor([[11, 12], [13, 14]])
"""Ids without an image token."""


COUNTED_TOGETHER = (
    "Take one row with two image tokens and one with none. What does your check count, and for which row?"
)


def checked(ids, image_id):
    """Raise as the reference does where a row has not exactly one image token."""
    if bool(((ids == image_id).sum(1) != 1).any()):
        raise ValueError("every row needs exactly one image token")


def checked_together(ids, image_id):
    """Raise where there are not as many image tokens as rows, whichever rows they are in."""
    if int((ids == image_id).sum()) != len(ids):
        raise ValueError("every row needs exactly one image token")
