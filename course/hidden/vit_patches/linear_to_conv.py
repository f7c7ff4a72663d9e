"""Hidden tests of `linear_to_conv`, a linear map of patches as the kernels of a convolution."""

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import vit_patches as reference


@exercise(
    reference.linear_to_conv,
    hints=(
        "Row d of W makes number d of a patch embedding. Which C·p·p numbers does it multiply, in which order?",
        "Let W be zero but for W[0, 1] = 1. Which pixel of which channel does number 0 of every patch embedding hold?"
        " Compare F.conv2d(images, yours, stride=p).flatten(2).mT with patchify(images, p) @ W.T.",
        "Begin with one row of W, for two channels and p = 2, and number its eight entries. Fold it by hand into the "
        "squares that the text describes. Which entry stands where? Does that change the order of the numbers?",
    ),
    calls=(
        "linear_to_conv(tensor([[1., 2., 3., 4.]]), 1, 2)",
        "linear_to_conv(tensor([[1., 2., 3., 4.]]), 4, 1)",
        "linear_to_conv(tensor([[1., 2.], [3., 4.]]), 2, 1)",
        "linear_to_conv(numbers(5, 12), 3, 2).shape",
        "linear_to_conv(numbers(12, 12), 3, 2).shape",
        "linear_to_conv(numbers(7, 9), 1, 3).shape",
    ),
)
def linear_to_conv(rng):
    """Sizes that differ, one channel, one pixel, as many channels as an embedding is wide."""
    yield call("three channels", rng.normal(5, 12), 3, 2, public=True)
    yield call("one channel", rng.normal(2, 9), 1, 3, public=True)
    yield call("two channels, larger patches", rng.normal(7, 50), 2, 5)
    yield call("embeddings as wide as there are channels", rng.normal(5, 45), 5, 3)
    yield call("as wide as a patch", rng.normal(12, 12), 3, 2)
    yield call("patches of one pixel", rng.normal(5, 3), 3, 1, weight=0.5)
    yield call("float32", rng.normal(3, 8, dtype=torch.float32), 2, 2)
    yield call("memory that is not contiguous", noncontiguous(rng.normal(5, 18)), 2, 3, public=True)


@linear_to_conv.misconception(
    "Print patch 0 of your patchify. It begins with all pixels of channel 0. Your kernels fit patches flattened "
    "channel last.",
    convention="channel last inside a patch, as in vit-pytorch",
)
def kernels_channel_last(W, C, p):
    return W.reshape(len(W), p, p, C).permute(0, 3, 1, 2)


@linear_to_conv.misconception(
    "Try an image with one white pixel. Mathematics turns the kernel of a convolution round. Does PyTorch's conv2d?"
)
def kernels_turned_round(W, C, p):
    return W.reshape(len(W), C, p, p).flip(2, 3)


@linear_to_conv.misconception("W has the shape (out, in). Compare W[0] with all numbers of your kernel 0.")
def read_from_the_wrong_side(W, C, p):
    return W.T.reshape(len(W), C, p, p)


@linear_to_conv.misconception(
    "Compare W[0] with all numbers of your kernel 0. The right shape alone does not make them equal."
)
def words_and_channels_mixed(W, C, p):
    return W.reshape(C, len(W), p, p).transpose(0, 1)
