"""Hidden tests of `feed_forward`: two linear maps on every word, with a ReLU between them."""

import torch
from torch.nn import functional as F

from course.exercise import call, exercise, noncontiguous
from course.reference import encoder_decoder as reference


@exercise(
    reference.feed_forward,
    hints=(
        "Write the shape of every intermediate for x (B, T, D). Where is it F wide, and where D?",
        "Set W2 to zero. What must come out? Restore it, and set b1 to -1000. What must come out now? Are the results"
        " for one word at two positions equal?",
        "Begin with one word x of width D, and compute the example of the text by hand. Which axis of W1 meets the "
        "numbers of x? Then write the product so that it works for words with any axes before them.",
    ),
    calls=(
        "feed_forward(tensor([1., -1.]), eye(2), zeros(2), eye(2), zeros(2))",
        "feed_forward(tensor([1., -1.]), eye(2), zeros(2), eye(2), tensor([-5., -5.]))",
        "feed_forward(tensor([1., -1.]), eye(2), tensor([-3., 3.]), eye(2), zeros(2))",
        "feed_forward(tensor([2., 1.]), tensor([[1., -1.]]), zeros(1), tensor([[1.], [3.]]), zeros(2))",
        "feed_forward(tensor([1., 2.]), tensor([[1., -1.]]), zeros(1), tensor([[1.], [3.]]), zeros(2))",
        "feed_forward(numbers(2, 3, 4), numbers(8, 4), numbers(8), numbers(4, 8), numbers(4)).shape",
    ),
)
def feed_forward(rng):
    """F and D differ, and are once equal, where a forgotten transpose keeps its shape."""

    def inputs(*shape, inner, dtype=torch.float64):
        width = shape[-1]
        sizes = (shape, (inner, width), (inner,), (width, inner), (width,))
        return [rng.normal(*size, dtype=dtype) for size in sizes]

    yield call("a small batch", *inputs(2, 3, 5, inner=7), public=True, weight=2.0)
    yield call("as wide inside as outside", *inputs(2, 3, 5, inner=5), public=True)
    yield call("narrow inside", *inputs(3, 2, 7, inner=2))
    yield call("one word", *inputs(3, inner=11))
    yield call("a batch of one", *inputs(1, 5, 3, inner=2))
    yield call("float32", *inputs(2, 3, 5, inner=7, dtype=torch.float32))
    yield call(
        "memory that is not contiguous", *(noncontiguous(part) for part in inputs(2, 5, 3, inner=7)), public=True
    )


@feed_forward.misconception(
    "Set the biases to zero and compare the results of x and -x. Two linear maps in a row are one linear map."
)
def no_relu(x, W1, b1, W2, b2):
    return (x @ W1.T + b1) @ W2.T + b2


@feed_forward.misconception(
    "Weights have the shape (out, in). Square matrices hide the difference, so try F different from D."
)
def weights_not_transposed(x, W1, b1, W2, b2):
    return (x @ W1 + b1).relu() @ W2 + b2


@feed_forward.misconception(
    "Plot your activation near 0. It is smooth there, and the one of the paper of 2017 has a corner. Which one is it?",
    convention="GELU, as in GPT and BERT",
)
def smooth_bend(x, W1, b1, W2, b2):
    return F.gelu(x @ W1.T + b1) @ W2.T + b2
