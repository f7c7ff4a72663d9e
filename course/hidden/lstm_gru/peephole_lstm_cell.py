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
        "Set all three peepholes to zero. The result should be that of your lstm_cell.",
        "In which order can the four gates be computed? One of them has to wait for the new cell state.",
        "How many numbers does p_i hold, and how many units use each of them?",
    ),
    forbidden=BUILT_IN,
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


def _step(
    x, h, c, W, U, b, p_i, p_f, p_o, *, gate=sigmoid, seen=lambda p, h, cell: p * cell, o_sees=lambda old, new: new
):
    """The right step with one piece exchanged: what is `seen` through a peephole p, and which cell `o_sees`."""
    i, f, g, o = gates(x, h, W, U, b)
    new = gate(f + seen(p_f, h, c)) * c + gate(i + seen(p_i, h, c)) * tanh(g)
    return gate(o + seen(p_o, h, o_sees(c, new))) * tanh(new), new


peephole_lstm_cell.mistakes(OVERFLOW, peephole_gates_overflow=partial(_step, gate=overflowing))
peephole_lstm_cell.mistakes(
    "Which of the two states does a peephole show to a gate, h or c?",
    every_gate_peeps_at_h=partial(_step, seen=lambda p, h, cell: p * h),
)
peephole_lstm_cell.mistakes(
    "When you compute the output gate, which cell state do you have already?",
    o_sees_the_old_cell=partial(_step, o_sees=lambda old, new: old),
)
peephole_lstm_cell.mistakes(
    "Each unit sees only its own cell state. Change c of unit 0. Do the gates of unit 1 move?",
    peepholes_sum_over_the_units=partial(_step, seen=lambda p, h, cell: (p * cell).sum(-1, keepdim=True)),
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


def _stacked(order):
    """The right step with gates stacked in another order."""

    def step(x, h, c, W, U, b, p_i, p_f, p_o):
        def reordered(weight):
            part = dict(zip(order, weight.chunk(4)))
            return torch.cat([part[gate] for gate in "ifgo"])

        return reference.peephole_lstm_cell(x, h, c, reordered(W), reordered(U), reordered(b), p_i, p_f, p_o)

    return step


peephole_lstm_cell.misconception(
    "Put your gates in the docstring's order. There, the third piece goes through tanh.",
    name="peepholes_in_order_i_f_o_g",
    convention="gate order i, f, o, g",
)(_stacked("ifog"))
peephole_lstm_cell.mistakes(
    "You begin with the forget gate. In which order does the docstring stack the gates?",
    peepholes_in_order_f_i_g_o=_stacked("figo"),
    peepholes_in_order_f_i_o_g=_stacked("fiog"),
)
