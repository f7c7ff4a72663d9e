"""Hidden tests of `gru_cell`."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.lstm_gru.scaffold import (
    BUILT_IN,
    OVERFLOW,
    TWICE,
    _float32,
    _inputs,
    _weights,
    biased,
    overflowing,
    sigmoid,
    tanh,
)
from course.reference import lstm_gru as reference


@exercise(
    reference.gru_cell,
    hints=(
        "Two gates first, both from x and h; then the candidate, which needs one of them. Print the range of each.",
        "Add 100 to z's part of the bias. Which should come out, the old state or the candidate?",
        "Shut the reset gate completely: of what alone is the candidate made then?",
        "Reset, then multiply by U_n; or multiply, then reset? Take a U_n that is far from diagonal and compare.",
    ),
    forbidden=BUILT_IN,
)
def gru_cell(rng):
    """At once, then r and z forced to their ends one by one."""

    def inputs(B, D, H, dtype=torch.float64):
        return *_inputs(rng, 1, B, D, H=H, dtype=dtype), *_weights(rng, 3, D, H, dtype)

    yield call("a small batch", *inputs(2, 3, 5), public=True, weight=2.0)
    x, h, W, U, b = inputs(3, 5, 2)
    yield call("z near one", x, h, W, U, biased(b, 0, 100, 0), public=True, grad=False)
    yield call("z near zero", x, h, W, U, biased(b, 0, -100, 0), grad=False)
    yield call("reset, z near zero", x, h, W, U, biased(b, -100, -100, 0), grad=False)
    yield call("not reset, z near zero", x, h, W, U, biased(b, 100, -100, 0), grad=False)
    yield call("all open, in float32", *_float32(x, h, W, U, b + 100), grad=False)
    yield call("all shut, in float32", *_float32(x, h, W, U, b - 100), grad=False)
    yield call("as many inputs as units", *inputs(3, 5, 5), weight=2.0)
    yield call("a batch of one", *inputs(1, 7, 3))
    yield call("one unit", *inputs(5, 2, 1))
    yield call("three units, three gates", *inputs(2, 5, 3))
    yield call("float32", *inputs(2, 7, 5, torch.float32), public=True)
    yield call("memory that is not contiguous", *(noncontiguous(value) for value in inputs(3, 2, 5)), public=True)


def _parts(x, h, W, U, b):
    """Each gate's part from x (bias included) and its square of U."""
    return (*(x @ W.T + b).chunk(3, -1), *U.chunk(3))


@gru_cell.misconception(OVERFLOW)
def gru_gates_overflow(x, h, W, U, b):
    x_r, x_z, x_n, U_r, U_z, U_n = _parts(x, h, W, U, b)
    r, z = overflowing(x_r + h @ U_r.T), overflowing(x_z + h @ U_z.T)
    return z * h + (1 - z) * tanh(x_n + (r * h) @ U_n.T)


@gru_cell.misconception(
    "Both are in use, and they are not the same. The formula resets the state before U_n mixes it.",
    convention="reset applied after U_n, as in PyTorch and cuDNN",
)
def reset_after_U(x, h, W, U, b):
    x_r, x_z, x_n, U_r, U_z, U_n = _parts(x, h, W, U, b)
    r, z = sigmoid(x_r + h @ U_r.T), sigmoid(x_z + h @ U_z.T)
    return z * h + (1 - z) * tanh(x_n + r * (h @ U_n.T))


@gru_cell.misconception(
    "Both are in use, and they are not the same. The formula resets the state itself, and leaves the bias alone.",
    convention="reset applied after U_n and its bias, as in PyTorch with b in bias_hh",
)
def reset_after_U_and_bias(x, h, W, U, b):
    x_r, x_z, x_n, U_r, U_z, U_n = _parts(x, h, W, U, b)
    r, z, b_n = sigmoid(x_r + h @ U_r.T), sigmoid(x_z + h @ U_z.T), b.chunk(3)[2]
    return z * h + (1 - z) * tanh(x_n - b_n + r * (h @ U_n.T + b_n))


@gru_cell.misconception(
    "Papers disagree about what z near one means. What becomes of the old state in the formula above?",
    convention="z writes and 1 − z keeps, as in Chung et al. 2014",
)
def z_writes(x, h, W, U, b):
    x_r, x_z, x_n, U_r, U_z, U_n = _parts(x, h, W, U, b)
    r, z = sigmoid(x_r + h @ U_r.T), sigmoid(x_z + h @ U_z.T)
    return (1 - z) * h + z * tanh(x_n + (r * h) @ U_n.T)


@gru_cell.misconception(
    "That is how Keras and ONNX store them. Which third of b is r here? The docstring says.",
    convention="gate order z, r, n, as in Keras and ONNX",
)
def order_z_r_n(x, h, W, U, b):
    x_z, x_r, x_n, U_z, U_r, U_n = _parts(x, h, W, U, b)
    r, z = sigmoid(x_r + h @ U_r.T), sigmoid(x_z + h @ U_z.T)
    return z * h + (1 - z) * tanh(x_n + (r * h) @ U_n.T)


@gru_cell.misconception(
    "That is Keras's layer with its default reset_after=True. Compare order and reset with the formulas.",
    convention="gate order z, r, n and reset after U_n, as Keras does by default",
)
def as_in_keras(x, h, W, U, b):
    x_z, x_r, x_n, U_z, U_r, U_n = _parts(x, h, W, U, b)
    r, z = sigmoid(x_r + h @ U_r.T), sigmoid(x_z + h @ U_z.T)
    return z * h + (1 - z) * tanh(x_n + r * (h @ U_n.T))


@gru_cell.misconception("Move the first third of b: does anything change? Which gate have you left out?")
def without_the_reset(x, h, W, U, b):
    _, x_z, x_n, _, U_z, U_n = _parts(x, h, W, U, b)
    z = sigmoid(x_z + h @ U_z.T)
    return z * h + (1 - z) * tanh(x_n + h @ U_n.T)


@gru_cell.misconception("Set the last third of U to zero: does your candidate notice?")
def reset_without_U(x, h, W, U, b):
    x_r, x_z, x_n, U_r, U_z, _ = _parts(x, h, W, U, b)
    r, z = sigmoid(x_r + h @ U_r.T), sigmoid(x_z + h @ U_z.T)
    return z * h + (1 - z) * tanh(x_n + r * h)


@gru_cell.misconception("Shut the reset gate. Should the candidate still know what is being read?")
def resets_the_input_too(x, h, W, U, b):
    x_r, x_z, x_n, U_r, U_z, U_n = _parts(x, h, W, U, b)
    r, z = sigmoid(x_r + h @ U_r.T), sigmoid(x_z + h @ U_z.T)
    return z * h + (1 - z) * tanh(r * (x_n + h @ U_n.T))


@gru_cell.misconception("Open z and shut r: what is kept should be the whole old state. What did r do to it?")
def resets_what_is_kept(x, h, W, U, b):
    x_r, x_z, x_n, U_r, U_z, U_n = _parts(x, h, W, U, b)
    r, z = sigmoid(x_r + h @ U_r.T), sigmoid(x_z + h @ U_z.T)
    return z * (r * h) + (1 - z) * tanh(x_n + (r * h) @ U_n.T)


@gru_cell.misconception("Make x large. Can a number of your state leave the interval from -1 to 1?")
def candidate_without_tanh(x, h, W, U, b):
    x_r, x_z, x_n, U_r, U_z, U_n = _parts(x, h, W, U, b)
    r, z = sigmoid(x_r + h @ U_r.T), sigmoid(x_z + h @ U_z.T)
    return z * h + (1 - z) * (x_n + (r * h) @ U_n.T)


@gru_cell.misconception(
    "Shut the update gate: subtract 100 from z's part of b. Should anything of h be left as it was?"
)
def nothing_is_let_go(x, h, W, U, b):
    x_r, x_z, x_n, U_r, U_z, U_n = _parts(x, h, W, U, b)
    r, z = sigmoid(x_r + h @ U_r.T), sigmoid(x_z + h @ U_z.T)
    return h + (1 - z) * tanh(x_n + (r * h) @ U_n.T)


@gru_cell.misconception("Subtract 100 from r's part of b. Does your candidate then see all of h, or nothing?")
def reset_the_other_way_round(x, h, W, U, b):
    x_r, x_z, x_n, U_r, U_z, U_n = _parts(x, h, W, U, b)
    r, z = sigmoid(x_r + h @ U_r.T), sigmoid(x_z + h @ U_z.T)
    return z * h + (1 - z) * tanh(x_n + ((1 - r) * h) @ U_n.T)


@gru_cell.misconception("Print the smallest value of your z. Can a gate let through less than nothing?")
def tanh_for_z(x, h, W, U, b):
    x_r, x_z, x_n, U_r, U_z, U_n = _parts(x, h, W, U, b)
    r, z = sigmoid(x_r + h @ U_r.T), tanh(x_z + h @ U_z.T)
    return z * h + (1 - z) * tanh(x_n + (r * h) @ U_n.T)


@gru_cell.misconception("Can your candidate be negative? Print its smallest value.")
def sigmoid_for_n(x, h, W, U, b):
    x_r, x_z, x_n, U_r, U_z, U_n = _parts(x, h, W, U, b)
    r, z = sigmoid(x_r + h @ U_r.T), sigmoid(x_z + h @ U_z.T)
    return z * h + (1 - z) * sigmoid(x_n + (r * h) @ U_n.T)


@gru_cell.misconception("Is each unit of your result between its old value and its candidate? Two shares make a whole.")
def shares_beyond_the_whole(x, h, W, U, b):
    x_r, x_z, x_n, U_r, U_z, U_n = _parts(x, h, W, U, b)
    r, z = sigmoid(x_r + h @ U_r.T), sigmoid(x_z + h @ U_z.T)
    return z * h + tanh(x_n + (r * h) @ U_n.T)


@gru_cell.misconception("Open z: the old state should come out as it went in. What squashes it?")
def squashed_once_more(x, h, W, U, b):
    return tanh(reference.gru_cell(x, h, W, U, b))


@gru_cell.misconception("Your gates see the input only. What should they know of the state?")
def gates_blind_to_the_state(x, h, W, U, b):
    x_r, x_z, x_n, *_, U_n = _parts(x, h, W, U, b)
    r, z = sigmoid(x_r), sigmoid(x_z)
    return z * h + (1 - z) * tanh(x_n + (r * h) @ U_n.T)


@gru_cell.misconception("Set x and h to zero. What should still open and shut the gates?")
def gru_without_the_bias(x, h, W, U, b):
    return reference.gru_cell(x, h, W, U, 0 * b)


@gru_cell.misconception("U is (3H, H), a square for each gate: which axis of the square has to meet h?")
def squares_of_U_turned(x, h, W, U, b):
    return reference.gru_cell(x, h, W, torch.cat([square.T for square in U.chunk(3)]), b)


@gru_cell.misconception(
    "Three squares of U, three products. Write (out, in) under the square in each: do all meet h by the same axis?"
)
def square_of_n_turned(x, h, W, U, b):
    U_r, U_z, U_n = U.chunk(3)
    return reference.gru_cell(x, h, W, torch.cat([U_r, U_z, U_n.T]), b)


@gru_cell.misconception(TWICE)
def gru_bias_counted_twice(x, h, W, U, b):
    return reference.gru_cell(x, h, W, U, 2 * b)
