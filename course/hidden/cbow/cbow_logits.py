"""Hidden tests of `cbow_logits`: the mean of the context's vectors, scored against every word."""

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import cbow as reference


@exercise(
    reference.cbow_logits,
    hints=(
        "Look up ids of shape (B, C) in E, and print the shape. What does each of its axes count, and which one "
        "has to disappear?",
        "Take a context that holds one word four times. How long should its mean vector be, beside the word's own?",
        "Begin with the mean vector alone, and print its shape. Write the shape of W under it. Which axis of W "
        "must meet the width of the vector, and what shape should the logits have?",
    ),
    calls=(
        ("cbow_logits(tensor([[0, 1]]), tensor([[2., 0.], [0., 2.]]), tensor([[1., 0.], [0., 1.]]), tensor([0., 0.]))"),
        ("cbow_logits(tensor([[0, 0]]), tensor([[2., 0.], [0., 2.]]), tensor([[1., 0.], [0., 1.]]), tensor([0., 0.]))"),
        ("cbow_logits(tensor([[1]]), tensor([[2., 0.], [0., 3.]]), tensor([[1., 0.], [0., 1.]]), tensor([0., 0.]))"),
        ("cbow_logits(tensor([[0, 1]]), tensor([[0., 0.], [0., 0.]]), tensor([[1., 0.], [0., 1.]]), tensor([5., 7.]))"),
        ("cbow_logits(tensor([[0, 1]]), tensor([[2., 4.], [6., 0.]]), tensor([[1., 1.], [2., 0.]]), tensor([0., 1.]))"),
        (
            "cbow_logits(tensor([[0, 1], [1, 1]]), tensor([[2., 0.], [0., 2.]]), tensor([[1., 0.], [0., "
            "1.]]), tensor([0., 0.]))"
        ),
    ),
)
def cbow_logits(rng):
    """B, C, V and D differ, then B = C, where the wrong mean fits. Repeated words, one word, gradients of all three."""

    def inputs(B, C, V, D, dtype=torch.float64):
        tables = (rng.normal(*shape, dtype=dtype) for shape in ((V, D), (V, D), (V,)))
        return rng.integers(0, V, B, C), *tables

    yield call("a small batch", *inputs(2, 4, 11, 3), public=True, weight=2.0)
    yield call("as many contexts as words in one", *inputs(4, 4, 7, 5), public=True)
    yield call("six words around", *inputs(5, 6, 13, 7), weight=2.0)
    contexts, E, W, b = inputs(3, 4, 5, 2)
    contexts[:, 1:] = contexts[:, :1]
    yield call("the same word four times", contexts, E, W, b)
    yield call("a batch of one", *inputs(1, 2, 7, 3))
    yield call("a context of one word", *inputs(5, 1, 3, 2))
    yield call("as many words as dimensions", *inputs(3, 2, 5, 5))
    yield call("float32", *inputs(3, 4, 7, 5, dtype=torch.float32), public=True)
    contexts, E, W, b = inputs(5, 2, 7, 3)
    yield call("memory that is not contiguous", *(noncontiguous(x) for x in (contexts, E, W, b)), public=True)


def _scored(h, W, b):
    return h @ W.T + b


@cbow_logits.misconception("Read the context [a, a, a, a]. Should its vector be four times as long as that of [a]?")
def sum_of_the_context(contexts, E, W, b):
    return _scored(E[contexts].sum(1), W, b)


@cbow_logits.misconception("How many tables does the model have? Set W to zero. What should be left of the logits?")
def E_in_place_of_W(contexts, E, W, b):
    return _scored(E[contexts].mean(1), E + 0 * W, b)


cbow_logits.mistakes(
    "Write the shapes of the mean vectors and of W under your product. Which axis of W counts words, and which "
    "one meets a mean vector?",
    W_not_transposed=lambda contexts, E, W, b: E[contexts].mean(1) @ W + b,
    W_in_front=lambda contexts, E, W, b: W @ E[contexts].mean(1) + b,
)
cbow_logits.mistakes(
    "Print the shape of E[contexts], and say what each axis counts. Over which of them do you average?",
    mean_over_the_numbers_of_a_vector=lambda contexts, E, W, b: E[contexts].mean(2) @ W.T + b,
)
cbow_logits.mistakes(
    "Is the word with id 6 twice as much as the word with id 3? Which row of E belongs to which word?",
    ids_multiplied=lambda contexts, E, W, b: (contexts @ E).mean(1) @ W.T + b,
    ids_averaged=lambda contexts, E, W, b: contexts.float().mean(1) @ W.T + b,
)


@cbow_logits.misconception(
    "Call it with one context, then with the same context beside others. Should its logits change?"
)
def mean_over_the_batch(contexts, E, W, b):
    return _scored(E[contexts].mean(0), W, b)
