"""Hidden tests of `rnn_cell`."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.rnn.scaffold import BUILT_IN, _weights
from course.reference import rnn as reference


@exercise(
    reference.rnn_cell,
    hints=(
        "Write the shape of each factor under the formula. Which axis of W_x has to meet the axis of x?",
        "Feed zeros for x and h. What should be left of the formula?",
        "Is every number of your result between -1 and 1? Take inputs of size 100 to be sure.",
    ),
    forbidden=BUILT_IN,
)
def rnn_cell(rng):
    """All three terms and what is around them; as wide as its input, where swapped matrices would not be noticed."""
    yield call("a small batch", rng.normal(2, 3), rng.normal(2, 5), *_weights(rng, 3, 5), public=True)
    yield call("a state as wide as the input", rng.normal(2, 3), rng.normal(2, 3), *_weights(rng, 3, 3), public=True)
    yield call("nothing but zeros", torch.zeros(2, 3).double(), torch.zeros(2, 5).double(), *_weights(rng, 3, 5))
    yield call("a batch of one", rng.normal(1, 7), rng.normal(1, 2), *_weights(rng, 7, 2))
    yield call("as many rows as units", rng.normal(5, 3), rng.normal(5, 5), *_weights(rng, 3, 5))
    yield call("a state of one number", rng.normal(3, 2), rng.normal(3, 1), *_weights(rng, 2, 1))
    f32 = torch.float32
    yield call(
        "float32", rng.normal(2, 3, dtype=f32), rng.normal(2, 5, dtype=f32), *_weights(rng, 3, 5, f32), public=True
    )
    strided = (noncontiguous(value) for value in (rng.normal(2, 3), rng.normal(2, 5), *_weights(rng, 3, 5)))
    yield call("memory that is not contiguous", *strided, public=True)
    x = 100 * rng.normal(2, 3)
    large = torch.cat([x, -x]), rng.normal(4, 5), *_weights(rng, 3, 5)  # far above zero, and far below
    yield call("large inputs", *large, grad=False).counts_with("a small batch")
    yield call("large inputs, float32", *(value.float() for value in large), grad=False).counts_with("a small batch")


@rnn_cell.misconception("What comes out of your cell when x and h are zero? Should b be seen there?")
def no_bias(x, h, W_x, W_h, b):
    return torch.tanh(x @ W_x.T + h @ W_h.T)


OVERFLOW = (
    "Feed inputs of size 100, in float32, and print the largest exponential. What is one such divided by another?"
)
"""The hint to who writes a tanh like that."""


@rnn_cell.misconception(OVERFLOW)
def exponentials_overflow(x, h, W_x, W_h, b):
    a = x @ W_x.T + h @ W_h.T + b
    return (a.exp() - (-a).exp()) / (a.exp() + (-a).exp())


@rnn_cell.misconception(OVERFLOW)
def exponential_of_twice_overflows(x, h, W_x, W_h, b):
    e = (2 * (x @ W_x.T + h @ W_h.T + b)).exp()
    return (e - 1) / (e + 1)


@rnn_cell.misconception(OVERFLOW)
def exponential_of_minus_twice_overflows(x, h, W_x, W_h, b):
    e = (-2 * (x @ W_x.T + h @ W_h.T + b)).exp()
    return (1 - e) / (1 + e)


@rnn_cell.misconception("Call it with one x and two different states h. Should the result be the same?")
def state_forgotten(x, h, W_x, W_h, b):
    return torch.tanh(x @ W_x.T + b) + 0 * (h @ W_h.T)


@rnn_cell.misconception("Take a bias of 5: how large is your state, and how large may a tanh become?")
def bias_outside(x, h, W_x, W_h, b):
    return torch.tanh(x @ W_x.T + h @ W_h.T) + b


@rnn_cell.misconception("Feed inputs of size 100. How large may a state become?")
def no_tanh(x, h, W_x, W_h, b):
    return x @ W_x.T + h @ W_h.T + b


@rnn_cell.misconception("Can a number of your state ever be negative? Look at the name of the function in the formula.")
def sigmoid(x, h, W_x, W_h, b):
    return torch.sigmoid(x @ W_x.T + h @ W_h.T + b)


@rnn_cell.misconception("Which of the two axes of W_h is 'from' and which is 'to'? The convention is (out, in).")
def W_h_not_transposed(x, h, W_x, W_h, b):
    return torch.tanh(x @ W_x.T + h @ W_h + b)


FROM_AND_TO = "How is a weight of shape (out, in) applied to rows? Write the shapes of both factors under the product."
"""The hint to whose weights meet x and h by the wrong axis."""


@rnn_cell.misconception(FROM_AND_TO)
def W_x_not_transposed(x, h, W_x, W_h, b):
    return torch.tanh(x @ W_x + h @ W_h.T + b)


@rnn_cell.misconception(FROM_AND_TO)
def weights_not_transposed(x, h, W_x, W_h, b):
    return torch.tanh(x @ W_x + h @ W_h + b)


@rnn_cell.misconception(
    "Set W_h to zero: your result should depend on x alone. Which matrix reads the input, and which the state?"
)
def x_and_h_swapped(x, h, W_x, W_h, b):
    return torch.tanh(h @ W_x.T + x @ W_h.T + b)


@rnn_cell.misconception("Set all weights to zero. Is the state you return still the one that came in?")
def residual_added(x, h, W_x, W_h, b):
    return h + torch.tanh(x @ W_x.T + h @ W_h.T + b)


@rnn_cell.misconception("Can your state leave the interval from -1 to 1? What exactly stands inside the tanh?")
def tanh_of_the_input_only(x, h, W_x, W_h, b):
    return torch.tanh(x @ W_x.T + b) + h @ W_h.T


@rnn_cell.misconception("This formula has one bias. With x and h zero, does tanh(b) come out?")
def bias_once_for_each_matrix(x, h, W_x, W_h, b):
    return torch.tanh((x @ W_x.T + b) + (h @ W_h.T + b))


@rnn_cell.misconception(
    "Your states are never negative. ReLU comes later in this notebook; which function is asked for?"
)
def relu(x, h, W_x, W_h, b):
    return torch.relu(x @ W_x.T + h @ W_h.T + b)
