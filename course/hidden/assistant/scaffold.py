"""What several exercises of this topic are examined with."""

from __future__ import annotations

import torch


def with_an_image(rng, places, T, image_id):
    """Ids (B, T) of words from 20 on, with the image token at each row's place; learned (B, T), False there."""
    ids, rows = rng.integers(20, 99, len(places), T), torch.arange(len(places))
    learned = rng.uniform(len(places), T) < 0.5
    ids[rows, places], learned[rows, places] = image_id, False
    return ids, learned


FAULTY = {
    "two images in one row, none in the next": torch.tensor([[5, 5], [1, 2]]),
    "no image at all": torch.tensor([[11, 12], [13, 14]]),
}
"""Ids where 5 is the image token: as many images as rows, but two in the first one; and no images."""

COUNTED_TOGETHER = (
    "Take one row with two image tokens and one with none. What does your check count, and for which row?"
)


def first_places(ids, image_id):
    """Return the place of the first image token in each row, and 0 where there is none."""
    return (ids == image_id).long().argmax(1).tolist()


def places_of(ids, image_id):
    """Return the place of the image token in each row; raise as the reference does where a row has not exactly one."""
    if bool(((ids == image_id).sum(1) != 1).any()):
        raise ValueError("every row needs exactly one image token")
    return first_places(ids, image_id)


def places_if_as_many(ids, image_id):
    """Return the places of all image tokens; raise where they are not as many as rows, whichever rows they are in."""
    if int((ids == image_id).sum()) != len(ids):
        raise ValueError("every row needs exactly one image token")
    return (ids == image_id).nonzero()[:, 1].tolist()
