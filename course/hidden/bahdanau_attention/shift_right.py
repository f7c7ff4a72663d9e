"""Hidden tests of `shift_right`."""

from __future__ import annotations

import torch

from course.exercise import call, exercise
from course.reference import bahdanau_attention as reference


@exercise(
    reference.shift_right,
    hints=(
        "Write targets and result one below the other, token by token. Below each target stands what was read.",
        "At the first step nothing has been written yet. What does the decoder read then?",
    ),
)
def shift_right(rng):
    """Ids of other integer types, too; the result is as long as the targets, whatever stands in them."""
    yield call("a small batch", rng.integers(3, 11, 2, 5), 1, public=True, weight=2.0)
    yield call("eos and padding at the end", torch.tensor([[7, 5, 2, 0, 0], [3, 9, 4, 8, 2]]), 1, public=True)
    yield call("a target of one token", rng.integers(3, 11, 3, 1), 1).counts_with("a small batch")
    yield call("another sos", rng.integers(0, 7, 3, 7), 12, weight=2.0)
    yield call("sos is zero", rng.integers(1, 7, 2, 3), 0)
    yield call("as many targets as tokens", rng.integers(3, 50, 5, 5), 1)
    yield call("int32", rng.integers(3, 11, 2, 7).int(), 1, public=True)
    wide = rng.integers(3, 11, 3, 10)
    yield call("memory that is not contiguous", wide[:, ::2], 1, public=True)


def _front(targets, sos):
    return torch.full_like(targets[:, :1], sos)


@shift_right.misconception("Under the first target stands the second one. Has the decoder read it before it writes?")
def shifts_left(targets, sos):
    return torch.cat([targets[:, 1:], _front(targets, sos)], 1)


@shift_right.misconception("How many tokens went in, and how many come out? Each step reads one and predicts one.")
def keeps_the_last(targets, sos):
    return torch.cat([_front(targets, sos), targets], 1)


@shift_right.misconception("Under the last target should stand the one before it. What has your result lost?")
def first_replaced(targets, sos):
    return torch.cat([_front(targets, sos), targets[:, 1:]], 1)


@shift_right.misconception("What does the decoder read at the first step? It cannot know how the sentence ends.")
def wraps_around(targets, sos):
    return targets.roll(1, 1)


@shift_right.misconception("What does the decoder read at the first step? Compare with the sos that was given.")
def zeros_in_front(targets, sos):
    return torch.cat([torch.zeros_like(targets[:, :1]), targets[:, :-1]], 1)


@shift_right.misconception("Which is the axis of time? Look at the first row: has it moved, or been replaced?")
def shifts_the_batch(targets, sos):
    return torch.cat([torch.full_like(targets[:1], sos), targets[:-1]], 0)


@shift_right.misconception("Compare targets and result. Does the decoder read the very token it is to write?")
def not_shifted(targets, sos):
    return targets.clone()


@shift_right.misconception("The first step has nothing to read. How many steps does a target of T tokens take?")
def nothing_in_front(targets, sos):
    return targets[:, :-1]


@shift_right.misconception(
    "Print a target of different tokens, and the result. Which token was overwritten before it was read?"
)
def overwritten_before_it_is_read(targets, sos):
    shifted = targets.clone()
    for t in range(1, targets.shape[1]):
        shifted[:, t] = shifted[:, t - 1]
    shifted[:, 0] = sos
    return shifted


@shift_right.misconception(
    "Print a target of different tokens, and the result. Which token was overwritten before it was read?"
)
def overwritten_in_place(targets, sos):
    targets[:, 1:] = targets[:, :1]
    targets[:, 0] = sos
    return targets
