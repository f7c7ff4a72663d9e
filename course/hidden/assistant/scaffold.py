"""What several exercises of this topic are examined with."""

from __future__ import annotations

import torch


def with_an_image(rng, places, T, image_id):
    """Ids (B, T) of words from 20 on, with the image token at each row's place; learned (B, T), False there."""
    ids, rows = rng.integers(20, 99, len(places), T), torch.arange(len(places))
    learned = rng.uniform(len(places), T) < 0.5
    ids[rows, places], learned[rows, places] = image_id, False
    return ids, learned


def checked(ids, image_id):
    """Raise as the reference does where a row has not exactly one image token."""
    if bool(((ids == image_id).sum(1) != 1).any()):
        raise ValueError("every row needs exactly one image token")
