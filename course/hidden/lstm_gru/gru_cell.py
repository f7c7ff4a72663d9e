"""Hidden tests of `gru_cell`: two gates, one of which resets the state before it is mixed."""

from functools import partial

import torch
from torch import sigmoid, tanh

from course.exercise import call, exercise, noncontiguous
from course.hidden.lstm_gru.scaffold import (
    BUILT_IN,
    NOT_TURNED,
    OVERFLOW,
    biased,
    in_float32,
    overflowing,
    weights,
    x_and_h,
)
from course.reference import lstm_gru as reference


@exercise(
    reference.gru_cell,
    hints=(
        "One of the three vectors r, z and n needs another one of them. In which order can you compute them?",
        "Let z be 1, and then 0. Which vector should come out? And what does the candidate depend on when r is 0?",
        "Compute the text's example, h = (1, 2) and r = (0.5, 1). Does your order of reset and matrix give (2.5, 2)?",
        "Begin by cutting W, U and b into three parts each, in the docstring's order, and print their shapes. Then "
        "write a line for each of r and z, which differ in the parts they use. n comes next, and the mixture last.",
    ),
    forbidden=BUILT_IN,
)
def gru_cell(rng):
    """All at once, then r and z forced to their ends one by one."""

    def inputs(B, D, H, dtype=torch.float64):
        return *x_and_h(rng, 1, B, D, H=H, dtype=dtype), *weights(rng, 3, D, H, dtype)

    yield call("a small batch", *inputs(2, 3, 5), public=True, weight=2.0)
    x, h, W, U, b = inputs(3, 5, 2)
    yield call("z near one", x, h, W, U, biased(b, 0, 100, 0), public=True, grad=False)
    yield call("z near zero", x, h, W, U, biased(b, 0, -100, 0), grad=False)
    yield call("reset, z near zero", x, h, W, U, biased(b, -100, -100, 0), grad=False)
    yield call("not reset, z near zero", x, h, W, U, biased(b, 100, -100, 0), grad=False)
    yield call("all open, in float32", *in_float32(x, h, W, U, b + 100), grad=False)
    yield call("all shut, in float32", *in_float32(x, h, W, U, b - 100), grad=False)
    yield call("as many inputs as units", *inputs(3, 5, 5), weight=2.0)
    yield call("a batch of one", *inputs(1, 7, 3))
    yield call("one unit", *inputs(5, 2, 1))
    yield call("three units, three gates", *inputs(2, 5, 3))
    yield call("float32", *inputs(2, 7, 5, torch.float32), public=True)
    yield call("memory that is not contiguous", *(noncontiguous(value) for value in inputs(3, 2, 5)), public=True)


@gru_cell.misconception("Set x and h to zero. What should still open and shut the gates?")
def gru_without_the_bias(x, h, W, U, b):
    return reference.gru_cell(x, h, W, U, 0 * b)


def _reset_before(x_n, U_n, b_n, r, h):
    return x_n + (r * h) @ U_n.T


def _reset_after(x_n, U_n, b_n, r, h):
    return x_n + r * (h @ U_n.T)


def _step(x, h, W, U, b, *, order="rzn", gate=sigmoid, inside=_reset_before, around=tanh, mixed=None):
    """The right step with one piece exchanged: `inside` and `around` make the candidate n, `mixed` the next state."""
    part = dict(zip(order, zip((x @ W.T + b).chunk(3, -1), U.chunk(3), b.chunk(3))))
    r, z = (gate(x_k + h @ U_k.T) for x_k, U_k, _ in (part["r"], part["z"]))
    n = around(inside(*part["n"], r, h))
    return mixed(z, h, n) if mixed else z * h + (1 - z) * n


gru_cell.mistakes(OVERFLOW, gru_gates_overflow=partial(_step, gate=overflowing))
gru_cell.misconception(
    "Both are in use, and they are not the same. The formula resets the state before U_n mixes it.",
    name="reset_after_U",
    convention="reset applied after U_n, as in PyTorch and cuDNN",
)(partial(_step, inside=_reset_after))
gru_cell.misconception(
    "Both are in use, and they are not the same. The formula resets the state itself, and leaves the bias alone.",
    name="reset_after_U_and_bias",
    convention="reset applied after U_n and its bias, as in PyTorch with b in bias_hh",
)(partial(_step, inside=lambda x_n, U_n, b_n, r, h: x_n - b_n + r * (h @ U_n.T + b_n)))
gru_cell.mistakes(
    "Your cell differs from the formulas in two points, and each is a convention of its own. Compare the last two "
    "formulas with your lines, for z = 1 and for r = (0.5, 1).",
    reset_after_U_and_z_writes=partial(_step, inside=_reset_after, mixed=lambda z, h, n: (1 - z) * h + z * n),
)
gru_cell.misconception(
    "Papers disagree about what z near one means. What becomes of the old state in the formula above?",
    name="z_writes",
    convention="z writes and 1 − z keeps, as in Chung et al. 2014",
)(partial(_step, mixed=lambda z, h, n: (1 - z) * h + z * n))
gru_cell.misconception(
    "That is how Keras and ONNX store them. Which third of b is r here? The docstring says.",
    name="order_z_r_n",
    convention="gate order z, r, n, as in Keras and ONNX",
)(partial(_step, order="zrn"))
gru_cell.misconception(
    "Many texts write z first and let it open for the candidate. Compare both with the formulas.",
    name="order_z_r_n_and_z_writes",
    convention="gate order z, r, n, where z writes and 1 − z keeps, as the equations are often listed",
)(partial(_step, order="zrn", mixed=lambda z, h, n: (1 - z) * h + z * n))
gru_cell.misconception(
    "That is Keras's layer with its default reset_after=True. Compare order and reset with the formulas.",
    name="as_in_keras",
    convention="gate order z, r, n and reset after U_n, as Keras does by default",
)(partial(_step, order="zrn", inside=_reset_after))
gru_cell.mistakes(
    "Change the first third of b. Does anything happen? Which gate have you left out?",
    without_the_reset=partial(_step, inside=lambda x_n, U_n, b_n, r, h: x_n + h @ U_n.T),
)
gru_cell.mistakes(
    "Shut the reset gate. What should the candidate still know of x? Which part of your sum does r multiply?",
    reset_of_the_whole_sum=partial(_step, inside=lambda x_n, U_n, b_n, r, h: r * (x_n + h @ U_n.T)),
)
gru_cell.mistakes(
    "U is (3H, H). Which of its squares belongs to the candidate? Print the shape of your product with it.",
    whole_U_for_the_candidate=lambda x, h, W, U, b: _step(
        x, h, W, U, b, inside=lambda x_n, U_n, b_n, r, h: x_n + (r * h) @ U.T
    ),
)


@gru_cell.misconception(
    "Print the shape of what you cut, and those of its pieces. How many pieces do you need, and along which axis?"
)
def cut_along_the_batch(x, h, W, U, b):
    r, z, n = (x @ W.T + h @ U.T + b).chunk(3)
    return sigmoid(z) * h + (1 - sigmoid(z)) * tanh(sigmoid(r) * n)


def _other_squares(change):
    """The right step with other squares in U than those of r, z and n."""
    return lambda x, h, W, U, b: reference.gru_cell(x, h, W, torch.cat(change(*U.chunk(3))), b)


gru_cell.mistakes(
    "U holds three squares, so no shape raises an error. Write (out, in) under each in your products. Which axis of "
    "each meets h?",
    square_of_n_turned=_other_squares(lambda U_r, U_z, U_n: [U_r, U_z, U_n.T]),
    squares_turned=_other_squares(lambda U_r, U_z, U_n: [U_r.T, U_z.T, U_n.T]),
)
gru_cell.mistakes(NOT_TURNED, gru_weights_in_front=lambda x, h, W, U, b: W @ x)
gru_cell.mistakes(
    "PyTorch has two biases and adds them. How many are there here, and how often does yours come in?",
    gru_bias_counted_twice=lambda x, h, W, U, b: reference.gru_cell(x, h, W, U, 2 * b),
)
