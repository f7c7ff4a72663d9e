"""Hidden tests of `spectrogram_patches`, which cuts spectrograms into overlapping patches."""

import torch
from torch.nn import functional as F

from course.exercise import call, exercise, noncontiguous
from course.reference import vit_patches as reference


@exercise(
    reference.spectrogram_patches,
    hints=(
        "How many windows of 3 with a step of 2 fit into 7 frequencies? And into 11 times?",
        "Number the entries of a small spectrogram. Where does patch 1 begin, and where the next band?",
        "Begin with the error, and with the places where a patch may begin, first along the frequencies, then along "
        "the times. Cut a single patch there by hand. A spectrogram (B, F, T) is an image of one channel. What "
        "differs from patchify once patches overlap?",
    ),
    calls=(
        "spectrogram_patches(tensor([[[1., 2., 3.], [4., 5., 6.]]]), 2, 1)",
        "spectrogram_patches(tensor([[[1., 2., 3., 4.]]]), 1, 2)",
        "spectrogram_patches(tensor([[[1., 2.], [3., 4.]]]), 1, 1)",
        "spectrogram_patches(tensor([[[1., 2.], [3., 4.]]]), 2, 1)",
        "spectrogram_patches(tensor([[[1., 2.], [3., 4.]]]), 3, 1)",
        "spectrogram_patches(numbers(2, 5, 7), 3, 2).shape",
    ),
)
def spectrogram_patches(rng):
    """F and T differ. Remainders on one side, on both, on none. Steps shorter than a patch, as long, and longer."""
    yield call("overlapping", rng.normal(2, 7, 11), 3, 2, public=True, weight=2.0)
    yield call("a remainder in time", rng.normal(2, 5, 12), 3, 2, public=True)
    yield call("remainders on both sides", rng.normal(3, 10, 8), 4, 3, weight=2.0)
    yield call("steps as long as a patch", rng.normal(2, 6, 9), 3, 3)
    yield call("steps longer than a patch", rng.normal(2, 9, 7), 2, 5)
    yield call("a step of one", rng.normal(2, 3, 5), 2, 1)
    yield call("a single band", rng.normal(2, 5, 13), 5, 3)
    yield call("a single patch", rng.normal(1, 3, 3), 3, 2, weight=0.5)
    yield call("float32", rng.normal(2, 7, 11, dtype=torch.float32), 3, 2)
    yield call("memory that is not contiguous", noncontiguous(rng.normal(2, 7, 11)), 3, 2, public=True)
    yield call("too few frequencies", rng.normal(2, 3, 11), 4, 2, public=True, raises="ValueError", weight=0.5)
    yield call("too few times", rng.normal(2, 11, 3), 4, 2, raises="ValueError", weight=0.5)


def _pieces(spec, p, step_f, step_t, order=(0, 1, 2, 3, 4)):
    """Windows (B, band, time, y, x) in another order, as patches."""
    if min(spec.shape[1:]) < p:
        raise ValueError(f"{tuple(spec.shape)} is smaller than {p} × {p}")
    return spec.unfold(1, p, step_f).unfold(2, p, step_t).permute(*order).reshape(len(spec), -1, p * p)


spectrogram_patches.mistakes(
    "How many columns do your patches 0 and 1 share? With p = 3 and a stride of 2, one.",
    without_overlap=lambda spec, p, stride: _pieces(spec, p, p, p),
)
spectrogram_patches.mistakes(
    "Print the first column of your patches 0 and 1. The stride is how far apart they begin, not how much they share.",
    stride_taken_for_overlap=lambda spec, p, stride: _pieces(spec, p, *[max(p - stride, 1)] * 2),
)
spectrogram_patches.mistakes(
    "Print where your patch 1 begins. Is it later, or higher? Time runs fastest.",
    times_before_bands=lambda spec, p, stride: _pieces(spec, p, stride, stride, (0, 2, 1, 3, 4)),
)
spectrogram_patches.mistakes(
    "Frequency is the first axis after the batch. Do the rows of your patches run along it?",
    time_and_frequency_exchanged=lambda spec, p, stride: _pieces(spec, p, stride, stride, (0, 2, 1, 4, 3)),
)


@spectrogram_patches.misconception(
    "F.unfold gives (B, p·p, N). Which axis counts the patches, and which one did you ask for?"
)
def columns_not_transposed(spec, p, stride):
    patches = _pieces(spec, p, stride, stride)
    return patches.mT.reshape(patches.shape)


@spectrogram_patches.misconception(
    "Count your patches for 12 times, p = 3 and a stride of 2. What is left over at the end is dropped."
)
def padded_at_the_ends(spec, p, stride):
    _pieces(spec, p, stride, stride)
    F_, T = spec.shape[1:]
    return _pieces(F.pad(spec, (0, -(T - p) % stride, 0, -(F_ - p) % stride)), p, stride, stride)


@spectrogram_patches.misconception(
    "Windows of 3 with a step of 2 fit into 7 frequencies three times. Name the last one."
)
def begins_too_seldom(spec, p, stride):
    _pieces(spec, p, stride, stride)
    corners = [(y, x) for y in range(0, spec.shape[1] - p, stride) for x in range(0, spec.shape[2] - p, stride)]
    return torch.stack([spec[:, y : y + p, x : x + p].flatten(1) for y, x in corners], 1)
