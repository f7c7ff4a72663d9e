"""Hidden tests of `rnn_forward`."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.rnn.scaffold import BUILT_IN, _inputs
from course.reference import rnn as reference


@exercise(
    reference.rnn_forward,
    hints=(
        "Change the first input only. Which of your states move, and which should?",
        "Is hs[:, -1] the same as the state you return beside it? And does hs[:, 0] depend on xs[:, 0]?",
        "Run one sequence alone, then in a batch with others. Does it get the same states?",
    ),
    forbidden=BUILT_IN,
)
def rnn_forward(rng):
    """Carried, in order, from h0, for each sequence alone; with the gradient flowing all the way back."""
    yield call("two sequences of three steps", *_inputs(rng, 2, 3, 5, 7), public=True)
    yield call("as many sequences as steps", *_inputs(rng, 3, 3, 2, 5), public=True)
    yield call("a single step", *_inputs(rng, 3, 1, 2, 5))
    yield call("a single sequence", *_inputs(rng, 1, 5, 3, 2))
    yield call("thirteen steps", *_inputs(rng, 2, 13, 3, 5))
    yield call("every size the same", *_inputs(rng, 3, 3, 3, 3))
    yield call("float32", *_inputs(rng, 2, 5, 3, 7, torch.float32), public=True)
    yield call(
        "memory that is not contiguous", *(noncontiguous(value) for value in _inputs(rng, 2, 5, 3, 7)), public=True
    )


@rnn_forward.misconception(
    "Change the first input: which of your states move? What does the network know at step 3 of it?"
)
def state_not_carried(xs, h0, W_x, W_h, b):
    hs = torch.stack([reference.rnn_cell(x, h0, W_x, W_h, b) for x in xs.unbind(1)], 1)
    return hs, hs[:, -1]


@rnn_forward.misconception("Call it with two different h0. Should the states be the same?")
def h0_ignored(xs, h0, W_x, W_h, b):
    return reference.rnn_forward(xs, torch.zeros_like(h0), W_x, W_h, b)


@rnn_forward.misconception("How many states should T inputs make? Which one was there before the first input?")
def h0_among_the_states(xs, h0, W_x, W_h, b):
    hs, h_T = reference.rnn_forward(xs, h0, W_x, W_h, b)
    return torch.cat([h0[:, None], hs], 1), h_T


@rnn_forward.misconception(
    "Is the last of your states the one that you return beside them? When is a state kept: before or after the step?"
)
def one_step_late(xs, h0, W_x, W_h, b):
    hs, h_T = reference.rnn_forward(xs, h0, W_x, W_h, b)
    return torch.cat([h0[:, None], hs[:, :-1]], 1), h_T


@rnn_forward.misconception(
    "Change the last input only: which of your states move? Nobody has read it before the last step."
)
def backwards_in_time(xs, h0, W_x, W_h, b):
    return reference.rnn_forward(xs.flip(1), h0, W_x, W_h, b)


@rnn_forward.misconception("Which axis of your states is time? In this course the batch comes first, as it does in xs.")
def time_first(xs, h0, W_x, W_h, b):
    hs, h_T = reference.rnn_forward(xs, h0, W_x, W_h, b)
    return hs.transpose(0, 1), h_T


ALONG_WHAT = "`for x in xs` walks along which axis? Permute the sequences of a batch: are the states permuted alike?"
"""The hint to who takes each sequence for a step."""


def _sequences_for_steps(xs, h, W_x, W_h, b):
    """As torch has it: what has one row broadcasts."""
    hs = []
    for x in xs:
        h = torch.tanh(x @ W_x.T + h @ W_h.T + b)
        hs.append(h)
    return hs, h


@rnn_forward.misconception(ALONG_WHAT)
def walks_along_the_batch(xs, h0, W_x, W_h, b):
    hs, h_T = _sequences_for_steps(xs, h0, W_x, W_h, b)
    return torch.stack(hs, 1), h_T


@rnn_forward.misconception(ALONG_WHAT)
def walks_along_the_batch_and_stacks_alike(xs, h0, W_x, W_h, b):
    hs, h_T = _sequences_for_steps(xs, h0, W_x, W_h, b)
    return torch.stack(hs), h_T


@rnn_forward.misconception(
    "The values are right. What is the derivative of the last state by the first input in yours: should it be zero?"
)
def detached(xs, h0, W_x, W_h, b):
    h, hs = h0, []
    for x in xs.unbind(1):
        h = reference.rnn_cell(x, h.detach(), W_x, W_h, b)
        hs.append(h)
    return torch.stack(hs, 1), h


@rnn_forward.misconception(
    "Run one sequence alone and inside a batch. Stacking makes a new axis: where does it go, and can a reshape move it?"
)
def reshaped_instead_of_transposed(xs, h0, W_x, W_h, b):
    hs, h_T = reference.rnn_forward(xs, h0, W_x, W_h, b)
    return hs.transpose(0, 1).reshape(hs.shape), h_T
