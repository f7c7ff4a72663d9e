"""Hidden tests of `peephole_lstm_cell`: which cell state each gate of an LSTM sees, and how."""

from functools import partial

import torch
from torch import sigmoid, tanh

from course.exercise import call, exercise, noncontiguous
from course.hidden.lstm_gru.scaffold import BUILT_IN, OVERFLOW, biased, gates, in_float32, overflowing, weights, x_and_h
from course.reference import lstm_gru as reference


@exercise(
    reference.peephole_lstm_cell,
    hints=(
        "Which gates see the old cell state, and which one has to wait for the new one?",
        "Set all three peepholes to zero. Which function of yours should come out? And how many units does each number "
        "of p_i serve?",
        "Begin with a copy of your `lstm_cell`. Write each gate and each state on a line of its own, in the order in "
        "which they can be computed. In three of these lines a term is missing, inside the sigmoid.",
    ),
    forbidden=BUILT_IN,
    calls=(
        (
            "peephole_lstm_cell(zeros(1, 1), zeros(1, 1), tensor([[3.]]), zeros(4, 1), zeros(4, 1), "
            "tensor([-100., 100., 0., 0.]), zeros(1), zeros(1), zeros(1))[1]"
        ),
        (
            "peephole_lstm_cell(zeros(1, 1), zeros(1, 1), tensor([[3.]]), zeros(4, 1), zeros(4, 1), "
            "tensor([-100., 0., 0., 0.]), zeros(1), tensor([100.]), zeros(1))[1]"
        ),
        (
            "peephole_lstm_cell(zeros(1, 1), zeros(1, 1), tensor([[3.]]), zeros(4, 1), zeros(4, 1), "
            "tensor([0., -100., 100., 0.]), tensor([100.]), zeros(1), zeros(1))[1]"
        ),
        (
            "peephole_lstm_cell(zeros(1, 1), zeros(1, 1), tensor([[3.]]), zeros(4, 1), zeros(4, 1), "
            "tensor([0., -100., 100., 0.]), tensor([-100.]), zeros(1), zeros(1))[1]"
        ),
        (
            "peephole_lstm_cell(zeros(1, 1), zeros(1, 1), tensor([[0.]]), zeros(4, 1), zeros(4, 1), "
            "tensor([100., 0., 100., 0.]), zeros(1), zeros(1), tensor([-100.]))"
        ),
        (
            "peephole_lstm_cell(zeros(1, 1), zeros(1, 1), tensor([[0.]]), zeros(4, 1), zeros(4, 1), "
            "zeros(4), ones(1), ones(1), ones(1))[1]"
        ),
    ),
)
def peephole_lstm_cell(rng):
    """Old and new cell states are far apart. One peephole at a time shows which one went astray."""

    def inputs(B, D, H, dtype=torch.float64):
        values = (*x_and_h(rng, 2, B, D, H=H, dtype=dtype), *weights(rng, 4, D, H, dtype))
        return *values, *(rng.normal(H, dtype=dtype) for _ in range(3))

    yield call("a small batch", *inputs(2, 3, 5), public=True, weight=2.0)
    *others, p_i, p_f, p_o = inputs(3, 5, 2)
    none = torch.zeros_like(p_i)
    yield call("peepholes of zero", *others, none, none, none, public=True)
    yield call("only p_i", *others, 2 * p_i, none, none)
    yield call("only p_f", *others, none, 2 * p_f, none)
    yield call("only p_o", *others, none, none, 2 * p_o)
    *rest, b = others
    yield call("all open, in float32", *in_float32(*rest, b + 100, p_i, p_f, p_o), grad=False)
    keep = biased(b, -100, 100, 0, 0)
    yield call("kept, in float32", *in_float32(*rest, keep, p_i, p_f, p_o), grad=False)
    yield call("as many inputs as units", *inputs(3, 5, 5), weight=2.0)
    yield call("as many sequences as units", *inputs(5, 3, 5))
    yield call("a batch of one", *inputs(1, 7, 3))
    yield call("one unit", *inputs(5, 2, 1))
    yield call("float32", *inputs(2, 7, 5, torch.float32), public=True)
    yield call("memory that is not contiguous", *(noncontiguous(value) for value in inputs(3, 2, 5)), public=True)


@peephole_lstm_cell.misconception("Set p_i, p_f and p_o to 100. Does anything happen at all?")
def no_peepholes(x, h, c, W, U, b, p_i, p_f, p_o):
    return reference.lstm_cell(x, h, c, W, U, b)


def _step(x, h, c, W, U, b, p_i, p_f, p_o, *, gate=sigmoid, seen=lambda p, cell: p * cell, o_sees=lambda old, new: new):
    """The right step with one piece exchanged: what is `seen` through a peephole p, and which cell `o_sees`."""
    i, f, g, o = gates(x, h, W, U, b)
    new = gate(f + seen(p_f, c)) * c + gate(i + seen(p_i, c)) * tanh(g)
    return gate(o + seen(p_o, o_sees(c, new))) * tanh(new), new


peephole_lstm_cell.mistakes(OVERFLOW, peephole_gates_overflow=partial(_step, gate=overflowing))
peephole_lstm_cell.mistakes(
    "When you compute the output gate, which cell state do you have already?",
    o_sees_the_old_cell=partial(_step, o_sees=lambda old, new: old),
)
peephole_lstm_cell.mistakes(
    "Each unit sees only its own cell state. How many numbers should p_i and c of one sequence make, one or H?",
    peepholes_sum_over_the_units=partial(_step, seen=lambda p, cell: (p * cell).sum(-1, keepdim=True)),
    peepholes_by_a_product=partial(_step, seen=lambda p, cell: cell @ p),
)
peephole_lstm_cell.mistakes(
    "Double c and leave the rest. Does what goes into the sigmoid of your input gate change?",
    peepholes_without_the_cell=partial(_step, seen=lambda p, cell: p),
)


@peephole_lstm_cell.misconception(
    "Print the c that each gate looks at, in the order in which your lines run. Has one of them changed it on the way?"
)
def i_sees_what_f_has_left(x, h, c, W, U, b, p_i, p_f, p_o):
    i, f, g, o = gates(x, h, W, U, b)
    c = sigmoid(f + p_f * c) * c
    c = c + sigmoid(i + p_i * c) * tanh(g)
    return sigmoid(o + p_o * c) * tanh(c), c


@peephole_lstm_cell.misconception(
    "Is your gate still between 0 and 1? The peephole's term is added before the sigmoid."
)
def peepholes_outside_the_sigmoid(x, h, c, W, U, b, p_i, p_f, p_o):
    i, f, g, o = gates(x, h, W, U, b)
    new = (sigmoid(f) + p_f * c) * c + (sigmoid(i) + p_i * c) * tanh(g)
    return (sigmoid(o) + p_o * new) * tanh(new), new
