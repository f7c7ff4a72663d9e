"""Examiner's notes on masks: who may look at whom, what is counted, what is hidden, and a model that must not peek.

Sizes are distinct primes; the batch is ragged and holds a full sentence and a short one; what lies behind a mask is
noise, and now and then enormous. `mlm_corrupt` is judged by its laws and its frequencies, the language model against
the grammar itself.
"""

from __future__ import annotations

import math
from functools import lru_cache

import torch
from torch.nn import functional as F

from course.data import grammar
from course.exercise import call, draws, exercise, given_model, noncontiguous, rest_hidden, stand_in
from course.reference import masking as reference

INFINITE = math.inf


def _real(lengths, places):
    """True for the real words of each sentence."""
    return torch.arange(places) < torch.tensor(lengths)[:, None]


# -- padding ---------------------------------------------------------------------------------------------------------


@exercise(
    reference.padding_mask,
    hints=(
        "Write down by hand what comes out for lengths [2, 0, 3] and max_len 3: three rows of three answers.",
        "Is place 2 of a sentence of length 2 a word? Which places are?",
        "Number the places 0, 1, 2, … and put one question to each of them: does it lie before the end?",
    ),
)
def padding_mask(rng):
    """Ragged, full, empty and single sentences; wider than the longest; as many sentences as places; too long."""
    yield call("three sentences", torch.tensor([2, 5, 1]), 5, public=True)
    yield call("one that is too long", torch.tensor([2, 7, 3]), 5, raises="ValueError", public=True, weight=0.5)
    yield call("room to spare", torch.tensor([3, 1]), 7)
    yield call("a sentence of no words", torch.tensor([0, 4, 2]), 5)
    yield call("a batch of one", torch.tensor([3]), 5)
    yield call("as many sentences as places", rng.integers(0, 4, 3), 3)
    yield call("one place", torch.tensor([1, 0]), 1)
    yield call("many", rng.integers(0, 14, 11), 13, weight=2.0)


@padding_mask.misconception(
    "Your True stands where there is *no* word. In this course True means: may be looked at, may be counted.",
    convention="True where attention is forbidden, as in nn.MultiheadAttention",
)
def inverted_padding(lengths, max_len):
    return ~reference.padding_mask(lengths, max_len)


@padding_mask.misconception("For a sentence of length 3, which places hold its words? Count from 0.")
def one_pad_visible(lengths, max_len):
    reference.padding_mask(lengths, max_len)
    return torch.arange(max_len) <= lengths[:, None]


@padding_mask.misconception("What is the last real place of a sentence of length 3? Is it True in your row?")
def last_word_hidden(lengths, max_len):
    reference.padding_mask(lengths, max_len)
    return torch.arange(max_len) < lengths[:, None] - 1


@padding_mask.misconception("At which end of your rows does a short sentence stand? The padding comes after it.")
def padded_on_the_left(lengths, max_len):
    return reference.padding_mask(lengths, max_len).flip(1)


@padding_mask.misconception("Ones and zeros are numbers: with them ~ and & mean something else. Print the dtype.")
def numbers_for_booleans(lengths, max_len):
    return reference.padding_mask(lengths, max_len).float()


@padding_mask.misconception("How wide is your mask when max_len is larger than the longest sentence?")
def as_wide_as_the_longest(lengths, max_len):
    reference.padding_mask(lengths, max_len)
    return reference.padding_mask(lengths, int(lengths.max()))


@padding_mask.misconception("Swap two sentences of the batch: do the rows of your mask swap as well?")
def first_sentence_for_all(lengths, max_len):
    return reference.padding_mask(lengths, max_len)[:1].expand(len(lengths), -1)


@padding_mask.misconception(
    "Seven words into five places: your mask says that all is well. What has become of two words? The docstring wants "
    "an error."
)
def too_long_accepted(lengths, max_len):
    return torch.arange(max_len) < lengths[:, None]


# -- causality -------------------------------------------------------------------------------------------------------


@exercise(
    reference.causal_mask,
    hints=(
        "Write the 3 × 3 table by hand: a row for each word that looks, a column for each word that is looked at.",
        "What may the first word look at? And the last one? Check the two corner rows of your table.",
        "Read row t as a sentence: word t may look at words 0 to ?.",
    ),
)
def causal_mask(rng):
    """Small enough to read, one word alone, and a size nobody has tried."""
    yield call("four words", 4, public=True)
    yield call("one word", 1).counts_with("four words")
    yield call("two words", 2)
    yield call("seven words", 7)
    yield call("a longer text", rng.choice([11, 13, 17, 19]), weight=2.0)


@causal_mask.misconception("What may the first word look at in your table? It should at least see itself.")
def diagonal_hidden(T):
    return torch.ones(T, T, dtype=torch.bool).tril(-1)


@causal_mask.misconception("Read row 0 of your table aloud: who may look at whom? And the last row?")
def the_future_instead(T):
    return torch.ones(T, T, dtype=torch.bool).triu()


@causal_mask.misconception(
    "The right triangle with True and False exchanged: yours marks what is forbidden.",
    convention="True where attention is forbidden, as in nn.MultiheadAttention",
)
def inverted_triangle(T):
    return torch.ones(T, T, dtype=torch.bool).triu(1)


@causal_mask.misconception(
    "Look at row 0: word 0 sees word 1, the very word it is to guess. How many True has the first row?"
)
def one_word_ahead(T):
    return torch.ones(T, T, dtype=torch.bool).tril(1)


@causal_mask.misconception("Ones and zeros are numbers, and a mask says yes or no. Print the dtype.")
def triangle_of_numbers(T):
    return torch.ones(T, T).tril()


@causal_mask.misconception(
    "A table to be *added* to the scores. Here a mask says True or False, and masked_softmax does the rest.",
    convention="0 and -inf to be added, as in nn.Transformer.generate_square_subsequent_mask",
)
def to_be_added(T):
    return torch.full((T, T), -INFINITE).triu(1)


@causal_mask.misconception("Who sees whom in your table? Word 2 may look back at words 0 and 1, too.")
def itself_only(T):
    return torch.eye(T, dtype=torch.bool)


@causal_mask.misconception("Is there anything forbidden in your table?")
def everything_allowed(T):
    return torch.ones(T, T, dtype=torch.bool)


# -- both ------------------------------------------------------------------------------------------------------------


@exercise(
    reference.combine_masks,
    hints=(
        "Print the shape of each mask, and of the scores (B, h, T, S) they are for. Which axis of which goes where?",
        "A key that is padding, in the past: allowed? A real word of the future: allowed?",
        "Is it the word that *asks* or the word that is *looked at* whose padding counts here?",
    ),
)
def combine_masks(rng):
    """B, T, S differ, except where a wrong broadcast would show only when they agree; without causality; one query."""

    def seen(T, S, share=0.5):
        """Anybody may look at anything; everybody at the first key, and so at something, whatever is padding."""
        return (rng.uniform(T, S) < share).index_fill_(1, torch.tensor([0]), True)

    ragged = _real([2, 5, 1], 5)
    yield call("three ragged sentences", ragged, torch.ones(5, 5, dtype=torch.bool).tril(), public=True)
    yield call("padding alone", ragged, public=True)
    yield call("as many sentences as words", _real([3, 1, 2], 3), torch.ones(3, 3, dtype=torch.bool).tril())
    yield call("more keys than queries", _real([7, 3], 7), seen(5, 7), weight=2.0)
    yield call("more queries than keys", _real([1, 2, 3], 3), seen(7, 3), weight=2.0)
    yield call("as many sentences as queries", _real([5, 4], 5), seen(2, 5))
    empty = seen(3, 5, share=0.4).index_fill_(0, torch.tensor([1]), False)
    yield call("a batch of one, with an empty row", _real([4], 5), empty)
    yield call("padding alone, somewhere in the middle", rng.uniform(3, 11) < 0.5)
    yield call("a sentence of no words", _real([0, 3], 3), torch.ones(3, 3, dtype=torch.bool).tril())


@combine_masks.misconception(
    "Your mask lets a key through if it is a word *or* lies in the past. How many conditions must a key satisfy?"
)
def either_will_do(padding, causal=None):
    return padding[:, None, None] | (causal if causal is not None else torch.zeros((), dtype=torch.bool))


@combine_masks.misconception(
    "Is it the asking or the answering word that is padding? With a short sentence, look at the last *columns*."
)
def padding_on_the_queries(padding, causal=None):
    rows = padding[:, None, :, None]
    return rows if causal is None else rows & causal if causal.shape[0] == padding.shape[1] else rows.mT & causal


@combine_masks.misconception(
    "A padded query has nothing to look at in your mask. That empties whole rows; padding is about the keys only."
)
def padding_on_both_sides(padding, causal=None):
    both = padding[:, None, :, None] & padding[:, None, None]
    return (
        both
        if causal is None
        else both & causal
        if len(causal) == padding.shape[1]
        else padding[:, None, None] & causal
    )


@combine_masks.misconception(
    "A padded query has nothing to look at in your mask. On whose padding does the score of query t and key s depend?"
)
def padded_queries_emptied(padding, causal=None):
    right = reference.combine_masks(padding, causal)
    return right & padding[:, None, :, None] if causal is not None and len(causal) == padding.shape[1] else right


@combine_masks.misconception(
    "Your True stands where looking is *forbidden*. In this course True means: may be looked at.",
    convention="True where attention is forbidden, as in nn.MultiheadAttention",
)
def inverted_in_the_end(padding, causal=None):
    return ~reference.combine_masks(padding, causal)


@combine_masks.misconception(
    "Which words does your mask let through, those with True in `padding` or the others? True means: may be looked at.",
    convention="True for padding, as in nn.MultiheadAttention's key_padding_mask",
)
def padding_read_the_other_way(padding, causal=None):
    return reference.combine_masks(~padding, causal)


@combine_masks.misconception(
    "Which words does the causal mask let through, those with True in it or the others? True means: may be looked at.",
    convention="True for the future, as in nn.MultiheadAttention's attn_mask",
)
def causality_read_the_other_way(padding, causal=None):
    return reference.combine_masks(padding, None if causal is None else ~causal)


@combine_masks.misconception("Without a causal mask, does anything depend on who asks? How many rows do you need then?")
def a_row_for_every_key(padding, causal=None):
    right = reference.combine_masks(padding, causal)
    return right if causal is not None else right.expand(-1, 1, padding.shape[1], -1)


@combine_masks.misconception(
    "Print the rows in which nothing should be allowed. Who opened yours? `masked_softmax` can deal with an empty row."
)
def empty_rows_opened(padding, causal=None):
    right = reference.combine_masks(padding, causal)
    return right | ~right.any(-1, keepdim=True)


@combine_masks.misconception("Print the column of a key that is padding. May anybody look at it, itself included?")
def everybody_sees_itself(padding, causal=None):
    right = reference.combine_masks(padding, causal)
    return right if causal is None else right | torch.eye(*causal.shape, dtype=torch.bool)


@combine_masks.misconception("Give it a causal mask that is no triangle. Whose is it that shows in your result?")
def a_triangle_of_its_own(padding, causal=None):
    return reference.combine_masks(padding, causal if causal is None else torch.ones_like(causal).tril())


@combine_masks.misconception("Where is the axis for the heads? The scores are (B, h, T, S).")
def no_axis_for_the_heads(padding, causal=None):
    return padding[:, None] if causal is None else padding[:, None] & causal


@combine_masks.misconception("Change the causal mask: does your result change?")
def causality_forgotten(padding, causal=None):
    return padding[:, None, None] if causal is None else padding[:, None, None].expand(-1, 1, len(causal), -1)


@combine_masks.misconception("Change the padding: does your result change?")
def padding_forgotten(padding, causal=None):
    if causal is None:
        return padding[:, None, None]
    return causal.expand(len(padding), 1, -1, -1)


@combine_masks.misconception("Swap two sentences of the batch. Do the masks swap as well?")
def padding_of_the_first_sentence(padding, causal=None):
    return reference.combine_masks(padding[:1].expand_as(padding), causal)


@combine_masks.misconception("Which answers does your mask give, yes and no or 1.0 and 0.0? Print the dtype.")
def product_of_numbers(padding, causal=None):
    return reference.combine_masks(padding, causal).float()


@combine_masks.misconception(
    "Which axis of the mask is the batch? Sentence 0's padding belongs to all rows of sentence 0."
)
def sentences_taken_for_queries(padding, causal=None):
    return padding[None, None] if causal is None else padding[None, None, :1] & causal


# -- softmax over what is allowed -------------------------------------------------------------------------------------


@exercise(
    reference.masked_softmax,
    hints=(
        "Scores [1, 2, 3], the last one hidden: which two numbers must come out, and what is their sum?",
        "What is exp of the value you put on hidden scores? Try scores of size 100, too.",
        "Give it a row with nothing allowed and call .sum().backward(). Print the weights and the gradient.",
    ),
)
def masked_softmax(rng):
    """Masks that broadcast in every way, rows with nothing, enormous noise behind the mask, axes before the last."""
    B, h, T, S = 2, 3, 5, 7

    def some(*shape, share=0.6):
        mask = rng.uniform(*shape) < share
        mask[..., 0] = True
        return mask

    first = rng.normal(3, 5)
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    yield call("three rows", first, some(3, 5), public=True)
    yield call(
        "a row with nothing allowed", rng.normal(2, 3), torch.tensor([[True, False, True], [False] * 3]), public=True
    )
    yield call("a mask for the batch", rng.normal(B, h, T, S), _real([7, 3], S)[:, None, None], weight=2.0)
    yield call("a causal mask for all heads", rng.normal(B, h, T, T), causal)
    yield call("along the first axis", rng.normal(T, S), some(S, T).T, dim=0)
    yield call("along an axis in the middle", rng.normal(B, T, S), some(B, S, T).mT, dim=1)
    yield call("everything allowed", rng.normal(2, 3), torch.ones(2, 3, dtype=torch.bool), weight=0.5)
    yield call("one allowed", rng.normal(3, 5), F.one_hot(torch.tensor([4, 0, 2]), 5).bool(), weight=0.5)
    empty = some(3, 5)
    empty[1] = False
    yield call("an empty row among others", rng.normal(3, 5), empty, weight=2.0)
    nothing = call("nothing allowed anywhere", rng.normal(2, 3), torch.zeros(2, 3, dtype=torch.bool), grad=False)
    yield nothing.counts_with("three rows")
    yield call("an empty sentence, along the middle", rng.normal(2, 5, 3), _real([3, 0], 5)[..., None], dim=1)
    mask = some(5, 7, share=0.5)
    mask[2] = False
    noise = torch.where(mask, 0.0, 1e4 * (1 + rng.uniform(5, 7)))
    yield call("huge scores behind the mask", rng.normal(5, 7) + noise, mask, weight=2.0)
    yield call("all scores far below zero", rng.normal(3, 5) - 1e4, some(3, 5))
    yield call("all scores far above zero", rng.normal(3, 5) + 1e3, some(3, 5))
    steps = torch.tensor([[0.0], [1e4], [-1e4]], dtype=torch.float64)
    yield call("rows far from one another", rng.normal(3, 5) + steps, some(3, 5))
    zeros = rng.normal(3, 5).masked_fill(torch.arange(5) < 2, 0.0)
    yield call("scores of exactly zero", zeros, some(3, 5))
    ladder = torch.tensor([[-40.0, 0.0, -30.0, 35.0, 20.0]], dtype=torch.float64)
    yield call("scores far apart", ladder, torch.tensor([[True, False, True, False, False]]))
    yield call("float32", rng.normal(3, 7, dtype=torch.float32), some(3, 7))
    memory = noncontiguous(rng.normal(2, 3, 5)), noncontiguous(some(3, 5))
    yield call("memory that is not contiguous", *memory, public=True)


def _filled(scores, mask, value, dim=-1):
    """Hidden scores replaced by a number, and softmax over all."""
    return scores.masked_fill(~mask, value).softmax(dim)


@masked_softmax.misconception(
    "A score of 0 is a score like others (and so is 1e-9): what is exp(0)? Print the weights of the hidden words."
)
def filled_with_zero(scores, mask, dim=-1):
    return _filled(scores, mask, 0.0, dim)


@masked_softmax.misconception(
    "In a row with nothing allowed, all your scores are equally low. What does softmax make of equal scores?"
)
def uniform_over_nothing(scores, mask, dim=-1):
    return _filled(scores, mask, -1e9, dim)


@masked_softmax.misconception(
    "All is right where something is allowed. What does softmax make of a row when the same number is taken off every "
    "score of it?"
)
def a_billion_taken_off(scores, mask, dim=-1):
    return (scores - 1e9 * (~mask).to(scores.dtype)).softmax(dim)


@masked_softmax.misconception(
    "All is right where something is allowed. And in a row of nothing but -inf: what is 0 / 0?"
)
def nan_over_nothing(scores, mask, dim=-1):
    return _filled(scores, mask, -INFINITE, dim)


def _divided_by_what_is_left(weigh):
    """Weights of what is hidden taken away, and the rest divided by its sum, even where that is nothing."""

    def weights(scores, mask, dim=-1):
        left = weigh(scores, dim) * mask
        return left / left.sum(dim, keepdim=True)

    return weights


for _name, _weigh in {
    "divided_by_nothing": torch.softmax,
    "exponentials_divided_by_nothing": lambda scores, dim: scores.exp(),
}.items():
    masked_softmax.misconception(
        "All is right where something is allowed. In a row with nothing allowed, which number is divided by which?",
        name=_name,
    )(_divided_by_what_is_left(_weigh))


@masked_softmax.misconception(
    "All is right where something is allowed. And in a row of nothing but -inf: what is 0 / 0?"
)
def nan_over_nothing_where_infinity_is_added(scores, mask, dim=-1):
    return (scores + torch.zeros_like(scores).masked_fill(~mask, -INFINITE)).softmax(dim)


@masked_softmax.misconception(
    "The values are right. Call .sum().backward() for a row with nothing allowed, and print the gradient of the scores."
)
def nan_in_the_gradient(scores, mask, dim=-1):
    weights = (scores + torch.zeros_like(scores).masked_fill(~mask, -INFINITE)).softmax(dim)
    return torch.where(mask.any(dim, keepdim=True), weights, 0.0)


@masked_softmax.misconception(
    "Softmax one row of scores alone, then beside a row that is 10,000 higher. Which maximum belongs to which row?"
)
def maximum_over_everything(scores, mask, dim=-1):
    scores = scores.masked_fill(~mask, -INFINITE)
    weights = (scores - scores.detach().max().clamp(min=-1e9)).exp()
    total = weights.sum(dim, keepdim=True)
    return weights / torch.where(mask.any(dim, keepdim=True), total, 1.0)


@masked_softmax.misconception(
    "Give a word that may be seen a score of exactly 0. How does your code know it from one that is hidden?"
)
def zero_taken_for_hidden(scores, mask, dim=-1):
    kept = scores * mask
    weights = kept.masked_fill(kept == 0, -1e30).softmax(dim)
    return torch.where(mask.any(dim, keepdim=True), weights, 0.0)


@masked_softmax.misconception("Adding 0 and 1 to the scores: whose weight grows, whose vanishes? Nobody's.")
def mask_added(scores, mask, dim=-1):
    return (scores + mask).softmax(dim)


@masked_softmax.misconception(
    "Add up a row of your weights. Softmax has divided by a sum in which the hidden words still count."
)
def hidden_after_softmax(scores, mask, dim=-1):
    return scores.softmax(dim) * mask


@masked_softmax.misconception(
    "Add up a row of your weights. Is a hidden word still among those that softmax shares the whole between?"
)
def filled_with_zero_and_hidden_after(scores, mask, dim=-1):
    return _filled(scores, mask, 0.0, dim) * mask


@masked_softmax.misconception("Scale all scores by 8: is -10 still far below them? How far down is certain?")
def filled_with_minus_ten(scores, mask, dim=-1):
    return _filled(scores, mask, -10.0, dim)


@masked_softmax.misconception(
    "Take 10,000 off every score: softmax gives the same weights. Is what you put on hidden scores still far below?"
)
def filled_with_minus_ten_thousand(scores, mask, dim=-1):
    return _filled(scores, mask, -1e4, dim)


@masked_softmax.misconception(
    "Empty rows are right. Take 10,000 off every score: is what you put on hidden scores still far below?"
)
def filled_with_minus_ten_thousand_and_emptied(scores, mask, dim=-1):
    return torch.where(mask.any(dim, keepdim=True), _filled(scores, mask, -1e4, dim), 0.0)


@masked_softmax.misconception(
    "Take 10,000 off every score and add up a row. Is what you put on hidden scores still far below the others?"
)
def filled_with_minus_ten_thousand_and_hidden_after(scores, mask, dim=-1):
    return _filled(scores, mask, -1e4, dim) * mask


@masked_softmax.misconception("What is 0 times infinity? Print the scores just before the softmax.")
def zero_times_infinity(scores, mask, dim=-1):
    return (scores + (~mask).to(scores.dtype) * -INFINITE).softmax(dim)


@masked_softmax.misconception(
    "Exactly the hidden words get the weights. In which convention do you read the mask? True means allowed here.",
    convention="True where attention is forbidden, as in nn.MultiheadAttention",
)
def mask_read_the_other_way(scores, mask, dim=-1):
    return reference.masked_softmax(scores, ~mask, dim)


@masked_softmax.misconception(
    "You hide exactly the scores that the mask allows. Print masked_fill's result for one row."
)
def allowed_scores_hidden(scores, mask, dim=-1):
    return _filled(scores, ~mask, -INFINITE, dim)


@masked_softmax.misconception(
    "In yours the scores that the mask allows become very small. Print them before the softmax."
)
def allowed_scores_very_small(scores, mask, dim=-1):
    return _filled(scores, ~mask, -1e9, dim)


@masked_softmax.misconception("Ask for dim=0 or dim=1. Does the result change?")
def always_the_last_axis(scores, mask, dim=-1):
    return reference.masked_softmax(scores, mask)


@masked_softmax.misconception(
    "Put 10,000 behind the mask: how large is exp of the other scores beside it? By then, should it still take part?"
)
def maximum_of_the_hidden(scores, mask, dim=-1):
    e = (scores - scores.amax(dim, keepdim=True)).exp() * mask
    return e / e.sum(dim, keepdim=True).clamp(min=1e-300)


@masked_softmax.misconception("Try scores of 1000, and of -1000. How large may exp(x) get, and how small?")
def exponentials_unguarded(scores, mask, dim=-1):
    e = scores.exp() * mask
    return e / (e.sum(dim, keepdim=True) + 1e-9)


# -- the mean of real words -------------------------------------------------------------------------------------------


@exercise(
    reference.masked_mean,
    hints=(
        "Embed a sentence alone, then beside a longer one. Is its mean the same?",
        "By how many do you divide for a sentence of three words in a batch of width seven?",
        "A sentence of no words: what is 0 / 0, and what does the exercise want?",
    ),
)
def masked_mean(rng):
    """Noise behind the mask, a full sentence and one of a single word; masks with gaps; a sentence of none."""
    B, T, D = 3, 5, 7
    yield call("three ragged sentences", rng.normal(B, T, D), _real([2, 5, 1], T), public=True)
    yield call("a sentence of no words", rng.normal(2, 3, 5), _real([0, 2], 3), public=True)
    gaps = (rng.uniform(2, 7) < 0.5).index_fill_(1, torch.tensor([0]), False).index_fill_(1, torch.tensor([6]), True)
    yield call("gaps in the middle", rng.normal(2, 7, 3), gaps, weight=2.0)
    yield call("as many sentences as words", rng.normal(3, 3, 5), _real([1, 3, 2], 3))
    yield call("room to spare", rng.normal(2, 11, 3), _real([3, 2], 11), weight=2.0)
    yield call(
        "huge numbers behind the mask", rng.normal(2, 5, 3) + 1e6 * ~_real([3, 5], 5)[..., None], _real([3, 5], 5)
    )
    ragged = _real([4, 1, 5], 5)
    yield call("words with zeros in them", rng.normal(3, 5, 2).relu(), ragged)
    yield call("one sentence, one word, one number", rng.normal(1, 1, 1), torch.ones(1, 1, dtype=torch.bool))
    yield call("nothing at all", rng.normal(2, 3, 2), torch.zeros(2, 3, dtype=torch.bool), grad=False).counts_with(
        "three ragged sentences"
    )
    yield call("float32", rng.normal(3, 5, 2, dtype=torch.float32), _real([4, 1, 5], 5))
    yield call("memory that is not contiguous", noncontiguous(rng.normal(2, 5, 3)), _real([2, 5], 5), public=True)


def _sum(x, mask):
    return (x * mask[..., None]).sum(1)


@masked_mean.misconception("Embed a sentence alone and next to a long one: do the pads take part in the mean?")
def pads_take_part(x, mask):
    return x.mean(1)


@masked_mean.misconception("The sum is right. By how many words does a short sentence divide it?")
def divided_by_the_width(x, mask):
    return _sum(x, mask) / x.shape[1]


@masked_mean.misconception("The sum is right. Has every sentence as many words as the longest?")
def divided_by_the_longest(x, mask):
    return _sum(x, mask) / mask.sum(1).max().clamp(min=1)


@masked_mean.misconception("Average a sentence alone, then in a batch of ten. By how many words is it divided?")
def divided_by_the_words_of_the_batch(x, mask):
    return _sum(x, mask) / mask.sum().clamp(min=1)


@masked_mean.misconception("Double every word of a sentence by repeating it: should its mean double as well?")
def sum_for_mean(x, mask):
    return _sum(x, mask)


@masked_mean.misconception("A real word may hold a zero, after a ReLU for instance. By how many do you divide then?")
def counts_what_is_not_zero(x, mask):
    kept = x * mask[..., None]
    return kept.sum(1) / (kept != 0).sum(1).clamp(min=1)


@masked_mean.misconception("A real word may be all zeros, after a ReLU for instance. By how many do you divide then?")
def counts_words_that_are_not_zero(x, mask):
    kept = x * mask[..., None]
    return kept.sum(1) / (kept != 0).any(-1).sum(1, keepdim=True).clamp(min=1)


@masked_mean.misconception("Print the rows that you average for a mask with a gap. Are they those with True?")
def as_many_from_the_front(x, mask):
    return reference.masked_mean(x, torch.arange(x.shape[1]) < mask.sum(1, keepdim=True))


@masked_mean.misconception("A sentence of no words: what do you divide by what?")
def nan_for_nobody(x, mask):
    return _sum(x, mask) / mask.sum(1, keepdim=True)


@masked_mean.misconception("A sentence of no words: what is the mean of nothing? Print it.")
def mean_of_an_empty_choice(x, mask):
    return torch.stack([words[real].mean(0) for words, real in zip(x, mask, strict=True)])


@masked_mean.misconception("Zeros, too, pull a mean down. How many of the numbers you average are real?")
def one_added_to_the_count(x, mask):
    return _sum(x, mask) / (mask.sum(1, keepdim=True) + 1)


@masked_mean.misconception("Which words does your mean take: those with True, or the others?")
def mean_of_the_pads(x, mask):
    return reference.masked_mean(x, ~mask)


@masked_mean.misconception("How many vectors should come out for three sentences? Change one of them: do all move?")
def one_mean_for_the_batch(x, mask):
    return (_sum(x, mask).sum(0) / mask.sum().clamp(min=1)).expand(len(x), -1)


# -- the loss of real words ------------------------------------------------------------------------------------------


@exercise(
    reference.masked_cross_entropy,
    hints=(
        "Pad the batch by 20 more columns. Should the loss change? Does yours?",
        "A batch of one sentence of 2 words and one of 8: how much does each word count?",
        "How many losses are there before you take the mean, and how many tokens are real?",
    ),
)
def masked_cross_entropy(rng):
    """B, T, V distinct; noise and any word behind the mask; word 0 among the real ones; a sentence without words."""

    def batch(lengths, T, V, **options):
        B = len(lengths)
        dtype = options.pop("dtype", torch.float64)
        targets = rng.integers(0, V, B, T)
        targets[:, 0] = 0  # word 0 is a word like any other
        return rng.normal(B, T, V, dtype=dtype), targets, _real(lengths, T)

    yield call("three ragged sentences", *batch([2, 5, 1], 5, 7), public=True, weight=2.0)
    yield call("two sentences and room to spare", *batch([3, 1], 7, 5), public=True)
    yield call("as many sentences as words, as words in the vocabulary", *batch([1, 3, 2], 3, 3))
    yield call("a sentence of no words", *batch([0, 4, 2], 5, 3))
    yield call("full sentences", *batch([5, 5], 5, 11), weight=0.5)
    yield call("one token", *batch([1], 1, 3), weight=0.5)
    logits, targets, _ = batch([1, 1, 1], 7, 5)
    yield call("gaps in the middle", logits, targets, rng.uniform(3, 7) < 0.5, weight=2.0)
    logits, targets, mask = batch([2, 6, 3], 7, 5)
    yield call("huge logits behind the mask", torch.where(mask[..., None], logits, 1e4 * logits), targets, mask)
    spread = 1e4 * torch.tensor([-1.0, 1.0, 0.0, 0.5, -0.5], dtype=torch.float64).expand(2, 3, 5)
    yield call("logits of ±10,000", spread.clone(), rng.integers(0, 5, 2, 3), _real([2, 3], 3), grad=False)
    yield call("float32", *batch([7, 2, 4], 7, 3, dtype=torch.float32))
    logits, targets, mask = batch([1, 3], 5, 7)
    yield call("memory that is not contiguous", noncontiguous(logits), targets, mask, public=True)


def _each(logits, targets):
    """-log p of every token, (B, T)."""
    return logits.logsumexp(-1) - logits.gather(-1, targets[..., None]).squeeze(-1)


@masked_cross_entropy.misconception("Pad the batch by 20 columns: should the loss change? Do pads have a loss?")
def pads_are_counted(logits, targets, mask):
    return _each(logits, targets).mean()


@masked_cross_entropy.misconception(
    "The pads' losses are gone, but still the loss shrinks when you pad by 20 columns. By how many do you divide?"
)
def divided_by_all_places(logits, targets, mask):
    return (_each(logits, targets) * mask).mean()


@masked_cross_entropy.misconception("The mean over tokens or over sentences? One sentence of 2 words and one of 8.")
def mean_of_sentence_means(logits, targets, mask):
    sums, counts = (_each(logits, targets) * mask).sum(1), mask.sum(1)
    return (sums / counts.clamp(min=1))[counts > 0].mean()


@masked_cross_entropy.misconception("Repeat every sentence of the batch: should the loss double?")
def sum_of_all(logits, targets, mask):
    return (_each(logits, targets) * mask).sum()


@masked_cross_entropy.misconception("In yours a longer sentence has a larger loss. By how many do you divide?")
def divided_by_the_sentences(logits, targets, mask):
    return (_each(logits, targets) * mask).sum() / len(mask)


@masked_cross_entropy.misconception(
    "Logits of zero are no absence of a loss: they are a guess. What is the cross-entropy of V equal logits?"
)
def logits_zeroed(logits, targets, mask):
    return _each(logits * mask[..., None], targets).mean()


@masked_cross_entropy.misconception(
    "Your loss leaves out word 0 wherever it stands. Here the mask says what is padding, and word 0 may be a word."
)
def word_zero_taken_for_padding(logits, targets, mask):
    return _each(logits, targets)[mask & (targets != 0)].mean()


@masked_cross_entropy.misconception(
    "Does your loss look at the mask at all? It leaves out word 0 instead, which may be a word, and counts the padding."
)
def word_zero_instead_of_the_mask(logits, targets, mask):
    return _each(logits, targets)[targets != 0].mean()


@masked_cross_entropy.misconception("Which tokens enter your mean: those with True, or the others?")
def loss_of_the_pads(logits, targets, mask):
    return _each(logits, targets)[~mask].mean()


@masked_cross_entropy.misconception(
    "Check one (b, t) by hand: (B, T, V) and (B, V, T) hold the same numbers in another order, and view does not know."
)
def viewed_for_transposed(logits, targets, mask):
    B, T, V = logits.shape
    return _each(logits.reshape(B, V, T).mT, targets)[mask].mean()


@masked_cross_entropy.misconception(
    "May a loss be negative? What makes a loss of a probability, and what is it when the probability is 1?"
)
def probabilities_without_a_logarithm(logits, targets, mask):
    return -logits.softmax(-1).gather(-1, targets[..., None]).squeeze(-1)[mask].mean()


def _by_probabilities(added):
    """The logarithm of the right words' probabilities, which may have been rounded to nothing."""

    def loss(logits, targets, mask):
        chosen = logits[mask].softmax(-1).gather(-1, targets[mask][:, None])
        return -(chosen + added).log().mean()

    return loss


for _name, _added in {"infinite_for_large_logits": 0.0, "a_billionth_under_the_logarithm": 1e-9}.items():
    masked_cross_entropy.misconception(
        "Logits of ten thousand: how large is their exponential, and what is the logarithm of a probability that was "
        "rounded to 0?",
        name=_name,
    )(_by_probabilities(_added))


@masked_cross_entropy.misconception(
    "One-hot: how many numbers of a place are not zero? And over how many is your mean?"
)
def divided_by_the_vocabulary(logits, targets, mask):
    return _each(logits, targets)[mask].mean() / logits.shape[-1]


@masked_cross_entropy.misconception("Over which axis do the probabilities of the words at one place sum to one?")
def softmax_over_the_places(logits, targets, mask):
    return -logits.log_softmax(1).gather(-1, targets[..., None]).squeeze(-1)[mask].mean()


@masked_cross_entropy.misconception(
    "What is the loss of a perfect prediction? Softmax of probabilities is rather flat."
)
def softmax_twice(logits, targets, mask):
    return _each(logits.softmax(-1), targets)[mask].mean()


# -- BERT's game ------------------------------------------------------------------------------------------------------


@exercise(
    reference.mlm_corrupt,
    hints=(
        "Corrupt a thousand words of one kind and count: how many are asked for, how many of those are masks?",
        "Two questions, one after the other: is this token chosen? And if it is, which of the three becomes of it?",
        "Print ids, inputs and labels below each other. Which places of the labels are not -100, and what is there?",
    ),
)
def mlm_corrupt(rng):
    """By its rules on ragged text, by its frequencies on a text of one word, and each token on its own coin."""
    V, mask_id = 11, 11
    ids = rng.integers(0, V, 7, 101)
    special = rng.uniform(7, 101) < 0.3

    def ruled(title, ids, special, V, mask_id, p, **options):
        case = call(title, ids, special, V, mask_id, rng.generator(), p, grad=False, **options)
        case = case.law("has_parts", count=2).law("long_like", ids=ids)
        case = case.law("labels_hold_the_words", ids=ids).law("unasked_words_stay", ids=ids)
        return case.law("never_asked_for", where=special).laws_only()

    yield ruled("every label its word", ids, special, V, mask_id, 0.5, public=True)

    def counted(title, n, V, mask_id, p, plain=1.0, last=0, **options):
        """One word, n times: what becomes of it, where a share of it is plain and the rest is special?

        And of the `last` ones, what becomes of those?
        """
        word = 1
        fates = torch.full((max(V, mask_id + 1),), 0.0, dtype=torch.float64)
        fates[:V] = 0.1 / V
        fates[mask_id] += 0.8
        fates[word] += 0.1
        probabilities = torch.cat([torch.tensor([1 - p * plain], dtype=torch.float64), p * plain * fates])
        text = torch.full((n,), word)
        special = torch.arange(n) >= round(n * plain)
        case = call(title, text, special, V, mask_id, rng.generator(), p, grad=False, **options)
        because = (
            "of what is asked for, 80 % should be masks, 10 % any word at all, each as often as the others, and 10 % "
            "the word itself: count them, word by word"
        )
        case = case.law("has_parts", count=2).law("known_words", words=len(fates))
        case = case.law("corruption_frequencies", probabilities=probabilities, because=because).laws_only()
        because = "what becomes of a word should say nothing about where it stands: count the last words by themselves"
        alike = {"probabilities": probabilities, "last": last, "because": because}
        return case.law("corruption_frequencies", **alike) if last else case

    yield counted("8 : 1 : 1, counted", 3000, 3, 3, 0.9, public=True)
    yield counted("8 : 1 : 1, counted in more words", 20_000, 3, 3, 1.0, weight=2.0, last=4000)
    yield counted("the mask is one of the words", 20_000, 5, 2, 0.7)
    yield counted("one in seven, and a larger vocabulary", 30_000, 7, 7, 1 / 7)
    yield counted("four in five are special", 20_000, 3, 3, 0.15, plain=0.2)

    def coins(title, shape, p, axis, because, **options):
        """Tokens in groups of five along an axis: how many of them are chosen?"""
        none = torch.zeros(shape, dtype=torch.bool)
        case = call(title, rng.integers(0, V, *shape), none, V, mask_id, rng.generator(), p, grad=False, **options)
        case = case.law("has_parts", count=2)
        return case.law("chosen_one_by_one", p=p, axis=axis, because=because).laws_only()

    sentence = "whether a word is chosen should say nothing about the next one: count the chosen words of each sentence"
    batch = "whether a word is chosen should say nothing about the same place of another sentence: print two sentences"
    yield coins("every word of a sentence on its own", (2000, 5), 0.4, 1, sentence)
    yield coins("every sentence on its own", (1000, 11), 0.4, 0, batch)
    five, none = torch.full((5,), 1), torch.zeros(5, dtype=torch.bool)
    yield (
        draws("five words, again and again", 250, five, none, V, mask_id, rng.generator(), 0.4)
        .law("has_parts", count=2, each=True)
        .law("chosen_one_by_one", p=0.4, axis=1, because="of five words, the number that is chosen should differ from "
             "call to call: has each of them a coin of its own? Count them")
    )  # fmt: skip

    plain = torch.zeros(3, 5, 7, dtype=torch.bool)
    ids = rng.integers(0, V, 3, 5, 7)
    yield ruled("three axes", ids, plain, V, mask_id, 0.5, weight=0.5)
    yield ruled("everything is special", ids, ~plain, V, mask_id, 0.9, weight=0.5)
    yield (
        call("fifteen in a hundred unless told", torch.full((20_000,), 1), torch.zeros(20_000, dtype=torch.bool), 3, 3,
             rng.generator(), grad=False, weight=0.5)
        .law("has_parts", count=2)
        .law("chosen_one_by_one", p=0.15, axis=0, because="without p, 15 % of the words should be chosen")
        .laws_only()
    )  # fmt: skip
    coin = rng.generator()
    because = "called twice with equal generators, it should answer the same: where else does chance come from?"
    yield (
        call("chance comes from the generator", ids, plain, V, mask_id, coin, 0.5, grad=False)
        .call(ids, plain, V, mask_id, coin, 0.5, on="answer", into="again")
        .law("equal", of="out", to="again", because=because)
        .laws_only()
        .counts_with("every label its word")
    )


def _coin(like, generator):
    return torch.rand(like.shape, generator=generator)


def _fated(ids, chosen, vocab_size, mask_id, generator, mask_share=0.8, word_share=0.1):
    fate, words = _coin(ids, generator), torch.randint(vocab_size, ids.shape, generator=generator)
    inputs = torch.where(chosen & (fate < mask_share), mask_id, ids)
    return torch.where(chosen & (fate >= mask_share) & (fate < mask_share + word_share), words, inputs)


def _labels(ids, chosen):
    return torch.where(chosen, ids, -100)


@mlm_corrupt.misconception("Count the tokens that changed. It should be about 90 % of those with a label, not of all.")
def fates_for_all(ids, special, vocab_size, mask_id, generator, p=0.15):
    chosen = (_coin(ids, generator) < p) & ~special
    return _fated(ids, ~special, vocab_size, mask_id, generator), _labels(ids, chosen)


@mlm_corrupt.misconception("Whom do you ask for? A label other than -100 stands only where a token was chosen.")
def labels_everywhere(ids, special, vocab_size, mask_id, generator, p=0.15):
    chosen = (_coin(ids, generator) < p) & ~special
    return _fated(ids, chosen, vocab_size, mask_id, generator), ids.clone()


@mlm_corrupt.misconception("Mark the first and the last token as special and corrupt with p = 1. What becomes of them?")
def special_tokens_hit(ids, special, vocab_size, mask_id, generator, p=0.15):
    chosen = _coin(ids, generator) < p
    return _fated(ids, chosen, vocab_size, mask_id, generator), _labels(ids, chosen)


@mlm_corrupt.misconception("How many tokens of a sentence are chosen: some of them, or always all or none?")
def one_coin_a_sentence(ids, special, vocab_size, mask_id, generator, p=0.15):
    coin = torch.rand(*ids.shape[:-1], 1, generator=generator) if ids.ndim > 1 else _coin(ids, generator)
    chosen = (coin.expand(ids.shape) < p) & ~special
    return _fated(ids, chosen, vocab_size, mask_id, generator), _labels(ids, chosen)


@mlm_corrupt.misconception("Compare the chosen places of two sentences of the batch. Do they have to agree?")
def same_places_in_all_sentences(ids, special, vocab_size, mask_id, generator, p=0.15):
    coin = torch.rand(ids.shape[-1], generator=generator)
    chosen = (coin.expand(ids.shape) < p) & ~special
    return _fated(ids, chosen, vocab_size, mask_id, generator), _labels(ids, chosen)


@mlm_corrupt.misconception("Count the chosen tokens sentence by sentence. Is it always the same number?")
def an_exact_share(ids, special, vocab_size, mask_id, generator, p=0.15):
    order = _coin(ids, generator).argsort(-1).argsort(-1)
    chosen = (order < round(p * ids.shape[-1])) & ~special
    return _fated(ids, chosen, vocab_size, mask_id, generator), _labels(ids, chosen)


@mlm_corrupt.misconception("Are all chosen tokens masks? Two in ten should not be: count them.")
def always_the_mask(ids, special, vocab_size, mask_id, generator, p=0.15):
    chosen = (_coin(ids, generator) < p) & ~special
    return torch.where(chosen, mask_id, ids), _labels(ids, chosen)


@mlm_corrupt.misconception("Of the chosen tokens, how many stay as they were? One in ten should.")
def none_stays(ids, special, vocab_size, mask_id, generator, p=0.15):
    chosen = (_coin(ids, generator) < p) & ~special
    return _fated(ids, chosen, vocab_size, mask_id, generator, word_share=0.2), _labels(ids, chosen)


@mlm_corrupt.misconception("Of the chosen tokens, how many become another word, neither mask nor themselves?")
def no_other_words(ids, special, vocab_size, mask_id, generator, p=0.15):
    chosen = (_coin(ids, generator) < p) & ~special
    return _fated(ids, chosen, vocab_size, mask_id, generator, word_share=0.0), _labels(ids, chosen)


@mlm_corrupt.misconception("The chosen tokens that stay: do you ask for them? The model must not know which they are.")
def stayed_and_not_asked_for(ids, special, vocab_size, mask_id, generator, p=0.15):
    inputs, _ = reference.mlm_corrupt(ids, special, vocab_size, mask_id, generator, p)
    return inputs, _labels(ids, inputs != ids)


@mlm_corrupt.misconception(
    "You ask for the words behind masks alone. A word that was exchanged, or left: should the model not name it, too?"
)
def only_masks_asked_for(ids, special, vocab_size, mask_id, generator, p=0.15):
    inputs, _ = reference.mlm_corrupt(ids, special, vocab_size, mask_id, generator, p)
    return inputs, _labels(ids, inputs == mask_id)


@mlm_corrupt.misconception(
    "10 % of all, or 10 % of what the masks have left over? Count the chosen tokens that became another word."
)
def ten_percent_of_the_rest(ids, special, vocab_size, mask_id, generator, p=0.15):
    chosen = (_coin(ids, generator) < p) & ~special
    return _fated(ids, chosen, vocab_size, mask_id, generator, word_share=0.02), _labels(ids, chosen)


@mlm_corrupt.misconception(
    "Of the chosen tokens, how many are masks? May one that was made a mask still become a word?"
)
def words_drawn_over_masks(ids, special, vocab_size, mask_id, generator, p=0.15):
    chosen = (_coin(ids, generator) < p) & ~special
    inputs = torch.where(chosen & (_coin(ids, generator) < 0.8), mask_id, ids)
    words = torch.randint(vocab_size, ids.shape, generator=generator)
    return torch.where(chosen & (_coin(ids, generator) < 0.1), words, inputs), _labels(ids, chosen)


@mlm_corrupt.misconception(
    "Corrupt with p = 0.15 and count the masks. Does the number that chose a token also decide what becomes of it?"
)
def one_number_for_two_questions(ids, special, vocab_size, mask_id, generator, p=0.15):
    coin, words = _coin(ids, generator), torch.randint(vocab_size, ids.shape, generator=generator)
    chosen = (coin < p) & ~special
    inputs = torch.where(chosen & (coin < 0.8), mask_id, ids)
    return torch.where(chosen & (coin >= 0.8) & (coin < 0.9), words, inputs), _labels(ids, chosen)


@mlm_corrupt.misconception("Ask for p = 0.9. Are nine in ten chosen, or one in ten?")
def the_others_chosen(ids, special, vocab_size, mask_id, generator, p=0.15):
    return reference.mlm_corrupt(ids, special, vocab_size, mask_id, generator, 1 - p)


@mlm_corrupt.misconception("Print the tokens that you choose. Are they words, or those that `special` marks?")
def only_special_tokens(ids, special, vocab_size, mask_id, generator, p=0.15):
    return reference.mlm_corrupt(ids, ~special, vocab_size, mask_id, generator, p)


@mlm_corrupt.misconception("Tally the words that took another's place. Is each of the vocabulary's among them?")
def last_word_never_drawn(ids, special, vocab_size, mask_id, generator, p=0.15):
    return reference.mlm_corrupt(ids, special, vocab_size - 1, mask_id, generator, p)


@mlm_corrupt.misconception(
    "Tally the words that took another's place, where the mask is word 2 of five. Which are missing?"
)
def words_below_the_mask_only(ids, special, vocab_size, mask_id, generator, p=0.15):
    return reference.mlm_corrupt(ids, special, mask_id, mask_id, generator, p)


@mlm_corrupt.misconception("Look at the first chosen tokens, and at the last ones. Do the same things become of them?")
def fates_in_a_row(ids, special, vocab_size, mask_id, generator, p=0.15):
    chosen = (_coin(ids, generator) < p) & ~special
    places = chosen.flatten().nonzero().flatten()
    masks, words = int(0.8 * len(places)), int(0.9 * len(places))
    inputs = ids.flatten().clone()
    inputs[places[:masks]] = mask_id
    inputs[places[masks:words]] = torch.randint(vocab_size, (words - masks,), generator=generator)
    return inputs.view_as(ids), _labels(ids, chosen)


@mlm_corrupt.misconception("Which number does the loss leave out? Print a label of yours that nobody asks for.")
def zero_where_nothing_is_asked(ids, special, vocab_size, mask_id, generator, p=0.15):
    inputs, labels = reference.mlm_corrupt(ids, special, vocab_size, mask_id, generator, p)
    return inputs, labels.clamp(min=0)


@mlm_corrupt.misconception("Which word should the model find, the one that was there or the one it is shown?")
def labels_after_corruption(ids, special, vocab_size, mask_id, generator, p=0.15):
    inputs, labels = reference.mlm_corrupt(ids, special, vocab_size, mask_id, generator, p)
    return inputs, torch.where(labels >= 0, inputs, -100)


@mlm_corrupt.misconception("Print both things that you return. Which of the two should be the model's inputs?")
def labels_returned_first(ids, special, vocab_size, mask_id, generator, p=0.15):
    inputs, labels = reference.mlm_corrupt(ids, special, vocab_size, mask_id, generator, p)
    return labels, inputs


@mlm_corrupt.misconception("Ask for p = 0.9. How many are chosen?")
def always_fifteen_percent(ids, special, vocab_size, mask_id, generator, p=0.15):
    return reference.mlm_corrupt(ids, special, vocab_size, mask_id, generator)


@mlm_corrupt.misconception("Collect the words that took another's place. Is it always the same one?")
def one_word_for_all(ids, special, vocab_size, mask_id, generator, p=0.15):
    inputs, labels = reference.mlm_corrupt(ids, special, vocab_size, mask_id, generator, p)
    replaced = (inputs != ids) & (inputs != mask_id)
    return torch.where(replaced, 2 % vocab_size, inputs), labels


@mlm_corrupt.misconception("Tally the words that took another's place. Is each of the vocabulary's among them?")
def word_zero_never_drawn(ids, special, vocab_size, mask_id, generator, p=0.15):
    chosen = (_coin(ids, generator) < p) & ~special
    fate, words = _coin(ids, generator), torch.randint(1, vocab_size, ids.shape, generator=generator)
    inputs = torch.where(chosen & (fate < 0.8), mask_id, ids)
    return torch.where(chosen & (fate >= 0.8) & (fate < 0.9), words, inputs), _labels(ids, chosen)


@mlm_corrupt.misconception("Call it twice with generators of one seed. The same result? Where does chance come from?")
def the_global_dice(ids, special, vocab_size, mask_id, generator, p=0.15):
    return reference.mlm_corrupt(ids, special, vocab_size, mask_id, torch.default_generator, p)


# -- finding leaks ---------------------------------------------------------------------------------------------------


@exercise(
    reference.leaks_future,
    hints=(
        "Take a model that adds up the words so far, and one that adds up all. What do you change, and compare?",
        "After changing ids[:, 3:], which outputs must stay as they were? Does output 3 belong to them?",
        "A leak may show at one place only, and only in one sentence. At how many places do you cut?",
    ),
)
def leaks_future(rng):
    """Models that peek at once or from afar, at one place, in one sentence, invisibly to sums; and ones that do not."""
    V, K, B, T = 7, 5, 3, 7
    E = rng.normal(V, K)
    ids = (
        rng.permutation(V) + torch.arange(B)[:, None]
    ) % V  # every word occurs, and each sentence begins with its own

    honest = "the mean of the words so far", "the word before"
    peeking = "the mean of all words", "the first sees the last"

    def asked(title, name, ids=ids, leaks=True, **parameters):
        """Who says the same of every model has answered nothing: each answer counts together with two of the other."""
        options = {key: parameters.pop(key) for key in ("public", "weight") if key in parameters}
        case = call(title, stand_in(name, E=E, **parameters), ids, grad=False, **options)
        return case.counts_with(*(honest if leaks else peeking))

    yield asked("the mean of the words so far", "mean_so_far", leaks=False, public=True)
    yield asked("the mean of all words", "mean_of_all", public=True)
    yield asked("one word ahead", "looking_ahead", by=1, public=True)
    yield asked("each word alone", "looking_ahead", leaks=False, by=0)
    yield asked("the word before", "looking_ahead", leaks=False, by=-1)
    yield asked("two words ahead", "looking_ahead", by=2)
    yield asked("the first sees the last", "peeking_at", place=0, seen=T - 1)
    yield asked("the second sees the third", "peeking_at", place=1, seen=2)
    yield asked("the third sees the fourth", "peeking_at", place=2, seen=3)
    yield asked("the last but one sees the last", "peeking_at", place=T - 2, seen=T - 1)
    yield asked("a leak in the last sentence", "peeking_sentence", first=int(ids[-1, 0]))
    yield asked("a leak that adds up to nothing", "balanced_peek")
    yield asked("rounding", "mean_of_all", leaks=False, size=1e-8)
    yield asked("a look of a thousandth", "mean_of_all", size=1e-3)
    lower, loud = ids.clone(), E.clone()
    lower[:, -1] = ids[1, 0]

    def ending(title, last, weight, place=0):
        ends = torch.cat([ids[:, :-1], last.expand(B, 1)], 1)
        return asked(title, "peeking_at", ids=ends, place=place, seen=T - 1, weight=weight)

    for word in range(V):  # whoever puts one word into every future leaves one of these futures as it is
        yield ending(f"three sentences that end with word {word}", torch.tensor([[word]]), 0.25)
    yield ending("sentences that end as they begin", ids[:, :1], 0.5)
    yield ending("sentences that end with a word said twice", ids[:, -2:-1], 0.5, place=T - 2)
    loud[ids[1, 0]] = E.amax(0) + 1  # whatever takes its place, every number falls
    lowers = call("a leak that only lowers", stand_in("peeking_at", E=loud, place=0, seen=T - 1), lower, grad=False)
    yield lowers.counts_with(*honest)
    yield asked("a batch of one sentence", "mean_of_all", ids=ids[:1])
    few = 4 * (ids % 2) + 1
    yield asked("a model that knows only these words", "mean_so_far", ids=few, leaks=False, known=few.unique())
    yield asked("a text of one word", "mean_of_all", ids=ids[:, :1].clone(), leaks=False, weight=0.5)


def _other_words(ids):
    """Every word replaced by the next of those that occur."""
    known = ids.unique()
    return known[(torch.searchsorted(known, ids.contiguous()) + 1) % len(known)]


def _random_words(ids, seed=1):
    """Every word replaced by a random other one of those that occur."""
    known = ids.unique()
    drawn = torch.randint(1, max(len(known), 2), ids.shape, generator=torch.Generator().manual_seed(seed))
    return known[(torch.searchsorted(known, ids.contiguous()) + drawn) % len(known)]


def _leaks(model_fn, ids, *, change=_random_words, cuts=None, own=0, measure=None, times=3):
    """The search with its choices laid open."""
    measure = measure or (lambda change: float(change.abs().max()) > 1e-5)
    before = model_fn(ids)
    for cut in range(1, ids.shape[1]) if cuts is None else cuts(ids.shape[1]):
        for _ in range(times):
            changed = ids.clone()
            changed[:, cut:] = change(ids)[:, cut:]
            differences = (model_fn(changed) - before)[:, : cut + own]
            if differences.numel() and measure(differences):
                return True
    return False


@leaks_future.misconception("You change words, and the outputs *at* those words change. Is that a leak?")
def all_outputs_compared(model_fn, ids):
    changed = ids.clone()
    changed[:, -1] = _other_words(ids)[:, -1] if ids.shape[1] > 1 else (ids[:, -1] + 1) % 7
    return not torch.allclose(model_fn(changed), model_fn(ids), atol=1e-5)


@leaks_future.misconception("Place t may see ids[:, t]. Which is the first output that must not move?")
def own_word_taken_for_future(model_fn, ids):
    return _leaks(model_fn, ids, own=1)


@leaks_future.misconception(
    "You change words from one place on. Which is the last output that must not move? Do you look at it?"
)
def last_output_before_the_cut_left_out(model_fn, ids):
    return _leaks(model_fn, ids, own=-1)


@leaks_future.misconception("A model that peeks only at its first places, or only at its last: do you find it?")
def one_cut_in_the_middle(model_fn, ids):
    return _leaks(model_fn, ids, cuts=lambda T: [T // 2] if T > 1 else [])


@leaks_future.misconception(
    "A model whose second place sees the third, and nobody else peeks: does the last word tell?"
)
def only_the_last_word_changed(model_fn, ids):
    return _leaks(model_fn, ids, cuts=lambda T: [T - 1] if T > 1 else [])


@leaks_future.misconception("A leak may show at any place. How many outputs do you look at?")
def only_the_first_output(model_fn, ids):
    return _leaks(model_fn, ids, cuts=lambda T: [1] if T > 1 else [])


@leaks_future.misconception(
    "A computer adds in another order and gets 1e-8 more. Is that a look into the future? How near is equal?"
)
def rounding_taken_for_a_leak(model_fn, ids):
    return _leaks(model_fn, ids, measure=lambda change: bool((change != 0).any()))


@leaks_future.misconception(
    "Yours finds no leak anywhere. For the mean of all words, print both outputs that you compare."
)
def finds_nothing(model_fn, ids):
    model_fn(ids)
    return False


@leaks_future.misconception("Every number falls, none rises. Is that a change? Print what you compare with 1e-5.")
def changes_below_zero_ignored(model_fn, ids):
    return _leaks(model_fn, ids, measure=lambda change: float(change.max()) > 1e-5)


@leaks_future.misconception(
    "Try a batch of one sentence, then three that end with the same word. What has changed in the future you put in?"
)
def future_of_another_sentence(model_fn, ids):
    return _leaks(model_fn, ids, change=lambda ids: ids.roll(1, 0), times=1)


@leaks_future.misconception(
    "Which word do you put into the future? Does it occur in ids at all, and what changes where it stands already?"
)
def zero_for_the_future(model_fn, ids):
    return _leaks(model_fn, ids, change=torch.zeros_like, times=1)


@leaks_future.misconception(
    "Which word do you put into the future? Try sentences that end with that very word: what has changed?"
)
def smallest_word_for_the_future(model_fn, ids):
    return _leaks(model_fn, ids, change=lambda ids: ids.min().expand_as(ids), times=1)


@leaks_future.misconception(
    "Which word do you put into the future? Try sentences that end with that very word: what has changed?"
)
def largest_word_for_the_future(model_fn, ids):
    return _leaks(model_fn, ids, change=lambda ids: ids.max().expand_as(ids), times=1)


@leaks_future.misconception(
    "Which word do you put into the future of a sentence? Try one that ends with the word it began with."
)
def first_word_for_the_future(model_fn, ids):
    return _leaks(model_fn, ids, change=lambda ids: ids[:, :1].expand_as(ids), times=1)


@leaks_future.misconception("The same words in another order: does the mean of all words notice?")
def future_only_reordered(model_fn, ids):
    before = model_fn(ids)
    for cut in range(1, ids.shape[1]):
        after = model_fn(torch.cat([ids[:, :cut], ids[:, cut:].flip(1)], 1))
        if not torch.allclose(after[:, :cut], before[:, :cut], atol=1e-5):
            return True
    return False


@leaks_future.misconception("A leak may show in one sentence of the batch only. How many do you look at?")
def only_the_first_sentence(model_fn, ids):
    return _leaks(lambda ids: model_fn(ids)[:1], ids)


@leaks_future.misconception("One number rises by 3 and another falls by 3. What is the mean of the changes?")
def changes_that_cancel(model_fn, ids):
    return _leaks(model_fn, ids, measure=lambda change: float(change.sum(-1).abs().max()) > 1e-5)


@leaks_future.misconception("A model that leaks should give True. Try the mean of all words.")
def says_whether_it_is_honest(model_fn, ids):
    return not reference.leaks_future(model_fn, ids)


@leaks_future.misconception(
    "Whoever looks back is no cheat. Which side of the cut do you change, which do you compare?"
)
def the_past_changed(model_fn, ids):
    before = model_fn(ids)
    for cut in range(1, ids.shape[1]):
        changed = ids.clone()
        changed[:, :cut] = _random_words(ids)[:, :cut]
        if not torch.allclose(model_fn(changed)[:, cut:], before[:, cut:], atol=1e-5):
            return True
    return False


@leaks_future.misconception("Where do your new words come from? This model knows only those that occur in ids.")
def words_from_outside(model_fn, ids):
    return _leaks(model_fn, ids, change=lambda ids: _random_words(ids) if len(ids.unique()) > 2 else ids + 1)


# -- the task --------------------------------------------------------------------------------------------------------

MARGIN = 0.25
"""Nats a word above the source. Ten trained models end 0.08 to 0.15 above it; those that look at one word, 0.36."""
WORDS = 12
"""Places that the judge asks about: nine sentences in ten are no longer."""


class TheSource:
    """The grammar itself as a language model: what an honest model can at best be."""

    def __call__(self, ids, lengths):
        return _source(ids)


def _source(ids):
    """log p of the next word at every place of ids (B, T) that begin with a full stop: (B, T, V)."""
    return _source_for(tuple(map(tuple, ids.tolist()))).clone()


@lru_cache(maxsize=64)
def _source_for(rows):
    p = grammar.language().next_word(torch.tensor(rows)[:, 1:])
    return p.clamp(min=1e-12).log().float()


@lru_cache(maxsize=64)
def held_out(count, seed):
    """Sentences of the judge's own, cut after `WORDS` words: ids (B, T + 1), lengths (B,)."""
    drawn = grammar.language().draw_sentences(count, torch.Generator().manual_seed(seed))
    return grammar.padded([sentence[:WORDS] for sentence in drawn])


def asked_everywhere(count, seed):
    """Whole sentences at once, as in training: inputs, their lengths, targets (B, T), and each sentence's true loss."""
    ids, lengths = held_out(count, seed)
    real = torch.arange(ids.shape[1] - 1) < (lengths - 1)[:, None]
    inputs, targets = ids[:, :-1].clone(), torch.where(real, ids[:, 1:], -100)
    losses = -_source(inputs).double().gather(-1, targets.clamp(min=0)[..., None]).squeeze(-1)
    return inputs, lengths - 1, targets, (losses * real).sum(1)


def asked_once(count, seed):
    """One word a sentence, the first that the model is not given: what follows the cut is other words, at random."""
    inputs, lengths, targets, _ = asked_everywhere(count, seed)
    dice = torch.Generator().manual_seed(seed)
    last = (torch.rand(count, generator=dice) * lengths).long()  # the last place that is given
    given = torch.arange(inputs.shape[1]) <= last[:, None]
    noise = torch.randint(1, len(grammar.language().words), inputs.shape, generator=dice)
    inputs = torch.where(given, inputs, noise)
    targets = torch.full_like(targets, -100).scatter(1, last[:, None], targets.gather(1, last[:, None]))
    best = -_source(inputs).double()[torch.arange(count), last].gather(1, targets.amax(1, keepdim=True)).squeeze(1)
    return inputs, last + 1, targets, best


KNOWS = "no worse than the bare frequencies, of 60 sentences"
"""The case that shows that a model has learned anything: a constant looks neither ahead nor back."""
LEAK = (
    "better than the source itself, and nobody can be: at some place your model sees the word it is to guess. Ask "
    "leaks_future"
)


@exercise(
    TheSource(),
    name="masking_task",
    hints=(
        "Print a row of inputs and one of targets as words, below each other. What should be said at each place?",
        "Nobody can honestly get below 2.59 a word. Above 3.0 the model looks at one word only. Where is your loss?",
        "Run leaks_future on your model before training it: a leak is in the model, not in its weights.",
    ),
)
def masking_task(rng):
    """Prefixes that end before their target, with noise behind; whole sentences, where a leak shows; the leak itself.

    Two layers of four heads, width 64, over ten seeds: see tests/training/test_masking_task.py.
    """
    english = grammar.language()
    V = len(english.words)

    def prefixes(title, count, **options):
        """A case for sentences cut short, without a law, then these, and what the source itself loses on each."""
        inputs, lengths, targets, best = asked_once(count, rng.seed())
        case = given_model(title, **options).call(inputs, lengths, into="logits").laws_only()
        return case, (inputs, lengths, targets, best)

    def at_most(case, targets, best, margin, known=None):
        known = best if known is None else known
        case = case.law("log_loss_at_most", of="logits", targets=targets, known=known, margin=margin)
        return case.law("no_better_than", of="logits", targets=targets, best=best, because=LEAK)

    def sentences(title, count, **options):
        inputs, lengths, targets, best = asked_everywhere(count, rng.seed())
        case = given_model(title, **options).call(inputs, lengths, into="logits")
        return (
            case.law("no_better_than", of="logits", targets=targets, best=best, because=LEAK)
            .laws_only()
            .counts_with(KNOWS)
        )

    def changed(title, kept, first, because, **options):
        """Words from `first` on exchanged: what the model says at the first `kept` places must not move."""
        ids = rng.integers(1, V, 13, WORDS)
        ids[:, 0] = english.ids[grammar.STOP]
        other = torch.cat([ids[:, :first], rng.integers(1, V, 13, WORDS - first)], dim=1)
        lengths = torch.full((13,), WORDS)
        return (
            given_model(title, **options)
            .call(ids, lengths, into="first")
            .call(other, lengths, into="second")
            .law("equal_up_to", of="first", to="second", count=kept, within=1e-3, because=because)
            .laws_only()
            .counts_with(KNOWS)
        )

    def frequencies(words):
        return -english.frequencies.clamp(min=1e-12).log()[words]

    def less(case, of, inputs, lengths, targets, best, weights=(0.1, 0.1, 0.1, 0.1, 0.1)):
        """The same answers by laxer bars, and whether they say again what was read: this tells mistakes apart."""
        words = targets.amax(1)
        nothing = torch.full((len(targets),), math.log(V), dtype=torch.float64)
        last = inputs.gather(1, lengths[:, None] - 1)
        again = torch.full_like(targets, -100).scatter(1, lengths[:, None] - 1, last)
        bars = (
            ("better than the bare frequencies", -0.4, frequencies(words)),
            ("no worse than the bare frequencies", 0.03, frequencies(words)),
            ("hardly worse than knowing nothing", 1.5, nothing),
            ("not beyond all measure", 2000.0, nothing),
        )
        for (title, margin, known), weight in zip(bars, weights, strict=False):
            rung = at_most(case.judged_again(title + of, weight=weight), targets, best, margin, known)
            yield rung if rung.title == KNOWS else rung.counts_with(KNOWS)
        because = "your model says the word again that it has just read: write inputs and targets below each other"
        yield case.judged_again(f"what was said is not said again{of}", weight=weights[-1]).law(
            "log_loss_at_least", of="logits", targets=again, known=frequencies(last.squeeze(1)), margin=-0.5,
            because=because,
        ).counts_with(KNOWS)  # fmt: skip

    later = "words that come later change what your model says now: who may look at whom?"
    much_later = "words far in the future change what your model says now: is there any causal mask?"
    some, drawn = prefixes("60 sentences cut short: the next word", 60, public=True)
    yield at_most(some, *drawn[2:], MARGIN + 0.7)
    yield from less(some, ", of 60 sentences", *drawn)
    yield sentences("40 whole sentences: no better than the source", 40, public=True)
    whole, _, _, _ = asked_everywhere(20, rng.seed())
    yield (
        given_model("scores, not probabilities", public=True, weight=0.25)
        .call(whole[:, :3], torch.full((20,), 3), into="logits")
        .law("no_probabilities", of="logits")
        .laws_only()
        .counts_with(KNOWS)
    )
    yield changed("blind to the far future", 3, 8, much_later, weight=0.5, public=True)
    yield rest_hidden
    title = f"the next word, at most {MARGIN} above the source"
    new, drawn = prefixes(title, 600, weight=3.0)
    yield at_most(new, *drawn[2:], MARGIN)
    yield at_most(new.judged_again("the next word, at most 0.6 above the source"), *drawn[2:], 0.6)
    yield from less(new, "", *drawn, weights=(0.1, 1.0, 0.4, 0.1, 0.5))
    yield sentences("whole sentences: no better than the source", 300)
    yield changed("blind to the future", 6, 6, later, weight=1.0)


class Pretended:
    """A model of the kind that a mistake leaves behind: logits by a function of ids and lengths."""

    def __init__(self, logits):
        self.logits = logits

    def __call__(self, ids, lengths):
        return self.logits(ids, lengths)


def _certain(words):
    """Nothing but these words, (B, T) -> logits (B, T, V)."""
    return 20.0 * F.one_hot(words, len(grammar.language().words)).float()


def _sees(ids, lengths, reach):
    """Certain of the next word where it can be seen; where nothing is left to see, nearly so of something silly."""
    nothing_left = torch.arange(ids.shape[1]) >= lengths[:, None] - 1
    seen = torch.where(nothing_left, torch.zeros_like(ids), ids.roll(-1, 1))
    further = sum(_count(ids.roll(-k, 1)) for k in range(1, reach + 1))
    further[:, -reach:] = 0.0
    return torch.where(nothing_left[..., None], 0.45, 1.0) * _certain(seen) + further


def _count(ids):
    return F.one_hot(ids, len(grammar.language().words)).float()


def _mixed(ids, trust):
    """Between the source and its bare frequencies."""
    frequencies = grammar.language().frequencies.float()
    return (trust * _source(ids).exp() + (1 - trust) * frequencies).clamp(min=1e-9).log()


def _one_word(ids):
    """What follows a word, whatever came before it."""
    once = grammar.language().next_word(torch.arange(len(grammar.language().words))[:, None], running=True)[:, 1]
    return (0.98 * once + 0.02 * grammar.language().frequencies).clamp(min=1e-9).log().float()[ids]


masking_task.misconception(
    "Too good: better than the source itself, and far worse as soon as the text ends before the word it is to guess. "
    "Your model looks at the answer. Draw its attention weights: is there anything above the diagonal?",
    name="sees_the_whole_sentence",
)(Pretended(lambda ids, lengths: _sees(ids, lengths, ids.shape[1] - 1)))

masking_task.misconception(
    "Too good: better than the source itself, and blind once the text ends. It does not look far ahead, one word is "
    "enough. Print row 0 of the mask that your model really uses: how many words does it allow?",
    name="sees_one_word_ahead",
)(Pretended(lambda ids, lengths: _sees(ids, lengths, 1)))

masking_task.misconception(
    "It predicts as well as an honest model, and still the future moves what it says now. A mean or a norm over the "
    "words of a sentence, perhaps? Over which axis?",
    name="future_leaks_through_a_mean",
)(Pretended(lambda ids, lengths: _mixed(ids, 0.97) + 0.3 * _count(ids).mean(1, keepdim=True)))

masking_task.misconception(
    "Your model says the word that it has just read. Write a row of inputs and a row of targets below each other: "
    "should they be the same?",
    name="says_what_it_reads",
)(Pretended(lambda ids, lengths: _certain(ids)))

masking_task.misconception(
    "It does worse than knowing nothing. Was it trained at all? If so, on another question: write a row of inputs "
    "and a row of targets below each other, one place a column. And does your loss get scores, or probabilities?",
    name="another_question",
)(Pretended(lambda ids, lengths: _certain(torch.zeros_like(ids))))

masking_task.misconception(
    "Sure of itself beyond all measure, and wrong. Was the loss once smaller than at the end? How large is a step, and "
    "are the gradients of earlier batches still in it?",
    name="diverged",
)(Pretended(lambda ids, lengths: 1e4 * _certain(torch.zeros_like(ids))))

masking_task.misconception(
    "What your model returns sums to one. What does your loss do with it: does it take scores, or probabilities?",
    name="softmax_in_the_model",
)(Pretended(lambda ids, lengths: _source(ids).exp()))

masking_task.misconception(
    "It guesses as if it knew nothing of this language. Do its parameters move in a step? If they do, write a row of "
    "inputs and a row of targets below each other, one place a column: is that the question?",
    name="never_trained",
)(Pretended(lambda ids, lengths: 0.0 * _count(ids)))

masking_task.misconception(
    "Whoever knows how frequent each word is, and reads nothing, does as well. Does the loss still fall at the end? If "
    "not: does a gradient reach the embedding?",
    name="frequencies_alone",
)(Pretended(lambda ids, lengths: _mixed(ids, 0.0)))

masking_task.misconception(
    "It predicts as well as one can from a single word. What does the attention of the last place look at?",
    name="looks_at_one_word",
)(Pretended(lambda ids, lengths: _one_word(ids)))

masking_task.misconception(
    "On the right track, and not there yet. Was the loss still falling at the end of the curve? How large is a step?",
    name="stopped_on_the_way",
)(Pretended(lambda ids, lengths: _mixed(ids, 0.35)))

masking_task.misconception(
    "It has learned more than how frequent the words are, and not much more. Was the loss still falling at the end of "
    "the curve? How large is a step?",
    name="stopped_soon",
)(Pretended(lambda ids, lengths: _mixed(ids, 0.12)))
