"""Hidden tests of `gru_cell`: two gates, one of which resets the state before it is mixed."""

from functools import partial

import torch
from torch import sigmoid, tanh

from course.exercise import call, exercise, noncontiguous
from course.hidden.lstm_gru.scaffold import (
    BUILT_IN,
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
    calls=(
        "gru_cell(zeros(1, 1), tensor([[5.]]), zeros(3, 1), zeros(3, 1), tensor([0., 100., 0.]))",
        "gru_cell(zeros(1, 1), tensor([[5.]]), zeros(3, 1), zeros(3, 1), tensor([0., -100., 100.]))",
        "gru_cell(zeros(1, 1), tensor([[5.]]), zeros(3, 1), zeros(3, 1), tensor([0., 0., 100.]))",
        ("gru_cell(zeros(1, 1), tensor([[100.]]), zeros(3, 1), tensor([[0.], [0.], [1.]]), tensor([100., -200., 0.]))"),
        (
            "gru_cell(zeros(1, 1), tensor([[100.]]), zeros(3, 1), tensor([[0.], [0.], [1.]]), tensor([-100., "
            "-200., 0.]))"
        ),
        "gru_cell(zeros(1, 1), zeros(1, 1), zeros(3, 1), zeros(3, 1), zeros(3))",
    ),
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


def _reset_after(x_n, U_n, r, h):
    return x_n + r * (h @ U_n.T)


def _write(z, h, n):
    return (1 - z) * h + z * n


def _step(x, h, W, U, b, *, order="rzn", gate=sigmoid, inside=None, mixed=None):
    """The right step with one piece exchanged: `inside` goes into the candidate n, `mixed` is the next state."""
    part = dict(zip(order, zip((x @ W.T + b).chunk(3, -1), U.chunk(3))))
    r, z = (gate(x_k + h @ U_k.T) for x_k, U_k in (part["r"], part["z"]))
    x_n, U_n = part["n"]
    n = tanh(inside(x_n, U_n, r, h) if inside else x_n + (r * h) @ U_n.T)
    return mixed(z, h, n) if mixed else z * h + (1 - z) * n


gru_cell.mistakes(OVERFLOW, gru_gates_overflow=partial(_step, gate=overflowing))
gru_cell.misconception(
    "Both are in use, and they are not the same. The formula resets the state before U_n mixes it.",
    name="reset_after_U",
    convention="reset applied after U_n, as in PyTorch and cuDNN",
)(partial(_step, inside=_reset_after))
gru_cell.mistakes(
    "Your cell differs from the formulas in two points, and each is a convention of its own. Compare the last two "
    "formulas with your lines, for z = 1 and for r = (0.5, 1).",
    reset_after_U_and_z_writes=partial(_step, inside=_reset_after, mixed=_write),
)
gru_cell.misconception(
    "Papers disagree about what z near one means. What becomes of the old state in the formula above?",
    name="z_writes",
    convention="z writes and 1 − z keeps, as in Chung et al. 2014",
)(partial(_step, mixed=_write))
gru_cell.misconception(
    "That is how Keras and ONNX store them. Which third of b is r here? The docstring says.",
    name="order_z_r_n",
    convention="gate order z, r, n, as in Keras and ONNX",
)(partial(_step, order="zrn"))
gru_cell.mistakes(
    "Change the first third of b. Does anything happen? Which gate have you left out?",
    without_the_reset=partial(_step, inside=lambda x_n, U_n, r, h: x_n + h @ U_n.T),
)
gru_cell.mistakes(
    "Shut the reset gate. What should the candidate still know of x? Which part of your sum does r multiply?",
    reset_of_the_whole_sum=partial(_step, inside=lambda x_n, U_n, r, h: r * (x_n + h @ U_n.T)),
)
gru_cell.mistakes(
    "U is (3H, H). Which of its squares belongs to the candidate? Print the shape of your product with it.",
    whole_U_for_the_candidate=lambda x, h, W, U, b: _step(
        x, h, W, U, b, inside=lambda x_n, U_n, r, h: x_n + (r * h) @ U.T
    ),
)


@gru_cell.misconception(
    "Print the shape of what you cut, and those of its pieces. How many pieces do you need, and along which axis?"
)
def cut_along_the_batch(x, h, W, U, b):
    r, z, n = (x @ W.T + h @ U.T + b).chunk(3)
    return sigmoid(z) * h + (1 - sigmoid(z)) * tanh(sigmoid(r) * n)


gru_cell.mistakes(
    "U holds three squares, so no shape raises an error. Write (out, in) under each in your products. Which axis of "
    "each meets h?",
    squares_turned=lambda x, h, W, U, b: reference.gru_cell(x, h, W, torch.cat([part.T for part in U.chunk(3)]), b),
)
