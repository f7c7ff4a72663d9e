"""Hidden tests of `combine_masks`: which key is open to which query, for any batch, heads and lengths."""

import torch

from course.exercise import call, exercise
from course.hidden.masking.scaffold import real_words
from course.reference import masking as reference


@exercise(
    reference.combine_masks,
    hints=(
        "The scores have the axes (B, h, T, S). Which of these axes has each mask, and along which of them is it the "
        "same for all?",
        "Take a key in the past that is padding, and then a real word in the future. Is either of them allowed? Make "
        "a query padding, then a key. Which of the two should the mask react to?",
        "Begin with no causal mask. Give padding an axis of length 1 wherever it lacks one, and print the shape. It "
        "should be (B, 1, 1, S). Only then ask what both masks together must say of a key.",
    ),
    calls=(
        "combine_masks(tensor([[True, True]]), tensor([[True, False], [True, True]]))",
        "combine_masks(tensor([[True, False]]), tensor([[True, False], [True, True]]))",
        "combine_masks(tensor([[False, True]]), tensor([[True, False], [True, True]]))",
        "combine_masks(ones(3, 5, dtype=torch.bool)).shape",
        "combine_masks(ones(3, 5, dtype=torch.bool), ones(5, 5, dtype=torch.bool)).shape",
        "combine_masks(ones(3, 5, dtype=torch.bool), ones(2, 5, dtype=torch.bool)).shape",
    ),
)
def combine_masks(rng):
    """B, T and S differ, except where a wrong broadcast shows only if they agree. Also without causality, one query."""

    def seen(T, S, share=0.5):
        """Random masks in which every query may look at the first key, and so at something, whatever is padding."""
        return (rng.uniform(T, S) < share).index_fill_(1, torch.tensor([0]), True)

    ragged = real_words([2, 5, 1], 5)
    yield call("three ragged sentences", ragged, torch.ones(5, 5, dtype=torch.bool).tril(), public=True)
    yield call("padding alone", ragged, public=True)
    yield call("as many sentences as words", real_words([3, 1, 2], 3), torch.ones(3, 3, dtype=torch.bool).tril())
    yield call("more keys than queries", real_words([7, 3], 7), seen(5, 7), weight=2.0)
    yield call("more queries than keys", real_words([1, 2, 3], 3), seen(7, 3), weight=2.0)
    yield call("as many sentences as queries", real_words([5, 4], 5), seen(2, 5))
    empty = seen(3, 5, share=0.4).index_fill_(0, torch.tensor([1]), False)
    yield call("a batch of one, with an empty row", real_words([4], 5), empty)
    yield call("padding alone, somewhere in the middle", rng.uniform(3, 11) < 0.5)
    yield call("a sentence of no words", real_words([0, 3], 3), torch.ones(3, 3, dtype=torch.bool).tril())


@combine_masks.misconception(
    "Take a key in the past that is padding. Your mask allows it. How many conditions must an allowed key satisfy?"
)
def either_will_do(padding, causal=None):
    return padding[:, None, None] | (causal if causal is not None else torch.zeros((), dtype=torch.bool))


@combine_masks.misconception(
    "Print the mask of a short sentence. Padding must be forbidden as a key, so look at the last *columns*."
)
def padding_on_the_queries(padding, causal=None):
    rows = padding[:, None, :, None]
    return rows if causal is None else rows & causal if causal.shape[0] == padding.shape[1] else rows.mT & causal


@combine_masks.misconception(
    "Make only the last query padding. Should its row change? What the row may look at depends on the keys alone."
)
def padded_queries_emptied(padding, causal=None):
    right = reference.combine_masks(padding, causal)
    return right & padding[:, None, :, None] if causal is not None and len(causal) == padding.shape[1] else right


@combine_masks.misconception(
    "Print the mask of one word that is no padding. In this course True means allowed. Does your mask say so?",
    convention="True where attention is forbidden, as in nn.MultiheadAttention",
)
def inverted_in_the_end(padding, causal=None):
    return ~reference.combine_masks(padding, causal)


@combine_masks.misconception(
    "Which keys does your mask allow, those with True in `padding` or the others? True means allowed.",
    convention="True for padding, as in nn.MultiheadAttention's key_padding_mask",
)
def padding_read_the_other_way(padding, causal=None):
    return reference.combine_masks(~padding, causal)


@combine_masks.misconception(
    "Which keys does your mask allow, those with True in `causal` or the others? True means allowed.",
    convention="True for the future, as in nn.MultiheadAttention's attn_mask",
)
def causality_read_the_other_way(padding, causal=None):
    return reference.combine_masks(padding, None if causal is None else ~causal)


@combine_masks.misconception(
    "Print the rows in which nothing should be allowed. `masked_softmax` can deal with an empty row. Are yours empty?"
)
def empty_rows_opened(padding, causal=None):
    right = reference.combine_masks(padding, causal)
    return right | ~right.any(-1, keepdim=True)


@combine_masks.misconception(
    "Pass a causal mask that is no triangle. Does your result show that mask, or one of its own?"
)
def a_triangle_of_its_own(padding, causal=None):
    return reference.combine_masks(padding, causal if causal is None else torch.ones_like(causal).tril())
