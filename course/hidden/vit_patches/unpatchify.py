"""Hidden tests of `unpatchify`."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.exercise import call, exercise, noncontiguous
from course.reference import vit_patches as reference
from course.reference.vit_patches import patchify as cut
from course.reference.vit_patches import unpatchify as mend


@exercise(
    reference.unpatchify,
    hints=(
        "Cut an image of numbers 0 to 23 with your patchify, and put it together by hand. What comes back first?",
        "patchify brought six numbers a pixel into a new order. Into which order must unpatchify bring them?",
        "Take a 2 × 6 image in patches of 2. Where in the image do the first two numbers of patch 1 belong?",
    ),
)
def unpatchify(rng):
    """The same sizes as in cutting; H and W differ, so do rows and columns of patches."""
    yield call("one channel", rng.normal(2, 6, 4), 2, 4, 6, public=True)
    yield call("three channels", rng.normal(2, 6, 12), 2, 6, 4, public=True, weight=2.0)
    yield call("five channels, larger patches", rng.normal(3, 6, 45), 3, 6, 9, weight=2.0)
    yield call("patches of seven", rng.normal(2, 2, 98), 7, 7, 14)
    yield call("every pixel a patch", rng.normal(2, 10, 3), 1, 2, 5, weight=0.5)
    yield call("a single patch", rng.normal(3, 1, 50), 5, 5, 5, weight=0.5)
    yield call("a single image", rng.normal(1, 10, 8), 2, 10, 4)
    yield call("float32", rng.normal(2, 6, 12, dtype=torch.float32), 2, 4, 6)
    yield call("memory that is not contiguous", noncontiguous(rng.normal(2, 6, 12)), 2, 4, 6, public=True)
    yield call("a height that is no multiple", rng.normal(2, 4, 12), 2, 5, 4, raises="ValueError", weight=0.5)
    yield call("a width that is no multiple", rng.normal(2, 4, 27), 3, 6, 8, raises="ValueError", weight=0.5)


def _mend(patches, p, H, W, *order, grid=None, inside=None):
    """Patches as (B, row, column, C, y, x), moved into another order, as images."""
    if H % p or W % p:
        raise ValueError(f"{H} × {W} is no multiple of {p}")
    grid, inside = grid or (H // p, W // p), inside or (-1, p, p)
    six = patches.unflatten(2, inside).unflatten(1, grid)
    return six.permute(*order).reshape(len(patches), -1, H, W)


@unpatchify.misconception("Look at the top row of the image you get. From how many patches should its pixels come?")
def patches_poured_out(patches, p, H, W):
    return _mend(patches, p, H, W, 0, 1, 2, 3, 4, 5)


@unpatchify.misconception(
    "patchify has brought a pixel's six numbers into a new order. Write both down: does the same once more undo it?"
)
def cut_once_more(patches, p, H, W):
    return _mend(patches, p, H, W, 0, 2, 4, 1, 3, 5)


@unpatchify.misconception(
    "patchify has brought a pixel's six numbers into a new order. Write both down: does the same once more undo it?"
)
def cut_once_more_as_an_image(patches, p, H, W):
    if H % p or W % p:
        raise ValueError(f"{H} × {W} is no multiple of {p}")
    return cut(patches.reshape(len(patches), -1, H, W), p).reshape(len(patches), -1, H, W)


@unpatchify.misconception("Which pixel stands to the right of a patch's top right corner? Follow the last four axes.")
def rows_and_columns_not_woven(patches, p, H, W):
    return _mend(patches, p, H, W, 0, 3, 1, 2, 4, 5)


@unpatchify.misconception("Where does patch 1 belong: to the right of patch 0, or below it?")
def laid_column_by_column(patches, p, H, W):
    return _mend(patches, p, H, W, 0, 3, 2, 4, 1, 5, grid=(W // p, H // p))


@unpatchify.misconception("How many patches lie side by side in an image of 4 × 6 with p = 2: two or three?")
def width_taken_for_height(patches, p, H, W):
    return _mend(patches, p, H, W, 0, 3, 1, 4, 2, 5, grid=(W // p, H // p))


@unpatchify.misconception(
    "Right for patches flattened channel last. Those of your patchify begin with all pixels of channel 0.",
    convention="channel last inside a patch, as in vit-pytorch",
)
def read_channel_last(patches, p, H, W):
    return _mend(patches, p, H, W, 0, 5, 1, 3, 2, 4, inside=(p, p, -1))


@unpatchify.misconception("Every patch is in its place. Draw one: is it lying on its side?")
def laid_on_their_side(patches, p, H, W):
    return _mend(patches, p, H, W, 0, 3, 1, 5, 2, 4)


@unpatchify.misconception("F.fold reads (B, C·p·p, N). Which axis of your patches counts them?")
def fold_not_transposed(patches, p, H, W):
    _mend(patches, p, H, W, 0, 1, 2, 3, 4, 5)
    return F.fold(patches.reshape(len(patches), patches.shape[2], -1), (H, W), p, stride=p)


@unpatchify.misconception("Ask for an image of 5 × 4 with p = 2. What do you get: an error, or a smaller image?")
def smaller_image_without_a_word(patches, p, H, W):
    return mend(patches, p, H // p * p, W // p * p)
