"""Hidden tests of `unpatchify`, which puts patches together again."""

import torch
from torch.nn import functional as F

from course.exercise import call, exercise, noncontiguous
from course.reference import vit_patches as reference


@exercise(
    reference.unpatchify,
    hints=(
        "Cut an image of numbers 0 to 23 with your patchify, and put it together by hand. What comes back first?",
        "Take a 2 × 6 image in patches of 2. Where in the image do the first two numbers of patch 1 belong?",
        "Begin with your patchify, and read it from its last line to its first. It brought six numbers a pixel into a"
        " new order. Which six axes must the patches get, and into which order must unpatchify bring them?",
    ),
    calls=(
        "unpatchify(tensor([[[1.], [2.], [3.], [4.]]]), 1, 2, 2)",
        "unpatchify(tensor([[[1., 2., 3., 4.]]]), 2, 2, 2)",
        "unpatchify(tensor([[[1., 2.], [3., 4.]]]), 1, 1, 2)",
        "unpatchify(tensor([[[1.], [2.], [3.], [4.]]]), 1, 1, 4)",
        "unpatchify(numbers(2, 6, 12), 2, 4, 6).shape",
        "unpatchify(tensor([[[1., 2., 3., 4.], [5., 6., 7., 8.]]]), 2, 2, 4)",
    ),
)
def unpatchify(rng):
    """The same sizes as in cutting. H and W differ, and so do rows and columns of patches."""
    yield call("one channel", rng.normal(2, 6, 4), 2, 4, 6, public=True)
    yield call("three channels", rng.normal(2, 6, 12), 2, 6, 4, public=True, weight=2.0)
    yield call("five channels, larger patches", rng.normal(3, 6, 45), 3, 6, 9, weight=2.0)
    yield call("patches of seven", rng.normal(2, 2, 98), 7, 7, 14)
    yield call("every pixel a patch", rng.normal(2, 10, 3), 1, 2, 5, weight=0.5)
    yield call("a single patch", rng.normal(3, 1, 50), 5, 5, 5, weight=0.5)
    yield call("a single image", rng.normal(1, 10, 8), 2, 10, 4)
    yield call("float32", rng.normal(2, 6, 12, dtype=torch.float32), 2, 4, 6)
    yield call("memory that is not contiguous", noncontiguous(rng.normal(2, 6, 12)), 2, 4, 6, public=True)
    yield call(
        "a height that is no multiple", rng.normal(2, 4, 12), 2, 5, 4, public=True, raises="ValueError", weight=0.5
    )
    yield call("a width that is no multiple", rng.normal(2, 4, 27), 3, 6, 8, raises="ValueError", weight=0.5)


def _ordered(*order, grid=lambda rows, columns: (rows, columns), inside=lambda p: (-1, p, p)):
    """The answer that reads patches as (B, row, column, C, y, x), or otherwise, and brings them into another order."""

    def answer(patches, p, H, W):
        if H % p or W % p:
            raise ValueError(f"{H} × {W} is no multiple of {p}")
        six = patches.unflatten(2, inside(p)).unflatten(1, grid(H // p, W // p))
        return six.permute(*order).reshape(len(patches), -1, H, W)

    return answer


def _exchanged(rows, columns):
    return columns, rows


unpatchify.mistakes(
    "Look at the top row of the image you get. From how many patches should its pixels come?",
    patches_poured_out=_ordered(0, 1, 2, 3, 4, 5),
)
unpatchify.mistakes(
    "Write down the order of a pixel's six numbers before and after patchify. Does the same step once more undo it?",
    cut_once_more=_ordered(0, 2, 4, 1, 3, 5),
)
unpatchify.mistakes(
    "Does patch 1 belong to the right of patch 0, or below it?",
    laid_column_by_column=_ordered(0, 3, 2, 4, 1, 5, grid=_exchanged),
)
unpatchify.mistakes(
    "How many patches lie side by side in an image of 4 × 6 with p = 2?",
    width_taken_for_height=_ordered(0, 3, 1, 4, 2, 5, grid=_exchanged),
)
unpatchify.misconception(
    "Print patch 0 of your patchify. It begins with all pixels of channel 0. Yours fits patches flattened channel "
    "last.",
    convention="channel last inside a patch, as in vit-pytorch",
    name="read_channel_last",
)(_ordered(0, 5, 1, 3, 2, 4, inside=lambda p: (p, p, -1)))
unpatchify.mistakes(
    "Every patch is in its place. Draw one. Is it lying on its side?",
    laid_on_their_side=_ordered(0, 3, 1, 5, 2, 4),
)


@unpatchify.misconception("F.fold reads (B, C·p·p, N). Which axis of your patches counts them?")
def fold_not_transposed(patches, p, H, W):
    reference.unpatchify(patches, p, H, W)  # which refuses what the reference refuses
    return F.fold(patches.reshape(len(patches), patches.shape[2], -1), (H, W), p, stride=p)
