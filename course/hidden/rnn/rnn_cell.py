"""Hidden tests of `rnn_cell`: one step, its three terms and the tanh around them."""

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.rnn.scaffold import BUILT_IN, weights
from course.reference import rnn as reference


@exercise(
    reference.rnn_cell,
    hints=(
        "Write the shape of each factor under the formula. A batch has one x in each row. Which axis of W_x has to "
        "meet the axis of x?",
        "Feed zeros for x and h. What should be left of the formula?",
        "Begin with one of the two products. Print its shape for a batch of 2, with D = 3 and H = 5. Once it is "
        "(2, 5), look at the other terms, and at the function around all of them.",
    ),
    forbidden=BUILT_IN,
    calls=(
        "rnn_cell(zeros(1, 2), zeros(1, 2), eye(2), eye(2), tensor([0., 100.]))",
        "rnn_cell(tensor([[100., -100.]]), zeros(1, 2), eye(2), eye(2), zeros(2))",
        "rnn_cell(tensor([[100., 0.]]), zeros(1, 2), tensor([[0., 1.], [1., 0.]]), eye(2), zeros(2))",
        "rnn_cell(zeros(1, 2), tensor([[100., 0.]]), eye(2), tensor([[0., 0.], [1., 0.]]), zeros(2))",
        "rnn_cell(tensor([[100., 0.]]), tensor([[-100., 0.]]), eye(2), eye(2), zeros(2))",
        "rnn_cell(zeros(1, 2), zeros(1, 2), eye(2), eye(2), zeros(2))",
    ),
)
def rnn_cell(rng):
    """All three terms and the function around them. Once as wide as its input, where swapped matrices do not show."""
    yield call("a small batch", rng.normal(2, 3), rng.normal(2, 5), *weights(rng, 3, 5), public=True)
    yield call("a state as wide as the input", rng.normal(2, 3), rng.normal(2, 3), *weights(rng, 3, 3), public=True)
    yield call("nothing but zeros", torch.zeros(2, 3).double(), torch.zeros(2, 5).double(), *weights(rng, 3, 5))
    yield call("a batch of one", rng.normal(1, 7), rng.normal(1, 2), *weights(rng, 7, 2))
    yield call("as many rows as units", rng.normal(5, 3), rng.normal(5, 5), *weights(rng, 3, 5))
    yield call("a state of one number", rng.normal(3, 2), rng.normal(3, 1), *weights(rng, 2, 1))
    f32 = torch.float32
    yield call(
        "float32", rng.normal(2, 3, dtype=f32), rng.normal(2, 5, dtype=f32), *weights(rng, 3, 5, f32), public=True
    )
    strided = (noncontiguous(value) for value in (rng.normal(2, 3), rng.normal(2, 5), *weights(rng, 3, 5)))
    yield call("memory that is not contiguous", *strided, public=True)
    x = 100 * rng.normal(2, 3)
    large = torch.cat([x, -x]), rng.normal(4, 5), *weights(rng, 3, 5)  # far above zero, and far below
    yield call("large inputs", *large, grad=False).counts_with("a small batch")
    yield call("large inputs, float32", *(value.float() for value in large), grad=False).counts_with("a small batch")


@rnn_cell.misconception("What comes out of your cell when x and h are zero? Should b be seen there?")
def no_bias(x, h, W_x, W_h, b):
    return torch.tanh(x @ W_x.T + h @ W_h.T)


def _around(function):
    """The cell with another function around the sum."""
    return lambda x, h, W_x, W_h, b: function(x @ W_x.T + h @ W_h.T + b)


rnn_cell.mistakes(
    "Feed inputs of size 100, in float32, and print the largest exponential. What is one of these divided by another?",
    exponentials_overflow=_around(lambda a: (a.exp() - (-a).exp()) / (a.exp() + (-a).exp())),
)
rnn_cell.mistakes("Feed inputs of size 100. How large may a state become?", no_tanh=_around(lambda a: a))
rnn_cell.mistakes(
    "Can a number of your state ever be negative? Look at the name of the function in the formula.",
    relu=_around(torch.relu),
)
rnn_cell.mistakes(
    "Call it with one x and two different states h. Should the result be the same?",
    state_forgotten=lambda x, h, W_x, W_h, b: torch.tanh(x @ W_x.T + b) + 0 * (h @ W_h.T),
)
rnn_cell.mistakes(
    "Which of the two axes of W_h is 'from' and which is 'to'? The convention is (out, in).",
    W_h_not_transposed=lambda x, h, W_x, W_h, b: torch.tanh(x @ W_x.T + h @ W_h + b),
)
rnn_cell.mistakes(
    "How is a weight of shape (out, in) applied to rows? Write the shapes of both factors under the product.",
    weights_in_front=lambda x, h, W_x, W_h, b: torch.tanh(W_x @ x + W_h @ h + b),
    weights_not_transposed=lambda x, h, W_x, W_h, b: torch.tanh(x @ W_x + h @ W_h + b),
)
