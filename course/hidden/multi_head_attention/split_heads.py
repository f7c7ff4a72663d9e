"""Hidden tests of `split_heads`."""

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.multi_head_attention.scaffold import divisible
from course.reference import multi_head_attention as reference


@exercise(
    reference.split_heads,
    hints=(
        "Which numbers of a word belong to head 0, and which to head 1? Let x[0, t, c] be 10 t + c for 3 words of "
        "width 4, and write down by hand what head 0 gets of word 2.",
        "Change the vector of one word. At which positions, in which heads, may the result change?",
        "Begin with the error for heads that do not share the width evenly. Then take two steps. Cut the last axis in"
        " two, then reorder the axes. Write the shape that you want beside each step, and print the one you get.",
    ),
    calls=(
        "split_heads(tensor([[[1, 2, 3, 4]]]), 2)",
        "split_heads(tensor([[[1, 2], [3, 4]]]), 2)",
        "split_heads(tensor([[[1, 2], [3, 4]]]), 1)",
        "split_heads(tensor([[[1, 2, 3]]]), 2)",
        "split_heads(tensor([[[1, 2, 3, 4], [5, 6, 7, 8]]]), 2)",
        "split_heads(numbers(2, 3, 8), 4).shape",
    ),
)
def split_heads(rng):
    """Values are compared, so every number must be in its place. T = h and T = d hide exchanged axes."""
    yield call("two heads", rng.normal(3, 7, 10), 2, public=True, weight=2.0)
    yield call("five heads of three columns", rng.normal(2, 7, 15), 5, public=True, weight=2.0)
    yield call("one head", rng.normal(2, 5, 3), 1, weight=0.5)
    yield call("as many heads as columns", rng.normal(2, 3, 5), 5)
    yield call("as many words as heads, as wide as a head", rng.normal(2, 3, 9), 3)
    yield call("a single word", rng.normal(2, 1, 6), 3)
    yield call("a batch of one", rng.normal(1, 5, 6), 2)
    yield call("float32", rng.normal(2, 5, 21, dtype=torch.float32), 7)
    yield call("memory that is not contiguous", noncontiguous(rng.normal(2, 3, 10)), 5, public=True)
    yield call("four heads for a width of six", rng.normal(2, 3, 6), 4, public=True, raises="ValueError")


@split_heads.misconception(
    "Change the vector of one word. In how many heads does your result change? Each head should see every word."
)
def reshaped_without_transposing(x, n_heads):
    B, T, D = x.shape
    divisible(D, n_heads)
    return x.reshape(B, n_heads, T, D // n_heads)


@split_heads.misconception(
    "Let a word of width 6 be 0, 1, ... 5, and split it in two. Head 0 should get the neighbours 0, 1 "
    "and 2. What does it get?",
    convention="heads interleaved, column c belongs to head c mod h",
)
def interleaved(x, n_heads):
    divisible(x.shape[-1], n_heads)
    return x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)


@split_heads.misconception(
    "Compare your shape with (B, h, T, D/h). A matrix product works on the last two axes. Which two are those in yours?"
)
def heads_left_behind_the_words(x, n_heads):
    divisible(x.shape[-1], n_heads)
    return x.unflatten(-1, (n_heads, -1))


split_heads.mistakes(
    "Which axis comes first in your result? The batch stays first, the heads come second.",
    heads_before_the_batch=lambda x, n_heads: reference.split_heads(x, n_heads).transpose(0, 1),
)


@split_heads.misconception(
    "How wide is one of two heads in a width of 10? Print your last axis for a single head, where nothing is cut."
)
def as_many_columns_as_heads(x, n_heads):
    divisible(x.shape[-1], n_heads)
    return x.unflatten(-1, (-1, n_heads)).transpose(1, 2)


@split_heads.misconception(
    "Let x[0, t, c] be 10 t + c. Which words do the numbers in the first row of head 0 come from? There "
    "should be only one."
)
def transposed_before_it_is_cut(x, n_heads):
    B, T, D = x.shape
    divisible(D, n_heads)
    return x.mT.reshape(B, n_heads, T, D // n_heads)


@split_heads.misconception(
    "The result has the four axes (B, h, T, D/h). Count yours. Which axis says which sentence a head belongs to?",
    convention="heads folded into the batch, (B·h, T, D/h)",
)
def heads_folded_into_the_batch(x, n_heads):
    return reference.split_heads(x, n_heads).flatten(0, 1)
