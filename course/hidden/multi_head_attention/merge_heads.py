"""Hidden tests of `merge_heads`."""

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import multi_head_attention as reference


@exercise(
    reference.merge_heads,
    hints=(
        "What should merge_heads(split_heads(x, h)) be, for any x and any h?",
        "Fill head i with the number i. What should one word's merged vector look like, from left to right?",
        "Begin with the names of the four axes of x, in order. Two of them must become one axis, and only neighbours "
        "can. Which axis has to move first? Print the shape after it has moved.",
    ),
    calls=(
        "merge_heads(tensor([[[[1, 2]], [[3, 4]]]]))",
        "merge_heads(tensor([[[[1], [2]], [[3], [4]]]]))",
        "merge_heads(tensor([[[[1, 2], [3, 4]]]]))",
        "merge_heads(tensor([[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]]))",
        "merge_heads(numbers(2, 3, 4, 5)).shape",
        "merge_heads(numbers(2, 1, 1, 5)).shape",
    ),
)
def merge_heads(rng):
    """The cases of `split_heads`, the other way round."""
    yield call("two heads", rng.normal(3, 2, 7, 5), public=True, weight=2.0)
    yield call("five heads of three columns", rng.normal(2, 5, 7, 3), public=True, weight=2.0)
    yield call("one head", rng.normal(2, 1, 5, 3), weight=0.5)
    yield call("heads of one column", rng.normal(2, 5, 3, 1))
    yield call("as many words as heads, as wide as a head", rng.normal(2, 3, 3, 3))
    yield call("a single word", rng.normal(2, 3, 1, 2))
    yield call("a batch of one", rng.normal(1, 2, 5, 3))
    yield call("float32", rng.normal(2, 7, 5, 3, dtype=torch.float32))
    yield call("memory that is not contiguous", noncontiguous(rng.normal(2, 5, 3, 2)), public=True)


@merge_heads.misconception(
    "Fill word t with the number t, in every head. After merging, is the vector of word 0 all zeros?"
)
def reshaped_without_transposing_back(x):
    B, h, T, d = x.shape
    return x.reshape(B, T, h * d)


@merge_heads.misconception(
    "Fill head i with the number i. Do the zeros come first, then the ones, or do they take turns?",
    convention="heads interleaved, column c belongs to head c mod h",
)
def merged_in_turns(x):
    return x.permute(0, 2, 3, 1).flatten(2)


merge_heads.mistakes(
    "How wide was a word before it was split? How wide is a mean of its heads?",
    heads_averaged=lambda x: x.mean(1),
)
merge_heads.mistakes(
    "The input has the axes (B, h, T, d). Which of them counts the words, and where is it in your result?",
    words_side_by_side=lambda x: x.flatten(2),
)
merge_heads.mistakes(
    "Split four columns into two heads and merge them again. Which columns have changed places?",
    last_head_first=lambda x: reference.merge_heads(x.flip(1)),
)
merge_heads.mistakes(
    "The result has the shape (B, T, D). Which two of your axes must still become one?",
    never_joined=lambda x: x.transpose(1, 2),
)
