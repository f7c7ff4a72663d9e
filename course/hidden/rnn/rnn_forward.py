"""Hidden tests of `rnn_forward`: all states in order, each made from the one before."""

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.rnn.scaffold import BUILT_IN, inputs
from course.reference import rnn as reference


@exercise(
    reference.rnn_forward,
    hints=(
        "Draw the unrolled network for T = 3. Which state goes into each step, and how many states come out?",
        "Change the first input only. Which of your states move, and which should?",
        "Begin with two steps written out, without a loop, and print the shape of each input and each state. Then "
        "let a loop collect the states, and find out along which axis they have to be joined.",
    ),
    forbidden=BUILT_IN,
    calls=(
        "rnn_forward(zeros(1, 2, 1), tensor([[100.]]), tensor([[1.]]), tensor([[1.]]), zeros(1))",
        "rnn_forward(tensor([[[100.], [0.], [0.]]]), zeros(1, 1), tensor([[1.]]), tensor([[0.]]), zeros(1))",
        "rnn_forward(tensor([[[100.], [0.], [0.]]]), zeros(1, 1), tensor([[1.]]), tensor([[-100.]]), zeros(1))",
        "rnn_forward(tensor([[[0.], [0.], [100.]]]), zeros(1, 1), tensor([[1.]]), tensor([[0.]]), zeros(1))",
        "rnn_forward(zeros(1, 3, 1), tensor([[100.]]), tensor([[1.]]), tensor([[-100.]]), zeros(1))",
        "rnn_forward(zeros(1, 1, 1), zeros(1, 1), tensor([[1.]]), tensor([[1.]]), tensor([100.]))",
    ),
)
def rnn_forward(rng):
    """States carried in order from h0, each sequence by itself, with the gradient flowing all the way back."""
    yield call("two sequences of three steps", *inputs(rng, 2, 3, 5, 7), public=True)
    yield call("as many sequences as steps", *inputs(rng, 3, 3, 2, 5), public=True)
    yield call("a single step", *inputs(rng, 3, 1, 2, 5))
    yield call("a single sequence", *inputs(rng, 1, 5, 3, 2))
    yield call("thirteen steps", *inputs(rng, 2, 13, 3, 5))
    yield call("every size the same", *inputs(rng, 3, 3, 3, 3))
    yield call("float32", *inputs(rng, 2, 5, 3, 7, torch.float32), public=True)
    yield call("memory that is not contiguous", *map(noncontiguous, inputs(rng, 2, 5, 3, 7)), public=True)


@rnn_forward.misconception(
    "Change the first input. Which of your states move? What does the network know of it at step 3?"
)
def state_not_carried(xs, h0, W_x, W_h, b):
    hs = torch.stack([reference.rnn_cell(x, h0, W_x, W_h, b) for x in xs.unbind(1)], 1)
    return hs, hs[:, -1]


def _rearranged(change):
    """The right last state, beside what `change` makes of the right states (B, T, H) and of h0 (B, H)."""

    def forward(xs, h0, *weights):
        hs, h_T = reference.rnn_forward(xs, h0, *weights)
        return change(hs, h0), h_T

    return forward


rnn_forward.mistakes(
    "Call it with two different h0. Should the states be the same?",
    h0_ignored=lambda xs, h0, *weights: reference.rnn_forward(xs, torch.zeros_like(h0), *weights),
)
rnn_forward.mistakes(
    "How many states should T inputs make? Which one was there before the first input?",
    h0_among_the_states=_rearranged(lambda hs, h0: torch.cat([h0[:, None], hs], 1)),
)
rnn_forward.mistakes(
    "Is the last of your states the one that you return beside them? Do you keep a state before the step or after it?",
    one_step_late=_rearranged(lambda hs, h0: torch.cat([h0[:, None], hs[:, :-1]], 1)),
)
rnn_forward.mistakes(
    "Which axis of your states is time? In this course the batch comes first, as it does in xs.",
    time_first=_rearranged(lambda hs, h0: hs.transpose(0, 1)),
)
rnn_forward.mistakes(
    "Join two tensors of shape (2, 7) with `cat` and with `stack`, and print both shapes. Which of them has an axis "
    "for the steps?",
    states_side_by_side=_rearranged(lambda hs, h0: hs.flatten(1)),
)


@rnn_forward.misconception(
    "Along which axis does `for x in xs` walk? Permute the sequences of a batch. Are your states permuted in the "
    "same way?"
)
def walks_along_the_batch_and_stacks_alike(xs, h, W_x, W_h, b):
    hs = [h := torch.tanh(x @ W_x.T + h @ W_h.T + b) for x in xs]  # torch broadcasts what has one row
    return torch.stack(hs), h


@rnn_forward.misconception(
    "The values are right. Print the derivative of the last state by the first input. Should it be zero?"
)
def detached(xs, h, W_x, W_h, b):
    hs = [h := reference.rnn_cell(x, h.detach(), W_x, W_h, b) for x in xs.unbind(1)]
    return torch.stack(hs, 1), h
