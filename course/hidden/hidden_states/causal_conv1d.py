"""Hidden tests of `causal_conv1d`."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.exercise import call, exercise, noncontiguous
from course.reference import hidden_states as reference


@exercise(
    reference.causal_conv1d,
    hints=(
        "Write the output at t = 0 for a kernel of three. Which inputs does it need that are not there?",
        "How many zeros must stand before the beginning for a kernel of k and a dilation of d?",
        "Change the input at t = 5. May the output at t = 4 move?",
        "Begin with the worked example, and write its zeros before the input by hand. What does `F.conv1d` make of it? "
        "Then make the zeros for any kernel and any dilation.",
    ),
    calls=(
        "causal_conv1d(tensor([[[1., 2., 3.]]]), tensor([[[1., 1.]]]), zeros(1))",
        "causal_conv1d(tensor([[[1., 2., 3.]]]), tensor([[[1., 0.]]]), zeros(1))",
        "causal_conv1d(tensor([[[1., 2., 3.]]]), tensor([[[0., 1.]]]), zeros(1))",
        "causal_conv1d(tensor([[[1., 2., 3.]]]), tensor([[[5.]]]), zeros(1))",
        "causal_conv1d(tensor([[[1., 2., 3., 4.]]]), tensor([[[1., 0.]]]), zeros(1), dilation=2)",
        "causal_conv1d(zeros(1, 1, 3), tensor([[[1., 1.]]]), tensor([7.]))",
    ),
)
def causal_conv1d(rng):
    """B, C, T, D and k are different primes; dilations, a text shorter than the field, a kernel of one."""

    def inputs(B, C, T, D, k, dtype=torch.float64):
        return rng.normal(B, C, T, dtype=dtype), rng.normal(D, C, k, dtype=dtype), rng.normal(D, dtype=dtype)

    yield call("a kernel of three", *inputs(2, 3, 11, 5, 3), public=True)
    yield call("every second input", *inputs(2, 3, 13, 5, 3), 2, public=True, weight=2.0)
    yield call("a wide dilation", *inputs(3, 2, 23, 7, 3), 5, weight=2.0)
    yield call("an even kernel", *inputs(2, 5, 11, 3, 2), 3, weight=2.0)
    yield call("as many channels as come in", *inputs(2, 3, 7, 3, 5), 1)
    yield call("shorter than its field", *inputs(2, 3, 5, 7, 3), 4, public=True)
    yield call("a kernel of one", *inputs(2, 3, 7, 5, 1)).counts_with("a kernel of three")
    yield call("a single step", *inputs(3, 2, 1, 5, 3), 2).counts_with("a kernel of three")
    yield call("float32", *inputs(2, 3, 7, 5, 3, torch.float32), 2, public=True)
    yield call("memory that is not contiguous", *map(noncontiguous, inputs(2, 5, 7, 3, 2)), 2, public=True)


def _behind(x, W, b, dilation, before, after=0):
    return F.conv1d(F.pad(x, (before, after)), W, b, dilation=dilation)


@causal_conv1d.misconception("Change the last input. Which outputs move? A causal layer must not know it any earlier.")
def padded_on_both_sides(x, W, b, dilation=1):
    both = (W.shape[2] - 1) * dilation
    return _behind(x, W, b, dilation, both // 2, both - both // 2)


@causal_conv1d.misconception("Change the last input. Do earlier outputs move? On which side do your zeros stand?")
def padded_behind_the_end(x, W, b, dilation=1):
    return _behind(x, W, b, dilation, 0, (W.shape[2] - 1) * dilation)


@causal_conv1d.misconception("With a dilation of 4, which input does the tap before the last one meet? Try a single 1.")
def dilation_forgotten(x, W, b, dilation=1):
    return _behind(x, W, b, 1, W.shape[2] - 1)


@causal_conv1d.misconception("Send a single 1 through a kernel (1, 2, 3). What comes out at its own place, and after?")
def kernel_turned_round(x, W, b, dilation=1):
    return _behind(x, W.flip(2), b, dilation, (W.shape[2] - 1) * dilation)


@causal_conv1d.misconception("How many outputs should there be for T inputs, and how many came?")
def no_zeros(x, W, b, dilation=1):
    return _behind(x, W, b, dilation, 0)


@causal_conv1d.misconception("How many outputs come with a dilation of 2? How far back does the first tap reach then?")
def zeros_for_no_dilation(x, W, b, dilation=1):
    return _behind(x, W, b, dilation, W.shape[2] - 1)


@causal_conv1d.misconception("Change the input at t alone. Does the output at t move? The last tap meets the present.")
def present_left_out(x, W, b, dilation=1):
    return _behind(x, W, b, dilation, (W.shape[2] - 1) * dilation + 1)[..., : x.shape[2]]


@causal_conv1d.misconception("What comes out where the input is zero everywhere?")
def bias_forgotten(x, W, b, dilation=1):
    return _behind(x, W, None, dilation, (W.shape[2] - 1) * dilation)
