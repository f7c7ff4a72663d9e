"""Hidden tests of `patchify`, which cuts images into patches."""

import torch
from torch.nn import functional as F

from course.exercise import call, exercise, noncontiguous
from course.hidden.vit_patches.scaffold import cut_in_order
from course.reference import vit_patches as reference
from course.reference.vit_patches import patchify as cut


@exercise(
    reference.patchify,
    hints=(
        "Number the pixels of a 4 × 6 image from 0 to 23 and cut it with p = 2. Write down patches 0 and 1 by hand.",
        "Draw your patch 0 as a picture of p x p pixels. Which pixels of the image do you see?",
        "Begin with the error. Then say by six numbers where a pixel is. Name all six, in the order of the image and "
        "in that of the patches. Give each an axis of its own first, and print the shape, then change their order, "
        "then join some of them.",
    ),
    calls=(
        "patchify(tensor([[[[1., 2.], [3., 4.]]]]), 1)",
        "patchify(tensor([[[[1., 2.], [3., 4.]]]]), 2)",
        "patchify(tensor([[[[1., 2., 3., 4.], [5., 6., 7., 8.]]]]), 2)",
        "patchify(tensor([[[[1., 2.]], [[3., 4.]]]]), 1)",
        "patchify(tensor([[[[1., 2.], [3., 4.]], [[5., 6.], [7., 8.]]]]), 2)",
        "patchify(numbers(2, 3, 4, 6), 2).shape",
    ),
)
def patchify(rng):
    """Wide and high images, one channel and several, a patch of one pixel, one that is the whole image, a remainder."""
    yield call("one channel", rng.normal(2, 1, 4, 6), 2, public=True)
    yield call("three channels", rng.normal(2, 3, 6, 4), 2, public=True, weight=2.0)
    yield call("five channels, larger patches", rng.normal(3, 5, 6, 9), 3, weight=2.0)
    yield call("patches of seven", rng.normal(2, 2, 7, 14), 7)
    yield call("every pixel a patch", rng.normal(2, 3, 2, 5), 1, weight=0.5)
    yield call("the whole image is one patch", rng.normal(3, 2, 5, 5), 5, weight=0.5)
    yield call("a single image", rng.normal(1, 2, 10, 4), 2)
    yield call("float32", rng.normal(2, 3, 4, 6, dtype=torch.float32), 2)
    yield call("memory that is not contiguous", noncontiguous(rng.normal(2, 3, 4, 6)), 2, public=True)
    yield call("a height that is no multiple", rng.normal(2, 3, 5, 4), 2, public=True, raises="ValueError", weight=0.5)
    yield call("a width that is no multiple", rng.normal(2, 3, 6, 8), 3, raises="ValueError", weight=0.5)


def _ordered(*order):
    """The answer that brings the six numbers of a pixel into another order."""
    return lambda images, p: cut_in_order(images, p, *order)


patchify.mistakes(
    "Draw your patch 0 as a picture. Is it a square, or a strip of the top row?",
    strips_of_rows=_ordered(0, 1, 2, 3, 4, 5),
)
patchify.mistakes(
    "Number the pixels of a 4 × 6 image. Does your patch 1 lie to the right of patch 0, or below it?",
    column_by_column=_ordered(0, 4, 2, 1, 3, 5),
)
patchify.misconception(
    "Number the pixels of two channels and print patch 0. Inside a patch, the docstring puts the channel first.",
    convention="channel last inside a patch, as in vit-pytorch",
    name="channel_last",
)(_ordered(0, 2, 4, 3, 5, 1))
patchify.mistakes(
    "The right pixels are in the right patches. Draw one patch. Is it lying on its side?",
    transposed_inside=_ordered(0, 2, 4, 1, 5, 3),
)


@patchify.misconception("F.unfold gives (B, C·p·p, N). Which axis counts the patches, and which one did you ask for?")
def unfold_not_transposed(images, p):
    patches = cut(images, p)
    return patches.mT.reshape(patches.shape)


patchify.mistakes(
    "Use an image whose channels are filled with 0, 1 and 2. Which numbers does patch 0 hold?",
    a_channel_at_a_time=_ordered(0, 1, 2, 4, 3, 5),
)


@patchify.misconception("How many patches has a 4 × 6 image with p = 2? How many of them touch each other in yours?")
def overlapping_patches(images, p):
    cut(images, p)
    return F.unfold(images, p).mT


@patchify.misconception(
    "How many patches has a 4 × 6 image with p = 2? In which row and column does the last one begin?"
)
def last_row_and_column_lost(images, p):
    cut(images, p)
    H, W = images.shape[2:]
    corners = [(y, x) for y in range(0, H - p, p) for x in range(0, W - p, p)]
    return torch.stack([images[:, :, y : y + p, x : x + p].flatten(1) for y, x in corners], 1)
