"""Hidden tests of `lstm_cell`."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.lstm_gru.scaffold import (
    BUILT_IN,
    NOT_TURNED,
    OVERFLOW,
    TWICE,
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
    reference.lstm_cell,
    hints=(
        "Four pieces of (B, H): name each after its gate, in the order of the docstring, and print its range.",
        "Add 100 to f's part of the bias and subtract 100 from i's. What should the next cell state be?",
        "Two results, and one of them can never leave the interval from -1 to 1. Which?",
        "Which of the two states does the gate o let out, the one that came in, or the one you have just made?",
    ),
    forbidden=BUILT_IN,
)
def lstm_cell(rng):
    """First everything at once; then gates forced open and shut one by one, which leaves one piece of it each time."""

    def inputs(B, D, H, dtype=torch.float64):
        return *_inputs(rng, 2, B, D, H=H, dtype=dtype), *_weights(rng, 4, D, H, dtype)

    yield call("a small batch", *inputs(2, 3, 5), public=True, weight=2.0)
    x, h, c, W, U, b = inputs(3, 5, 2)
    keep = biased(b, -100, 100, 0, 0)
    yield call("kept, and nothing written", x, h, c, W, U, keep, public=True, grad=False)
    yield call("forgotten, and all written", x, h, c, W, U, biased(b, 100, -100, 0, 0), grad=False)
    yield call("all open, in float32", *_float32(x, h, c, W, U, b + 100), grad=False)
    yield call("kept, in float32", *_float32(x, h, c, W, U, keep), grad=False)
    yield call("as many inputs as units", *inputs(3, 5, 5), weight=2.0)
    x, h, c, W, U, b = inputs(5, 3, 2)
    yield call("a large cell state", x, h, 5 * c, W, U, b)
    yield call("a batch of one", *inputs(1, 7, 3))
    yield call("one unit", *inputs(5, 2, 1))
    yield call("four units, four gates", *inputs(2, 3, 4))
    yield call("float32", *inputs(2, 7, 5, torch.float32), public=True)
    yield call("memory that is not contiguous", *(noncontiguous(value) for value in inputs(3, 2, 5)), public=True)


def _lstm(i, f, g, o, c):
    c = sigmoid(f) * c + sigmoid(i) * tanh(g)
    return sigmoid(o) * tanh(c), c


@lstm_cell.misconception(OVERFLOW)
def lstm_gates_overflow(x, h, c, W, U, b):
    i, f, g, o = _gates(x, h, W, U, b)
    c = overflowing(f) * c + overflowing(i) * tanh(g)
    return overflowing(o) * tanh(c), c


@lstm_cell.misconception(
    "Put your gates in the docstring's order: the third piece is the one that goes through tanh.",
    convention="gate order i, f, o, g",
)
def order_i_f_o_g(x, h, c, W, U, b):
    i, f, o, g = _gates(x, h, W, U, b)
    return _lstm(i, f, g, o, c)


@lstm_cell.misconception(
    "That is how ONNX stores them. Which quarter of the bias is f here? The docstring says.",
    convention="gate order i, o, f, c, as in ONNX",
)
def order_of_onnx(x, h, c, W, U, b):
    i, o, f, g = _gates(x, h, W, U, b)
    return _lstm(i, f, g, o, c)


@lstm_cell.misconception(
    "That is how TensorFlow's BasicLSTMCell stored them. Which quarter goes through tanh here? The docstring says.",
    convention="gate order i, j, f, o, as in TensorFlow's BasicLSTMCell",
)
def order_of_tensorflow(x, h, c, W, U, b):
    i, g, f, o = _gates(x, h, W, U, b)
    return _lstm(i, f, g, o, c)


@lstm_cell.misconception(
    "That is the order in which many texts write the equations. In which order does the docstring stack them?",
    convention="gate order f, i, o, g, as the equations are often listed",
)
def order_f_i_o_g(x, h, c, W, U, b):
    f, i, o, g = _gates(x, h, W, U, b)
    return _lstm(i, f, g, o, c)


@lstm_cell.misconception("Add 100 to the second quarter of b: does the cell state stay, or is it flooded?")
def forget_gate_on_the_candidate(x, h, c, W, U, b):
    f, i, g, o = _gates(x, h, W, U, b)
    return _lstm(i, f, g, o, c)


@lstm_cell.misconception(
    "Your weights hold the gates unit by unit. The docstring stacks whole gates: rows 0 to H - 1 are all of i."
)
def gates_interleaved(x, h, c, W, U, b):
    i, f, g, o = (x @ W.T + h @ U.T + b).unflatten(-1, (-1, 4)).unbind(-1)
    return _lstm(i, f, g, o, c)


@lstm_cell.misconception("Make c large. Can h leave the interval from -1 to 1?")
def output_not_squashed(x, h, c, W, U, b):
    i, f, g, o = _gates(x, h, W, U, b)
    c = sigmoid(f) * c + sigmoid(i) * tanh(g)
    return sigmoid(o) * c, c


@lstm_cell.misconception("With o half open and a huge c, what is h? The gate comes after the squashing.")
def gate_inside_the_tanh(x, h, c, W, U, b):
    i, f, g, o = _gates(x, h, W, U, b)
    c = sigmoid(f) * c + sigmoid(i) * tanh(g)
    return tanh(sigmoid(o) * c), c


@lstm_cell.misconception("Can your cell ever decrease through the candidate? Print its smallest value.")
def sigmoid_for_the_candidate(x, h, c, W, U, b):
    i, f, g, o = _gates(x, h, W, U, b)
    c = sigmoid(f) * c + sigmoid(i) * sigmoid(g)
    return sigmoid(o) * tanh(c), c


@lstm_cell.misconception(
    "Print the smallest and the largest number of your candidate. Between which two should it stay?"
)
def candidate_not_squashed(x, h, c, W, U, b):
    i, f, g, o = _gates(x, h, W, U, b)
    c = sigmoid(f) * c + sigmoid(i) * g
    return sigmoid(o) * tanh(c), c


@lstm_cell.misconception("Print the smallest value of each gate. Can one let through less than nothing?")
def tanh_for_the_gates(x, h, c, W, U, b):
    i, f, g, o = _gates(x, h, W, U, b)
    c = tanh(f) * c + tanh(i) * tanh(g)
    return tanh(o) * tanh(c), c


@lstm_cell.misconception(
    "Which cell state does the output gate look through to: the one that came, or the one you made?"
)
def old_cell_in_the_output(x, h, c, W, U, b):
    i, f, g, o = _gates(x, h, W, U, b)
    return sigmoid(o) * tanh(c), sigmoid(f) * c + sigmoid(i) * tanh(g)


@lstm_cell.misconception("Open f and shut i: the next c should be the c that came. Which state did you multiply by f?")
def keeps_h_for_c(x, h, c, W, U, b):
    i, f, g, o = _gates(x, h, W, U, b)
    return _lstm(i, f, g, o, h)


@lstm_cell.misconception("Both results are right, but in the other order. Which one is bounded by 1?")
def cell_before_output(x, h, c, W, U, b):
    return reference.lstm_cell(x, h, c, W, U, b)[::-1]


@lstm_cell.misconception("Set x to zero: do your gates still know anything of what was read before?")
def without_U(x, h, c, W, U, b):
    return reference.lstm_cell(x, h, c, W, 0 * U, b)


@lstm_cell.misconception("Set x, h and c to zero. What should still open and shut the gates?")
def without_the_bias(x, h, c, W, U, b):
    return reference.lstm_cell(x, h, c, W, U, 0 * b)


@lstm_cell.misconception(TWICE)
def bias_counted_twice(x, h, c, W, U, b):
    return reference.lstm_cell(x, h, c, W, U, 2 * b)


@lstm_cell.misconception("f near one should mean: keep. Add 100 to its part of the bias: is c still there?")
def forget_gate_that_forgets(x, h, c, W, U, b):
    i, f, g, o = _gates(x, h, W, U, b)
    return _lstm(i, -f, g, o, c)


@lstm_cell.misconception("How many gates are independent of each other in yours? Move i's part of the bias alone.")
def coupled_gates(x, h, c, W, U, b):
    _, f, g, o = _gates(x, h, W, U, b)
    return _lstm(-f, f, g, o, c)


@lstm_cell.misconception("Is every gate used? Move each quarter of b in turn and see whether anything changes.")
def without_the_input_gate(x, h, c, W, U, b):
    _, f, g, o = _gates(x, h, W, U, b)
    c = sigmoid(f) * c + tanh(g)
    return sigmoid(o) * tanh(c), c


@lstm_cell.misconception("Shut the forget gate: what you have just written should be all there is. Is it there?")
def forgets_the_candidate_too(x, h, c, W, U, b):
    i, f, g, o = _gates(x, h, W, U, b)
    c = sigmoid(f) * (c + sigmoid(i) * tanh(g))
    return sigmoid(o) * tanh(c), c


@lstm_cell.misconception(
    "The values are right. Follow the gradient of the new c with respect to the old one: it should be f."
)
def cell_cut_from_its_past(x, h, c, W, U, b):
    return reference.lstm_cell(x, h, c.detach(), W, U, b)


@lstm_cell.misconception("U is (4H, H), a square for each gate: which axis of the square has to meet h?")
def squares_of_U_not_transposed(x, h, c, W, U, b):
    U = torch.cat([square.T for square in U.chunk(4)])
    return reference.lstm_cell(x, h, c, W, U, b)


@lstm_cell.misconception(NOT_TURNED)
def lstm_weights_not_transposed(x, h, c, W, U, b):
    i, f, g, o = (x @ W + h @ U + b).chunk(4, -1)
    return _lstm(i, f, g, o, c)


@lstm_cell.misconception(NOT_TURNED)
def U_not_transposed(x, h, c, W, U, b):
    i, f, g, o = (x @ W.T + h @ U + b).chunk(4, -1)
    return _lstm(i, f, g, o, c)
