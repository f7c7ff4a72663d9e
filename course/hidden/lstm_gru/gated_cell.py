"""Hidden tests of `gated_cell`: a gate that mixes the old state with a candidate."""

from functools import partial

import torch
from torch import sigmoid, tanh

from course.exercise import call, exercise, noncontiguous
from course.hidden.lstm_gru.scaffold import BUILT_IN, NOT_TURNED, OVERFLOW, in_float32, overflowing, weights, x_and_h
from course.reference import lstm_gru as reference


@exercise(
    reference.gated_cell,
    hints=(
        "A mixture of two numbers lies between them. Which two vectors are mixed here, and what decides between them?",
        "The gate is 1 where c is +100, and 0 where c is -100. What should the next state be, in each case?",
        "Begin with a line for each formula, the candidate, the gate and the mixture. x is (B, D) and W_x is (H, D). "
        "Write both shapes under their product. Then print the range of each line.",
    ),
    forbidden=BUILT_IN,
    calls=(
        "gated_cell(zeros(1, 1), tensor([[5.]]), eye(1), eye(1), zeros(1), eye(1), zeros(1, 1), tensor([100.]))",
        (
            "gated_cell(zeros(1, 1), tensor([[5.]]), eye(1), zeros(1, 1), tensor([2.]), eye(1), zeros(1, 1), "
            "tensor([-100.]))"
        ),
        (
            "gated_cell(zeros(1, 1), tensor([[6.]]), eye(1), zeros(1, 1), tensor([2.]), eye(1), zeros(1, 1), "
            "tensor([0.]))"
        ),
        (
            "gated_cell(tensor([[4.]]), tensor([[2.]]), eye(1), eye(1), zeros(1), zeros(1, 1), zeros(1, 1), "
            "tensor([-100.]))"
        ),
        (
            "gated_cell(tensor([[-4.]]), tensor([[2.]]), eye(1), eye(1), zeros(1), zeros(1, 1), zeros(1, 1), "
            "tensor([-100.]))"
        ),
        "gated_cell(tensor([[100.]]), tensor([[3.]]), eye(1), eye(1), zeros(1), eye(1), zeros(1, 1), zeros(1))",
    ),
)
def gated_cell(rng):
    """The gate in the middle, wide open, and shut. The candidate's weights and the gate's are never the same."""

    def inputs(B, D, H, dtype=torch.float64):
        return *x_and_h(rng, 1, B, D, H=H, dtype=dtype), *weights(rng, 1, D, H, dtype), *weights(rng, 1, D, H, dtype)

    yield call("a small batch", *inputs(2, 3, 5), public=True, weight=2.0)
    *others, c = inputs(3, 5, 2)
    yield call("a gate that is open: c is 100", *others, c + 100, public=True, grad=False)
    yield call("a gate that is shut: c is -100", *others, c - 100, grad=False)
    yield call("open, in float32", *in_float32(*others, c + 100), grad=False)
    yield call("shut, in float32", *in_float32(*others, c - 100), grad=False)
    yield call("as many inputs as units", *inputs(3, 5, 5), weight=2.0)
    yield call("a batch of one", *inputs(1, 7, 3))
    yield call("one unit", *inputs(5, 2, 1))
    x, h, *rest = inputs(7, 2, 3)
    yield call("large inputs", 10 * x, 10 * h, *rest, grad=False)
    yield call("float32", *inputs(2, 7, 5, torch.float32), public=True)
    yield call("memory that is not contiguous", *(noncontiguous(value) for value in inputs(3, 2, 5)), public=True)


def _keep(z, h, new):
    return z * h + (1 - z) * new


def _step(x, h, W_x, W_h, b, V_x, V_h, c, *, gate=sigmoid, around=torch.relu, mixed=_keep):
    """The right step with one function exchanged."""
    return mixed(gate(x @ V_x.T + h @ V_h.T + c), h, around(x @ W_x.T + h @ W_h.T + b))


gated_cell.mistakes(OVERFLOW, gate_overflows=partial(_step, gate=overflowing))
gated_cell.mistakes(
    "Set c to +100, so that z is one. Is the state kept, or written anew?",
    gate_the_other_way_round=partial(_step, mixed=lambda z, h, new: _keep(1 - z, h, new)),
)
gated_cell.mistakes(
    "Print the smallest value of your gate. Between which two numbers does a gate lie?",
    gate_left_as_a_sum=partial(_step, gate=lambda a: a),
)
gated_cell.mistakes(
    "Open the gate (c = +100). How much of the candidate should be left in the next state?",
    candidate_added_whole=partial(_step, mixed=lambda z, h, new: z * h + new),
)
gated_cell.mistakes(
    "Your candidate never exceeds one. Which function does the formula put around it?",
    tanh_for_the_candidate=partial(_step, around=tanh),
)
gated_cell.mistakes(
    "Set x and h to zero. Which two biases should still show in the result?",
    gate_with_the_candidates_bias=lambda x, h, W_x, W_h, b, V_x, V_h, c: _step(x, h, W_x, W_h, b, V_x, V_h, b),
)
gated_cell.mistakes(
    NOT_TURNED,
    weights_not_transposed=lambda x, h, W_x, W_h, b, V_x, V_h, c: _step(x, h, W_x.T, W_h.T, b, V_x.T, V_h.T, c),
    weights_in_front=lambda x, h, W_x, *_: W_x @ x,
)
