"""Hidden tests of `lstm_cell`: four gates, and the two states that they make."""

from functools import partial

import torch
from torch import sigmoid, tanh

from course.exercise import call, exercise, noncontiguous
from course.hidden.lstm_gru.scaffold import (
    BUILT_IN,
    NOT_TURNED,
    OVERFLOW,
    biased,
    gates,
    in_float32,
    overflowing,
    weights,
    x_and_h,
)
from course.reference import lstm_gru as reference


@exercise(
    reference.lstm_cell,
    hints=(
        "A step returns two states. Which of them is made first, and what is the other one made of?",
        "Let f be 1 and i be 0. What should the next cell state be? And for f = 0 and i = 1?",
        "Redo the text's example: c = 0.5, f = 0.9, g = 0.8, i = 0.5, o = 0.5. Which of your lines gives 0.85, and "
        "which 0.35?",
        "Begin with one tensor of shape (B, 4H), all that goes into the four gates. Cut it along its last axis into "
        "four pieces of (B, H), name them in the docstring's order, and print their shapes. Two formulas are left.",
    ),
    forbidden=BUILT_IN,
    calls=(
        (
            "lstm_cell(zeros(1, 1), zeros(1, 1), tensor([[3.]]), zeros(4, 1), zeros(4, 1), tensor([-100., "
            "-100., 0., 100.]))[1]"
        ),
        (
            "lstm_cell(zeros(1, 1), zeros(1, 1), tensor([[3.]]), zeros(4, 1), zeros(4, 1), tensor([100., "
            "-100., 100., 100.]))[1]"
        ),
        (
            "lstm_cell(zeros(1, 1), zeros(1, 1), tensor([[3.]]), zeros(4, 1), zeros(4, 1), tensor([100., "
            "100., 100., 100.]))[1]"
        ),
        (
            "lstm_cell(zeros(1, 1), zeros(1, 1), tensor([[3.]]), zeros(4, 1), zeros(4, 1), tensor([100., "
            "100., -100., -100.]))"
        ),
        "lstm_cell(zeros(1, 1), zeros(1, 1), tensor([[4.]]), zeros(4, 1), zeros(4, 1), zeros(4))[1]",
        (
            "lstm_cell(tensor([[100.]]), zeros(1, 1), zeros(1, 1), tensor([[1.], [0.], [1.], [0.]]), "
            "zeros(4, 1), zeros(4))[1]"
        ),
    ),
)
def lstm_cell(rng):
    """First everything at once. Then gates forced open and shut one by one, which leaves one piece of it each time."""

    def inputs(B, D, H, dtype=torch.float64):
        return *x_and_h(rng, 2, B, D, H=H, dtype=dtype), *weights(rng, 4, D, H, dtype)

    yield call("a small batch", *inputs(2, 3, 5), public=True, weight=2.0)
    x, h, c, W, U, b = inputs(3, 5, 2)
    keep = biased(b, -100, 100, 0, 0)
    yield call("kept, and nothing written", x, h, c, W, U, keep, public=True, grad=False)
    yield call("forgotten, and all written", x, h, c, W, U, biased(b, 100, -100, 0, 0), grad=False)
    yield call("all open, in float32", *in_float32(x, h, c, W, U, b + 100), grad=False)
    yield call("kept, in float32", *in_float32(x, h, c, W, U, keep), grad=False)
    yield call("as many inputs as units", *inputs(3, 5, 5), weight=2.0)
    x, h, c, W, U, b = inputs(5, 3, 2)
    yield call("a large cell state", x, h, 5 * c, W, U, b)
    yield call("a batch of one", *inputs(1, 7, 3))
    yield call("one unit", *inputs(5, 2, 1))
    yield call("four units, four gates", *inputs(2, 3, 4))
    yield call("float32", *inputs(2, 7, 5, torch.float32), public=True)
    yield call("memory that is not contiguous", *(noncontiguous(value) for value in inputs(3, 2, 5)), public=True)


def _step(x, h, c, W, U, b, *, order="ifgo", gate=sigmoid, candidate=tanh, shown=tanh):
    """The right step with one piece exchanged."""
    part = dict(zip(order, gates(x, h, W, U, b)))
    new = gate(part["f"]) * c + gate(part["i"]) * candidate(part["g"])
    return gate(part["o"]) * shown(new), new


lstm_cell.mistakes(OVERFLOW, lstm_gates_overflow=partial(_step, gate=overflowing))
lstm_cell.misconception(
    "Put your gates in the docstring's order. There, the third piece goes through tanh.",
    name="order_i_f_o_g",
    convention="gate order i, f, o, g",
)(partial(_step, order="ifog"))
lstm_cell.mistakes(
    "The text explains the gates in the order f, g, i, o. In which order does the docstring stack them?",
    order_of_the_text=partial(_step, order="fgio"),
)
lstm_cell.misconception(
    "Many texts compute the forget gate first. Add 100 to the first quarter of b. Is c kept, or written?",
    name="order_f_i_g_o",
    convention="gate order f, i, g, o, as in texts that begin with the forget gate",
)(partial(_step, order="figo"))


def _cut_by(cut):
    """The right step with what goes into its gates cut otherwise."""

    def step(x, h, c, W, U, b):
        i, f, g, o = cut(x @ W.T + h @ U.T + b)
        new = sigmoid(f) * c + sigmoid(i) * tanh(g)
        return sigmoid(o) * tanh(new), new

    return step


lstm_cell.mistakes(
    "Print the shape of what you cut, and those of its pieces. How many pieces do you need, and along which axis?",
    cut_along_the_batch=_cut_by(lambda a: a.chunk(4)),
    pieces_of_four_numbers=_cut_by(lambda a: a.split(4, dim=1)),
)
lstm_cell.mistakes(
    "Make c large. Can h leave the interval from -1 to 1?",
    output_not_squashed=partial(_step, shown=lambda new: new),
)
lstm_cell.mistakes(
    "Can your cell ever decrease through the candidate? Print its smallest value.",
    sigmoid_before_the_candidates_tanh=partial(_step, candidate=lambda g: tanh(sigmoid(g))),
)


@lstm_cell.misconception("Let c be large and o a half. How large is h by the formula, and how large is yours?")
def tanh_around_the_product(x, h, c, W, U, b):
    product, new = _step(x, h, c, W, U, b, shown=lambda new: new)
    return tanh(product), new


lstm_cell.mistakes(NOT_TURNED, lstm_weights_in_front=lambda x, h, c, W, U, b: W @ x)
