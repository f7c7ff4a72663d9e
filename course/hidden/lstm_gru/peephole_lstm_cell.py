"""Hidden tests of `peephole_lstm_cell`."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.lstm_gru.scaffold import (
    BUILT_IN,
    OVERFLOW,
    _float32,
    _gates,
    _inputs,
    _weights,
    biased,
    overflowing,
    sigmoid,
    tanh,
)
from course.reference import lstm_gru as reference


@exercise(
    reference.peephole_lstm_cell,
    hints=(
        "Set all three peepholes to zero: it should be your lstm_cell again.",
        "In which order can the four gates be computed? One of them has to wait for the new cell state.",
        "How many numbers does p_i hold, and how many units look through each of them?",
    ),
    forbidden=BUILT_IN,
)
def peephole_lstm_cell(rng):
    """Old and new cell states far apart; one peephole at a time shows which one went astray."""

    def inputs(B, D, H, dtype=torch.float64):
        values = (*_inputs(rng, 2, B, D, H=H, dtype=dtype), *_weights(rng, 4, D, H, dtype))
        return *values, *(rng.normal(H, dtype=dtype) for _ in range(3))

    yield call("a small batch", *inputs(2, 3, 5), public=True, weight=2.0)
    *others, p_i, p_f, p_o = inputs(3, 5, 2)
    none = torch.zeros_like(p_i)
    yield call("peepholes of zero", *others, none, none, none, public=True)
    yield call("only p_i", *others, 2 * p_i, none, none)
    yield call("only p_f", *others, none, 2 * p_f, none)
    yield call("only p_o", *others, none, none, 2 * p_o)
    *weights, b = others
    yield call("all open, in float32", *_float32(*weights, b + 100, p_i, p_f, p_o), grad=False)
    keep = biased(b, -100, 100, 0, 0)
    yield call("kept, in float32", *_float32(*weights, keep, p_i, p_f, p_o), grad=False)
    yield call("as many inputs as units", *inputs(3, 5, 5), weight=2.0)
    yield call("as many sequences as units", *inputs(5, 3, 5))
    yield call("a batch of one", *inputs(1, 7, 3))
    yield call("one unit", *inputs(5, 2, 1))
    yield call("float32", *inputs(2, 7, 5, torch.float32), public=True)
    yield call("memory that is not contiguous", *(noncontiguous(value) for value in inputs(3, 2, 5)), public=True)


def _peep(x, h, c, W, U, b, see_i, see_f, see_o):
    """An LSTM step in which each gate adds what it is shown: functions of the old and the new cell state."""
    i, f, g, o = _gates(x, h, W, U, b)
    new = sigmoid(f + see_f(c, None)) * c + sigmoid(i + see_i(c, None)) * tanh(g)
    return sigmoid(o + see_o(c, new)) * tanh(new), new


@peephole_lstm_cell.misconception(OVERFLOW)
def peephole_gates_overflow(x, h, c, W, U, b, p_i, p_f, p_o):
    i, f, g, o = _gates(x, h, W, U, b)
    new = overflowing(f + p_f * c) * c + overflowing(i + p_i * c) * tanh(g)
    return overflowing(o + p_o * new) * tanh(new), new


@peephole_lstm_cell.misconception("Which of the two states is looked at through a peephole, h or c?")
def every_gate_peeps_at_h(x, h, c, W, U, b, p_i, p_f, p_o):
    return _peep(x, h, c, W, U, b, lambda *_: p_i * h, lambda *_: p_f * h, lambda *_: p_o * h)


@peephole_lstm_cell.misconception("When the output gate decides, which cell state is there already?")
def o_sees_the_old_cell(x, h, c, W, U, b, p_i, p_f, p_o):
    return _peep(x, h, c, W, U, b, lambda c, _: p_i * c, lambda c, _: p_f * c, lambda c, _: p_o * c)


@peephole_lstm_cell.misconception(
    "Print the c that each gate looks at, in the order in which your lines run. Has one of them changed it on the way?"
)
def i_sees_what_f_has_left(x, h, c, W, U, b, p_i, p_f, p_o):
    i, f, g, o = _gates(x, h, W, U, b)
    c = sigmoid(f + p_f * c) * c
    c = c + sigmoid(i + p_i * c) * tanh(g)
    return sigmoid(o + p_o * c) * tanh(c), c


@peephole_lstm_cell.misconception("Set p_i, p_f and p_o to 100: does anything happen at all?")
def no_peepholes(x, h, c, W, U, b, p_i, p_f, p_o):
    return reference.lstm_cell(x, h, c, W, U, b)


@peephole_lstm_cell.misconception("Set p_o to 100 and the others to zero: does anything happen?")
def o_sees_nothing(x, h, c, W, U, b, p_i, p_f, p_o):
    return reference.peephole_lstm_cell(x, h, c, W, U, b, p_i, p_f, 0 * p_o)


@peephole_lstm_cell.misconception(
    "Set p_i to 100 and let c be negative. Which gate should shut, and which one does in yours?"
)
def peepholes_of_i_and_f_exchanged(x, h, c, W, U, b, p_i, p_f, p_o):
    return reference.peephole_lstm_cell(x, h, c, W, U, b, p_f, p_i, p_o)


@peephole_lstm_cell.misconception("Which of the two states is looked at through a peephole, h or c?")
def peeps_at_h(x, h, c, W, U, b, p_i, p_f, p_o):
    i, f, g, o = _gates(x, h, W, U, b)
    c = sigmoid(f + p_f * h) * c + sigmoid(i + p_i * h) * tanh(g)
    return sigmoid(o + p_o * c) * tanh(c), c


@peephole_lstm_cell.misconception(
    "Is your gate still between 0 and 1? The peephole's part is added before the squashing."
)
def peepholes_outside_the_sigmoid(x, h, c, W, U, b, p_i, p_f, p_o):
    i, f, g, o = _gates(x, h, W, U, b)
    new = (sigmoid(f) + p_f * c) * c + (sigmoid(i) + p_i * c) * tanh(g)
    return (sigmoid(o) + p_o * new) * tanh(new), new


@peephole_lstm_cell.misconception("Make c huge. Does the output gate see it at its full size, or squashed?")
def o_sees_the_squashed_cell(x, h, c, W, U, b, p_i, p_f, p_o):
    return _peep(x, h, c, W, U, b, lambda c, _: p_i * c, lambda c, _: p_f * c, lambda _, new: p_o * tanh(new))


@peephole_lstm_cell.misconception("Each unit looks at itself alone. Change c of unit 0: do the gates of unit 1 move?")
def peepholes_sum_over_the_units(x, h, c, W, U, b, p_i, p_f, p_o):
    def all_of(p):
        return lambda old, new: ((old if new is None else new) * p).sum(-1, keepdim=True)

    return _peep(x, h, c, W, U, b, all_of(p_i), all_of(p_f), all_of(p_o))


@peephole_lstm_cell.misconception(
    "Open i and shut f (biases of 100 and -100), and change the old c. Should the next c move? Who has a peephole?"
)
def the_candidate_peeps_too(x, h, c, W, U, b, p_i, p_f, p_o):
    i, f, g, o = _gates(x, h, W, U, b)
    new = sigmoid(f + p_f * c) * c + sigmoid(i + p_i * c) * tanh(g + p_i * c)
    return sigmoid(o + p_o * new) * tanh(new), new


@peephole_lstm_cell.misconception(
    "Put your gates in the docstring's order: the third piece is the one that goes through tanh.",
    convention="gate order i, f, o, g",
)
def peepholes_in_order_i_f_o_g(x, h, c, W, U, b, p_i, p_f, p_o):
    def reordered(weight):
        i, f, o, g = weight.chunk(4)
        return torch.cat([i, f, g, o])

    return reference.peephole_lstm_cell(x, h, c, reordered(W), reordered(U), reordered(b), p_i, p_f, p_o)
