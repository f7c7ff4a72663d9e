"""Hidden tests of `padding_mask`: True for the words of each sentence, and an error for too long ones."""

import torch

from course.exercise import call, exercise
from course.reference import masking as reference


@exercise(
    reference.padding_mask,
    hints=(
        "Write down by hand what comes out for lengths [2, 0, 3] and max_len 3. It has three rows and three columns.",
        "Is position 2 of a sentence of length 2 a word? Which positions are?",
        "Begin with the row of positions 0, 1, 2, …, and ask of each whether it lies before the end of one sentence. "
        "For all sentences at once, which shape must the lengths have beside that row?",
    ),
    calls=(
        "padding_mask(tensor([1, 3]), 3)",
        "padding_mask(tensor([0, 2]), 2)",
        "padding_mask(tensor([2]), 4)",
        "padding_mask(tensor([3]), 2)",
        "padding_mask(tensor([2, 2]), 2)",
        "padding_mask(tensor([1, 1, 1]), 5).shape",
    ),
)
def padding_mask(rng):
    """Ragged, full, empty and single sentences, wider than the longest, as many sentences as positions, too long."""
    yield call("three sentences", torch.tensor([2, 5, 1]), 5, public=True)
    yield call("one that is too long", torch.tensor([2, 7, 3]), 5, raises="ValueError", public=True, weight=0.5)
    yield call("room to spare", torch.tensor([3, 1]), 7)
    yield call("a sentence of no words", torch.tensor([0, 4, 2]), 5)
    yield call("a batch of one", torch.tensor([3]), 5)
    yield call("as many sentences as positions", rng.integers(0, 4, 3), 3)
    yield call("one position", torch.tensor([1, 0]), 1)
    yield call("many", rng.integers(0, 14, 11), 13, weight=2.0)


@padding_mask.misconception(
    "Print the mask of a sentence without padding. In this course True stands for a word. Does yours say so?",
    convention="True where attention is forbidden, as in nn.MultiheadAttention",
)
def inverted_padding(lengths, max_len):
    return ~reference.padding_mask(lengths, max_len)


@padding_mask.misconception("Which positions hold the words of a sentence of length 3? Count from 0.")
def one_pad_visible(lengths, max_len):
    return reference.padding_mask(lengths, max_len) | (torch.arange(max_len) <= lengths[:, None])


@padding_mask.misconception("What is the position of the last word in a sentence of length 3? Is it True in your row?")
def last_word_hidden(lengths, max_len):
    return reference.padding_mask(lengths, max_len) & (torch.arange(max_len) < lengths[:, None] - 1)


@padding_mask.misconception("How wide is your mask when max_len is larger than the longest sentence?")
def as_wide_as_the_longest(lengths, max_len):
    return reference.padding_mask(lengths, max_len)[:, : int(lengths.max())]


@padding_mask.misconception(
    "Ask for 5 positions and a sentence of 7 words. What has become of two words? The docstring asks for an error."
)
def too_long_accepted(lengths, max_len):
    return torch.arange(max_len) < lengths[:, None]
