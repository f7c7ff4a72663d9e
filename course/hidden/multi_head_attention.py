"""Examiner's notes on several heads: cutting and joining, attention in heads, the layer, its size, two relations.

B, T, S, the number of heads and the width of one are distinct primes, so that no axis can stand in for another; the
matrices are scaled so that softmax is neither flat nor hard. Square cases, and a batch as large as the number of heads,
show what such shapes hide.
"""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F

from course.data import relations
from course.exercise import build, call, exercise, given_model, noncontiguous
from course.reference import multi_head_attention as reference

FORBIDDEN = (
    *("F.scaled_dot_product_attention", "nn.MultiheadAttention", "F.multi_head_attention_forward"),
    "blocks.MultiHeadAttention",
)
FLOAT32 = 1e-4
"""rtol = atol for a layer: its parameters are float32 unless somebody says otherwise."""


# -- splitting -------------------------------------------------------------------------------------------------------


@exercise(
    reference.split_heads,
    hints=(
        "Let x[0, t, c] be 10 t + c for 3 words of width 4. Which numbers belong to head 0 of word 2? Where are yours?",
        "Change the vector of one word. At which places, in which heads, may the result change?",
        "Two steps: cut the last axis in two, then put the axes into the order asked for. Print the shape after each.",
    ),
)
def split_heads(rng):
    """Values are compared, so every number has to be in its place; T = h and T = d hide an exchange of axes."""
    yield call("two heads", rng.normal(3, 7, 10), 2, public=True, weight=2.0)
    yield call("five heads of three columns", rng.normal(2, 7, 15), 5, public=True, weight=2.0)
    yield call("one head", rng.normal(2, 5, 3), 1, weight=0.5)
    yield call("as many heads as columns", rng.normal(2, 3, 5), 5)
    yield call("as many words as heads, as wide as a head", rng.normal(2, 3, 9), 3)
    yield call("a single word", rng.normal(2, 1, 6), 3)
    yield call("a batch of one", rng.normal(1, 5, 6), 2)
    yield call("float32", rng.normal(2, 5, 21, dtype=torch.float32), 7)
    yield call("memory that is not contiguous", noncontiguous(rng.normal(2, 3, 10)), 5, public=True)
    yield call("four heads for a width of six", rng.normal(2, 3, 6), 4, raises="ValueError")


def _divisible(D, n_heads):
    if D % n_heads:
        raise ValueError(f"{n_heads} heads, width {D}")


@split_heads.misconception(
    "Change the vector of one word: which places of your result change? A head should see all words, not some of them."
)
def reshaped_without_transposing(x, n_heads):
    B, T, D = x.shape
    _divisible(D, n_heads)
    return x.reshape(B, n_heads, T, D // n_heads)


@split_heads.misconception(
    "Which columns does head 0 get of a width of 6 and two heads? Neighbours belong together: 0, 1, 2.",
    convention="heads interleaved, column c belongs to head c mod h",
)
def interleaved(x, n_heads):
    _divisible(x.shape[-1], n_heads)
    return x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)


@split_heads.misconception(
    "Compare your shape with (B, h, T, D/h). The head axis has to stand where matrix products take it for a batch axis."
)
def heads_left_behind_the_words(x, n_heads):
    _divisible(x.shape[-1], n_heads)
    return x.unflatten(-1, (n_heads, -1))


@split_heads.misconception("Which axis comes first in your result? The batch stays first, the heads come second.")
def heads_before_the_batch(x, n_heads):
    _divisible(x.shape[-1], n_heads)
    return torch.stack(x.chunk(n_heads, dim=-1))


@split_heads.misconception(
    "Two heads, width 10: how wide is one head? Print the last axis of your result for one head, where nothing is cut."
)
def as_many_columns_as_heads(x, n_heads):
    _divisible(x.shape[-1], n_heads)
    return x.unflatten(-1, (-1, n_heads)).transpose(1, 2)


@split_heads.misconception("Words are rows, also within a head: which of the last two axes counts the words in yours?")
def words_and_columns_exchanged(x, n_heads):
    _divisible(x.shape[-1], n_heads)
    return x.unflatten(-1, (n_heads, -1)).permute(0, 2, 3, 1)


@split_heads.misconception(
    "Let x[0, t, c] be 10 t + c. Whose numbers stand in the first row of head 0? Only one word's belong there."
)
def transposed_before_it_is_cut(x, n_heads):
    B, T, D = x.shape
    _divisible(D, n_heads)
    return x.mT.reshape(B, n_heads, T, D // n_heads)


@split_heads.misconception(
    "Count the axes that are asked for, (B, h, T, D/h). Can you still say which sentence a head of yours belongs to?",
    convention="heads folded into the batch, (B·h, T, D/h)",
)
def heads_folded_into_the_batch(x, n_heads):
    _divisible(x.shape[-1], n_heads)
    return reference.split_heads(x, n_heads).flatten(0, 1)


@split_heads.misconception(
    "Split a width of 6 among 4 heads. How many columns are in your result, and where did the rest go?"
)
def remainder_dropped(x, n_heads):
    d = x.shape[-1] // n_heads
    return reference.split_heads(x[..., : n_heads * d], n_heads)


@split_heads.misconception("How many numbers went in, and how many came out? The heads share the width of a word.")
def every_head_gets_everything(x, n_heads):
    _divisible(x.shape[-1], n_heads)
    return x[:, None].expand(-1, n_heads, -1, -1)


# -- merging ---------------------------------------------------------------------------------------------------------


@exercise(
    reference.merge_heads,
    hints=(
        "What is merge_heads(split_heads(x, h)) for any x and any h?",
        "Fill head i with the number i. What should one word's merged vector look like, from left to right?",
        "Which two axes are to become one, and do they stand beside each other, in the right order?",
    ),
)
def merge_heads(rng):
    """As above, the other way round."""
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


@merge_heads.misconception("How wide was a word before it was split? What each head found has a place of its own.")
def heads_added(x):
    return x.sum(1)


@merge_heads.misconception("How wide was a word before it was split? A mean would have to forget who said what.")
def heads_averaged(x):
    return x.mean(1)


@merge_heads.misconception("How many words went in, and how many come out? Heads are put side by side, not in a queue.")
def heads_in_a_queue(x):
    return x.flatten(1, 2)


@merge_heads.misconception(
    "What came in is (B, h, T, d). Which of these axes counts the words, and where is it in yours?"
)
def words_side_by_side(x):
    return x.flatten(2)


@merge_heads.misconception("Split four columns into two heads and merge them again. Which columns have changed places?")
def last_head_first(x):
    return reference.merge_heads(x.flip(1))


@merge_heads.misconception("The shape asked for is (B, T, D). Two axes of yours are still to become one.")
def never_joined(x):
    return x.transpose(1, 2)


# -- attention in heads ----------------------------------------------------------------------------------------------


@exercise(
    reference.multi_head_attention,
    shown=(1,),
    hints=(
        "Print the shapes on the way: projected words, split words, scores, weights, findings of heads, merged words.",
        "With one head this must be topic 06, followed by W_o. With two, compute the second one alone, by hand.",
        "Set W_o to zero, then W_v, then all x_kv. What should the output be each time, and what is it?",
        "Allow each query one key only. What are the weights then? And when a query may see nothing?",
    ),
    forbidden=FORBIDDEN,
)
def multi_head_attention(rng):
    """One head to D heads, masks of every broadcastable shape, noise behind the mask, a query that may see nothing."""

    def inputs(B, T, S, h, d, dtype=torch.float64):
        D = h * d
        matrices = (rng.normal(D, D, dtype=dtype) / D**0.5 for _ in range(4))
        return rng.normal(B, T, D, dtype=dtype), rng.normal(B, S, D, dtype=dtype), *matrices, h

    def some(*shape):
        allowed = rng.uniform(*shape) > 0.4
        allowed[..., 0], allowed[..., -1] = True, False
        return allowed

    yield call("two heads", *inputs(3, 5, 7, 2, 3), public=True, weight=3.0)
    yield call("three heads and a mask", *inputs(2, 5, 7, 3, 2), mask=some(2, 1, 5, 7), public=True, weight=2.0)
    yield call("as many queries as keys", *inputs(2, 5, 5, 3, 7), weight=2.0)
    yield call("five heads, one mask for all", *inputs(3, 2, 7, 5, 2), mask=some(2, 7), weight=2.0)
    yield call("one head", *inputs(2, 3, 5, 1, 7))
    yield call("as many heads as columns", *inputs(2, 3, 7, 5, 1))
    yield call("as many sentences as heads, a mask for each", *inputs(3, 5, 5, 3, 3), mask=some(3, 1, 5, 5))
    yield call("a mask for every head", *inputs(2, 3, 5, 2, 3), mask=some(2, 2, 3, 5))
    x_q, x_kv, *matrices, h = inputs(3, 5, 7, 2, 5)
    padding = torch.arange(7) < torch.tensor([6, 4, 1])[:, None]  # an inverted row is no empty one
    loud = torch.where(padding[..., None], x_kv, 30 * x_kv.flip(0))
    yield call("shorter sentences, noise behind the mask", x_q, loud, *matrices, h, mask=padding[:, None, None])
    mask = some(2, 1, 5, 3)
    mask[1, :, 2] = False
    yield call("a query that may look at nothing", *inputs(2, 5, 3, 2, 3), mask=mask, grad=False)
    yield call("a single query", *inputs(2, 1, 5, 3, 2))
    yield call("a batch of one", *inputs(1, 3, 7, 2, 5))
    yield call("float32", *inputs(2, 3, 5, 2, 7, dtype=torch.float32))
    *tensors, h = inputs(2, 3, 5, 3, 2)
    yield call("memory that is not contiguous", *(noncontiguous(tensor) for tensor in tensors), h, public=True)
    yield call("five heads for a width of six", *inputs(2, 3, 7, 2, 3)[:6], 5, raises="ValueError")


def _split(x, h):
    return reference.split_heads(x, h)


def _project(x_q, x_kv, W_q, W_k, W_v, h, split=_split):
    return split(x_q @ W_q.T, h), split(x_kv @ W_k.T, h), split(x_kv @ W_v.T, h)


def _weigh(q, k, mask=None, root=None, dim=-1):
    """Weights of heads, (B, h, T, S); `root` divides the scores."""
    scores = q @ k.mT / (root or q.shape[-1] ** 0.5)
    if mask is None:
        return scores.softmax(dim)
    return scores.masked_fill(~mask, -1e30).softmax(dim).masked_fill(~mask, 0.0)


def _scaled_by(root):
    def attention(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
        q, k, v = _project(x_q, x_kv, W_q, W_k, W_v, n_heads)
        weights = _weigh(q, k, mask, root(q, n_heads))
        return reference.merge_heads(weights @ v) @ W_o.T, weights

    return attention


multi_head_attention.misconception(
    "How many products are summed in one score, inside a head? Is that the width of the word?",
    name="scaled_by_the_width_of_the_word",
)(_scaled_by(lambda q, h: (h * q.shape[-1]) ** 0.5))

multi_head_attention.misconception(
    "What is the variance of a score inside a head? Remember what 1 / sqrt(D) was for in topic 06.",
    name="scores_left_unscaled",
)(_scaled_by(lambda q, h: 1.0))

multi_head_attention.misconception(
    "How many products are summed in one score, inside a head? Is that how many heads there are?",
    name="scaled_by_the_number_of_heads",
)(_scaled_by(lambda q, h: h**0.5))

multi_head_attention.misconception(
    "A sum of d products of unit variance has variance d. What is its standard deviation?",
    name="scaled_by_the_width_of_a_head_without_the_root",
)(_scaled_by(lambda q, h: float(q.shape[-1])))


multi_head_attention.misconception(
    "The wider a head, the more products a score adds up. Do your scores become calmer with that, or wilder?",
    name="scores_multiplied_by_the_root",
)(_scaled_by(lambda q, h: q.shape[-1] ** -0.5))


def _softmax_over(dim, weigh=_weigh):
    def attention(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
        q, k, v = _project(x_q, x_kv, W_q, W_k, W_v, n_heads)
        weights = weigh(q, k, mask, dim=dim)
        return reference.merge_heads(weights @ v) @ W_o.T, weights

    return attention


def _weigh_what_is_filled_with(lowest):
    """Weights where what is forbidden is filled before the softmax, and nothing is done behind it."""

    def weigh(q, k, mask, dim):
        scores = q @ k.mT / q.shape[-1] ** 0.5
        return (scores if mask is None else scores.masked_fill(~mask, lowest)).softmax(dim)

    return weigh


for _way, _weighs in {
    "": _weigh,
    "_where_a_billion_is_taken_off": _weigh_what_is_filled_with(-1e9),
    "_where_infinity_is_taken_off": _weigh_what_is_filled_with(-math.inf),
}.items():
    multi_head_attention.misconception(
        "Over which axis do your weights sum to one? Heads do not compete: each distributes its attention over the "
        "words.",
        name="softmax_over_the_heads" + _way,
    )(_softmax_over(1, _weighs))

    multi_head_attention.misconception(
        "Sum your weights over the last axis. Who distributes attention, the one who asks or the one who is asked?",
        name="softmax_over_the_queries" + _way,
    )(_softmax_over(2, _weighs))


def _split_with(split, merge=reference.merge_heads):
    def attention(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
        _divisible(x_q.shape[-1], n_heads)
        q, k, v = _project(x_q, x_kv, W_q, W_k, W_v, n_heads, split)
        weights = _weigh(q, k, mask)
        return merge(weights @ v) @ W_o.T, weights

    return attention


multi_head_attention.misconception(
    "Change one word of x_kv. In which columns of your weights, and in which heads, does something move?",
    name="split_by_reshaping",
)(_split_with(reshaped_without_transposing))

multi_head_attention.misconception(
    "Change one word of x_q. How many words of the output change, and how many should?",
    name="merged_by_reshaping",
)(_split_with(_split, reshaped_without_transposing_back))

multi_head_attention.misconception(
    "The shape comes back right, and no head has ever seen all the words. Which words does head 0 compare?",
    name="split_and_merged_by_reshaping",
)(_split_with(reshaped_without_transposing, reshaped_without_transposing_back))

multi_head_attention.misconception(
    "Heads own neighbouring columns: with width 6 and two heads, the first has columns 0, 1 and 2.",
    convention="heads interleaved, column c belongs to head c mod h",
    name="heads_interleaved",
)(_split_with(interleaved, merged_in_turns))

multi_head_attention.misconception(
    "Exchange the two halves of W_v's rows, so that two heads trade their values. Should the output stay the same?",
    name="mean_of_the_heads",
)(_split_with(_split, lambda found: found.mean(1).repeat(1, 1, found.shape[1])))

multi_head_attention.misconception(
    "How many different patterns of weights do your heads show? Each has its own share of W_q, W_k and W_v.",
    name="one_share_for_all_heads",
)(_split_with(lambda x, h: _split(x, h)[:, :1].expand(-1, h, -1, -1)))


@multi_head_attention.misconception("Set W_o to zero. What should come out, and what does?")
def W_o_forgotten(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    q, k, v = _project(x_q, x_kv, W_q, W_k, W_v, n_heads)
    weights = _weigh(q, k, mask)
    return reference.merge_heads(weights @ v), weights


@multi_head_attention.misconception(
    "W_o mixes what *different* heads have found. Where do their findings stand side by side for the first time?"
)
def W_o_before_merging(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    q, k, v = _project(x_q, x_kv, W_q, W_k, W_o @ W_v, n_heads)
    weights = _weigh(q, k, mask)
    return reference.merge_heads(weights @ v), weights


@multi_head_attention.misconception(
    "A weight is stored (out, in), for W_o as for the others: how is it applied to words?"
)
def W_o_not_transposed(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    return reference.multi_head_attention(x_q, x_kv, W_q, W_k, W_v, W_o.T, n_heads, mask)


@multi_head_attention.misconception(
    "A weight is stored (out, in), for the projections as for W_o: how do words meet such a matrix?"
)
def projections_not_transposed(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    return reference.multi_head_attention(x_q, x_kv, W_q.T, W_k.T, W_v.T, W_o, n_heads, mask)


@multi_head_attention.misconception("Weights are stored (out, in). How do words meet such a matrix?")
def no_weight_transposed(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    return reference.multi_head_attention(x_q, x_kv, W_q.T, W_k.T, W_v.T, W_o.T, n_heads, mask)


@multi_head_attention.misconception("Set x_q to zero: every query is the same then. Are the rows of your weights?")
def queries_from_x_kv(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    return reference.multi_head_attention(x_kv, x_kv, W_q, W_k, W_v, W_o, n_heads, mask)


@multi_head_attention.misconception(
    "With 5 words in x_q and 7 in x_kv: how many rows has your output? Each word that asks gets one."
)
def asking_and_asked_exchanged(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    return reference.multi_head_attention(x_kv, x_q, W_q, W_k, W_v, W_o, n_heads, mask)


@multi_head_attention.misconception("Set x_kv to zero: there is nothing to be heard. What does your output say then?")
def everything_from_x_q(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    return reference.multi_head_attention(x_q, x_q, W_q, W_k, W_v, W_o, n_heads, mask)


@multi_head_attention.misconception("Set W_v to zero: the output should vanish. Which matrix makes the values?")
def keys_and_values_exchanged(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    return reference.multi_head_attention(x_q, x_kv, W_q, W_v, W_k, W_o, n_heads, mask)


@multi_head_attention.misconception(
    "Run it with one head and with two, and the same weights. Should the two outputs be equal? Are yours?"
)
def one_head_of_full_width(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    _divisible(x_q.shape[-1], n_heads)
    q, k, v = _project(x_q, x_kv, W_q, W_k, W_v, 1)
    mask = None if mask is None else mask.expand(len(x_q), n_heads, -1, -1)[:, :1]
    weights = _weigh(q, k, mask)
    return reference.merge_heads(weights @ v) @ W_o.T, weights.expand(-1, n_heads, -1, -1)


@multi_head_attention.misconception("Allow one key only. Who gets the weight, that key or all the others?")
def mask_inverted(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    inverted = None if mask is None else ~mask
    return reference.multi_head_attention(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, inverted)


@multi_head_attention.misconception("Forbid a key and print its weight. Where does your computation look at the mask?")
def mask_ignored(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    return reference.multi_head_attention(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads)


def _masked_by(weigh):
    def attention(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
        q, k, v = _project(x_q, x_kv, W_q, W_k, W_v, n_heads)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        weights = scores.softmax(-1) if mask is None else weigh(scores, mask)
        return reference.merge_heads(weights @ v) @ W_o.T, weights

    return attention


multi_head_attention.misconception(
    "In yours a forbidden key has the score 0. What is exp(0), and what does softmax give it?",
    name="forbidden_scores_set_to_zero",
)(_masked_by(lambda scores, mask: (scores * mask).softmax(-1)))

multi_head_attention.misconception(
    "What is True in a sum? Forbid a key: by how much does its score change, and by how much its weight?",
    name="mask_added_as_a_number",
)(_masked_by(lambda scores, mask: (scores + mask).softmax(-1)))

multi_head_attention.misconception(
    "Forbid a key and sum a row of your weights: is it still one? Who should get what the forbidden key lost?",
    name="forbidden_weights_set_to_zero",
)(_masked_by(lambda scores, mask: scores.softmax(-1) * mask))

multi_head_attention.misconception(
    "A query that may look at nothing: what are its weights in yours, and what should be left of them?",
    name="nothing_allowed_looks_at_everything",
)(_masked_by(lambda scores, mask: scores.masked_fill(~mask, -1e9).softmax(-1)))

multi_head_attention.misconception(
    "A query that may look at nothing: exp(−∞) is 0, their sum is 0, and 0 / 0 is?",
    name="nothing_allowed_is_not_a_number",
)(_masked_by(lambda scores, mask: scores.masked_fill(~mask, -math.inf).softmax(-1)))


multi_head_attention.misconception(
    "What is 0 · ∞? Print what you add to the scores, where a key is allowed.",
    name="zero_times_infinity_is_not_a_number",
)(_masked_by(lambda scores, mask: (scores + ~mask * -math.inf).softmax(-1)))


@multi_head_attention.misconception("Sum a row of your weights. Was it one right behind the softmax?")
def scaled_after_the_softmax(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    q, k, v = _project(x_q, x_kv, W_q, W_k, W_v, n_heads)
    root = q.shape[-1] ** 0.5
    weights = _weigh(q, k, mask, 1.0) / root
    return reference.merge_heads(weights @ v) @ W_o.T, weights


def _scores_for_weights(lowest):
    def attention(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
        out, _ = reference.multi_head_attention(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask)
        q, k, _ = _project(x_q, x_kv, W_q, W_k, W_v, n_heads)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        return out, scores if mask is None else scores.masked_fill(~mask, lowest)

    return attention


for _name, _lowest in {"scores_for_weights": -1e9, "scores_with_infinities_for_weights": -math.inf}.items():
    multi_head_attention.misconception(
        "Sum a row of what you return as weights: is it one? The output may well be right; what stands beside it?",
        name=_name,
    )(_scores_for_weights(_lowest))


@multi_head_attention.misconception("Who looked where? The weights of every head are asked for, (B, h, T, S).")
def weights_averaged(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    out, weights = reference.multi_head_attention(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask)
    return out, weights.mean(1)


@multi_head_attention.misconception(
    "Set x_kv to zero: the output should vanish. The words themselves are not part of it."
)
def words_added(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    out, weights = reference.multi_head_attention(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask)
    return x_q + out, weights


# -- the layer -------------------------------------------------------------------------------------------------------


@exercise(
    reference.MultiHeadAttention,
    shown=(1,),
    hints=(
        "Copy your layer's four matrices (bias=False) into multi_head_attention: do both give the same?",
        "Print the names and shapes in nn.MultiheadAttention(6, 2).state_dict(). What is three times as tall as yours?",
        "Give the thirds of in_proj_weight very different sizes, load them, and print the sizes of your matrices.",
        "Compare with nn.MultiheadAttention(6, 2, batch_first=True) after load_torch: first without a bias, then with.",
    ),
    forbidden=FORBIDDEN,
)
def MultiHeadAttention(rng):
    """The judge's own weights, by name and through load_torch; biases never zero; every gradient."""

    def words(B, T, S, D):
        drawn = (rng.normal(B, length, D, dtype=torch.float32) for length in (T, S))
        return [x.requires_grad_() for x in drawn]

    def noise(*shape):
        return rng.normal(*shape, dtype=torch.float32) / shape[-1] ** 0.5

    def named(D, bias=True):
        layers = ("W_q", "W_k", "W_v", "W_o")
        state = {f"{layer}.weight": noise(D, D) for layer in layers}
        return state | ({f"{layer}.bias": rng.normal(D, dtype=torch.float32) for layer in layers} if bias else {})

    def exported(D, bias=True):
        state = {"in_proj_weight": noise(3 * D, D), "out_proj.weight": noise(D, D)}
        biases = {
            "in_proj_bias": rng.normal(3 * D, dtype=torch.float32),
            "out_proj.bias": rng.normal(D, dtype=torch.float32),
        }
        return state | (biases if bias else {})

    def layer(title, D, h, bias=True, **options):
        weights = named(D, bias)
        return build(title, D, h, *([] if bias else [False]), tolerance=FLOAT32, **options).load(weights)

    def from_torch(title, D, h, bias=True, **options):
        # what load_torch returns is nobody's business: the next call takes its place among the outputs
        return layer(title, D, h, bias, **options).call(exported(D, bias), method="load_torch")

    def learns(case, *words):
        return case.call(*words).gradients().call(*words, into="again").gradients("again", "parameters")

    yield learns(layer("two heads", 6, 2, public=True, weight=3.0), *words(3, 5, 7, 6))
    yield from_torch("weights of torch's layer", 6, 3, public=True, weight=2.0).call(*words(2, 5, 7, 6))
    mask = rng.uniform(2, 1, 5, 7) > 0.4
    mask[..., 0], mask[..., -1] = True, False
    yield layer("a mask", 6, 3, public=True).call(*words(2, 5, 7, 6), mask)
    yield learns(layer("five heads", 10, 5, weight=2.0), *words(2, 3, 7, 10))
    yield layer("as many queries as keys", 6, 3).call(*words(2, 5, 5, 6))
    yield learns(layer("without biases", 10, 2, False), *words(3, 5, 7, 10))
    yield layer("one head", 5, 1).call(*words(2, 3, 7, 5))
    yield learns(from_torch("weights of torch's layer, five heads", 10, 5, weight=2.0), *words(2, 3, 7, 10))
    yield from_torch("weights of torch's layer without biases", 6, 2, False).call(*words(3, 5, 7, 6))
    nothing = mask.clone()
    nothing[1, :, 3] = False
    yield layer("a query that may look at nothing", 6, 2).call(*(x.detach() for x in words(2, 5, 7, 6)), nothing)
    yield layer("in training", 6, 3).train().call(*words(2, 5, 7, 6))
    yield build("four heads for a width of six", 6, 4, raises="ValueError")


class _Layer(reference.MultiHeadAttention):
    """The reference's; its `load_torch` returns nothing, as most people's does."""

    def load_torch(self, state):
        super().load_torch(state)


def _layer(attend=None, load=None):
    """A layer that differs from the reference in how it attends, or in how it loads."""

    class Layer(_Layer):
        def forward(self, x_q, x_kv, mask=None):
            return (attend or reference.MultiHeadAttention.forward)(self, x_q, x_kv, mask)

        @torch.no_grad()
        def load_torch(self, state):
            (load or reference.MultiHeadAttention.load_torch)(self, state)

    return Layer


def _inside(layer, x_q, x_kv, mask, split=_split, merge=reference.merge_heads, root=None):
    q, k, v = (split(W(x), layer.n_heads) for W, x in ((layer.W_q, x_q), (layer.W_k, x_kv), (layer.W_v, x_kv)))
    weights = _weigh(q, k, mask, root)
    return layer.W_o(merge(weights @ v)), weights


def _copy(layer, state, order="qkv", transposed=False, biases=True, out=True):
    """The exported thirds, in some order, into W_q, W_k and W_v."""
    targets = [getattr(layer, f"W_{letter}") for letter in order]
    for target, weight in zip(targets, state["in_proj_weight"].chunk(3), strict=True):
        target.weight.copy_(weight.T if transposed else weight)
    if out:
        layer.W_o.weight.copy_(state["out_proj.weight"].T if transposed else state["out_proj.weight"])
    if "in_proj_bias" in state and biases:
        for target, bias in zip(targets, state["in_proj_bias"].chunk(3), strict=True):
            target.bias.copy_(bias)
        if out:
            layer.W_o.bias.copy_(state["out_proj.bias"])


MultiHeadAttention.misconception(
    "Give the three thirds very different sizes and compare with torch's own layer: who comes first, second, third?",
    name="thirds_in_another_order",
)(_layer(load=lambda layer, state: _copy(layer, state, "kqv")))

MultiHeadAttention.misconception(
    "Load in_proj_weight with thirds of zeros, ones and twos. Which of your matrices is which afterwards?",
    name="keys_and_values_exchanged_when_loading",
)(_layer(load=lambda layer, state: _copy(layer, state, "qvk")))

MultiHeadAttention.misconception(
    "torch's matrices are stored (out, in), and so are those of nn.Linear. What has to be turned?",
    name="loaded_transposed",
)(_layer(load=lambda layer, state: _copy(layer, state, transposed=True)))

MultiHeadAttention.misconception(
    "Print the names in the state. How many of them does your method read?",
    name="biases_not_loaded",
)(_layer(load=lambda layer, state: _copy(layer, state, biases=False)))

MultiHeadAttention.misconception(
    "The state has an out_proj. What is it called in your layer, and what is in it after loading?",
    name="W_o_not_loaded",
)(_layer(load=lambda layer, state: _copy(layer, state, out=False)))

MultiHeadAttention.misconception(
    "Load a state and print your W_q before and after. Did a number change?",
    name="nothing_loaded",
)(_layer(load=lambda layer, state: None))


def _dealt_out(layer, state):
    """The rows read as (head, q k v, column), as some fused layers store them."""
    h = layer.n_heads
    regrouped = dict(state)
    for name in ("in_proj_weight", "in_proj_bias"):
        if name in state:
            regrouped[name] = state[name].unflatten(0, (h, 3, -1)).transpose(0, 1).flatten(0, 2)
    _copy(layer, regrouped)


MultiHeadAttention.misconception(
    "Number the rows of in_proj_weight. Which of them are queries, all heads together?",
    convention="fused rows grouped by head, each head's q, k and v together",
    name="thirds_grouped_by_head",
)(_layer(load=_dealt_out))

MultiHeadAttention.misconception(
    "Set x_kv to zero: there is nothing to be heard. Should the output depend on x_q then?",
    name="only_self_attention",
)(_layer(lambda layer, x_q, x_kv, mask: _inside(layer, x_q, x_q, mask)))

MultiHeadAttention.misconception(
    "Set x_q to zero: every query is the same then. Are the rows of your weights?",
    name="layer_asks_with_x_kv",
)(_layer(lambda layer, x_q, x_kv, mask: _inside(layer, x_kv, x_kv, mask)))

MultiHeadAttention.misconception(
    "How many products are summed in one score, inside a head? Is that the width of the word?",
    name="layer_scaled_by_the_width_of_the_word",
)(_layer(lambda layer, x_q, x_kv, mask: _inside(layer, x_q, x_kv, mask, root=x_q.shape[-1] ** 0.5)))

MultiHeadAttention.misconception(
    "What is the variance of a score inside a head? Remember what 1 / sqrt(D) was for in topic 06.",
    name="layer_leaves_scores_unscaled",
)(_layer(lambda layer, x_q, x_kv, mask: _inside(layer, x_q, x_kv, mask, root=1.0)))

MultiHeadAttention.misconception(
    "Heads own neighbouring columns: with width 6 and two heads, the first has columns 0, 1 and 2.",
    convention="heads interleaved, column c belongs to head c mod h",
    name="layer_interleaves_its_heads",
)(_layer(lambda layer, x_q, x_kv, mask: _inside(layer, x_q, x_kv, mask, interleaved, merged_in_turns)))

MultiHeadAttention.misconception(
    "Change one word of x_kv. In which columns of your weights does something move? Your split_heads passed its check.",
    name="layer_split_by_reshaping",
)(_layer(lambda layer, x_q, x_kv, mask: _inside(layer, x_q, x_kv, mask, reshaped_without_transposing)))

MultiHeadAttention.misconception(
    "Change one word of x_q. How many words of the output change? Your merge_heads passed its check.",
    name="layer_merged_by_reshaping",
)(_layer(lambda layer, x_q, x_kv, mask: _inside(layer, x_q, x_kv, mask, _split, reshaped_without_transposing_back)))

MultiHeadAttention.misconception(
    "Forbid a key and print its weight. Does the mask reach your heads?", name="layer_ignores_the_mask"
)(_layer(lambda layer, x_q, x_kv, mask: _inside(layer, x_q, x_kv, None)))


def _gives_an_empty_row(fill):
    """A layer that fills the scores of what is forbidden, and leaves it at that."""

    def attend(layer, x_q, x_kv, mask):
        q, k, v = (_split(W(x), layer.n_heads) for W, x in ((layer.W_q, x_q), (layer.W_k, x_kv), (layer.W_v, x_kv)))
        scores = q @ k.mT / q.shape[-1] ** 0.5
        weights = (scores if mask is None else scores.masked_fill(~mask, fill)).softmax(-1)
        return layer.W_o(reference.merge_heads(weights @ v)), weights

    return _layer(attend)


MultiHeadAttention.misconception(
    "A query that may look at nothing: what are its weights in yours, and what should be left of them?",
    name="layer_looks_at_everything_where_nothing_is_allowed",
)(_gives_an_empty_row(-1e9))

MultiHeadAttention.misconception(
    "A query that may look at nothing: exp(−∞) is 0, their sum is 0, and 0 / 0 is?",
    name="layer_is_not_a_number_where_nothing_is_allowed",
)(_gives_an_empty_row(-math.inf))

MultiHeadAttention.misconception(
    "Allow one key only. Who gets the weight?",
    convention="True forbids, as in nn.MultiheadAttention's attn_mask",
    name="layer_takes_True_for_forbidden",
)(_layer(lambda layer, x_q, x_kv, mask: _inside(layer, x_q, x_kv, None if mask is None else ~mask)))


@MultiHeadAttention.misconception("Who looked where? The weights of every head are asked for, (B, h, T, S).")
class AveragesItsWeights(_Layer):
    def forward(self, x_q, x_kv, mask=None):
        out, weights = super().forward(x_q, x_kv, mask)
        return out, weights.mean(1)


@MultiHeadAttention.misconception("Set x_kv, W_v's bias and W_o's bias to zero. Should the output depend on x_q then?")
class AddsTheWordsThemselves(_Layer):
    def forward(self, x_q, x_kv, mask=None):
        out, weights = super().forward(x_q, x_kv, mask)
        return x_q + out, weights


@MultiHeadAttention.misconception("Print W_o's bias before load_torch and after it. Did its numbers change?")
class KeepsItsOwnBiasOfW_o(_Layer):
    def load_torch(self, state):
        kept = None if self.W_o.bias is None else self.W_o.bias.detach().clone()
        super().load_torch(state)
        if kept is not None:
            self.W_o.bias.data = kept


@MultiHeadAttention.misconception("Set W_o's weight and bias to zero. What should come out, and what does?")
class LeavesOutW_o(_Layer):
    def forward(self, x_q, x_kv, mask=None):
        q, k, v = (_split(W(x), self.n_heads) for W, x in ((self.W_q, x_q), (self.W_k, x_kv), (self.W_v, x_kv)))
        weights = _weigh(q, k, mask)
        return reference.merge_heads(weights @ v), weights


@MultiHeadAttention.misconception("Ask for bias=False, then list the names of your parameters.")
class AlwaysHasBiases(_Layer):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__(d_model, n_heads)  # the runner's seed draws the same biases in most layers that have them


@MultiHeadAttention.misconception("Fill the biases with ones. Which of them makes a difference to your result?")
class BiasesNeverUsed(_Layer):
    def forward(self, x_q, x_kv, mask=None):
        matrices = (W.weight for W in (self.W_q, self.W_k, self.W_v, self.W_o))
        return reference.multi_head_attention(x_q, x_kv, *matrices, self.n_heads, mask)


@MultiHeadAttention.misconception("Ask for bias=True, then list the names of your parameters.")
class NeverHasBiases(_Layer):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__(d_model, n_heads, bias=False)


@MultiHeadAttention.misconception("Make a layer of width 6 with 4 heads. When do you want to hear that this cannot be?")
class AcceptsAnyNumberOfHeads(_Layer):
    def __init__(self, d_model, n_heads, bias=True):
        nn.Module.__init__(self)
        self.n_heads = n_heads
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=bias) for _ in range(4))


# -- its size --------------------------------------------------------------------------------------------------------


@exercise(
    reference.multi_head_parameters,
    hints=(
        "Count them in a real layer: sum(p.numel() for p in MultiHeadAttention(6, 2).parameters()).",
        "Now the same with three heads, and with one. And which part of the sum is missing without biases?",
    ),
)
def multi_head_parameters(rng):
    """The paper's layer, BERT's, narrow ones; the number of heads changes nothing, and must divide."""
    yield call("the paper's layer, no biases", 512, 8, False, public=True)
    yield call("BERT-Base, with biases", 768, 12, True, public=True)
    yield call("one head, with biases", 512, 1, True)
    yield call("five heads", 35, 5, True)
    yield call("as many heads as columns", 11, 11, False)
    yield call("a width of one", 1, 1, True)
    heads, d = rng.choice([2, 3, 5]), rng.choice([7, 11, 13])
    yield call("some heads of some width", heads * d, heads, rng.choice([True, False]))
    yield call("five heads for a width of twelve", 12, 5, True, raises="ValueError")


@multi_head_parameters.misconception(
    "How wide is one head of eight in a layer of width 512? Do the heads get 512 each?"
)
def full_width_for_every_head(d_model, n_heads, bias):
    _divisible(d_model, n_heads)
    return 4 * n_heads * d_model * (d_model + bias)


@multi_head_parameters.misconception("That is the share of one head. How many heads are there?")
def one_head_alone(d_model, n_heads, bias):
    _divisible(d_model, n_heads)
    return 4 * (d_model // n_heads) * (d_model + bias)


@multi_head_parameters.misconception(
    "Does a head read its own share of the word, or the whole word? Compare with the shape of W_q.weight."
)
def heads_read_their_share_only(d_model, n_heads, bias):
    _divisible(d_model, n_heads)
    d = d_model // n_heads
    return 3 * n_heads * d * (d + bias) + d_model * (d_model + bias)


@multi_head_parameters.misconception(
    "How many columns has W_q.weight? A head of your count reads no more of a word than its own share."
)
def heads_read_and_write_their_share_only(d_model, n_heads, bias):
    _divisible(d_model, n_heads)
    d = d_model // n_heads
    return 4 * n_heads * d * (d + bias)


@multi_head_parameters.misconception("List the names of your layer's parameters. How many matrices are there?")
def W_o_not_counted(d_model, n_heads, bias):
    _divisible(d_model, n_heads)
    return 3 * d_model * (d_model + bias)


@multi_head_parameters.misconception("List the names of your layer's parameters, with bias=True and with bias=False.")
def biases_never_counted(d_model, n_heads, bias):
    _divisible(d_model, n_heads)
    return 4 * d_model * d_model


@multi_head_parameters.misconception("List the names of your layer's parameters, with bias=True and with bias=False.")
def biases_always_counted(d_model, n_heads, bias):
    _divisible(d_model, n_heads)
    return 4 * d_model * (d_model + 1)


@multi_head_parameters.misconception("Print the shape of a linear layer's bias. Is it one number?")
def one_number_for_a_bias(d_model, n_heads, bias):
    _divisible(d_model, n_heads)
    return 4 * (d_model * d_model + bool(bias))


@multi_head_parameters.misconception("How many of your four linear layers have a bias of their own?")
def one_bias_for_all_four(d_model, n_heads, bias):
    _divisible(d_model, n_heads)
    return 4 * d_model * d_model + d_model * bias


@multi_head_parameters.misconception("Which of your four linear layers has no bias? And how long is a bias?")
def bias_of_W_o_forgotten(d_model, n_heads, bias):
    _divisible(d_model, n_heads)
    return 4 * d_model * d_model + 3 * d_model * bias


@multi_head_parameters.misconception("Is there a layer of width 12 with 5 heads? What would yours say?")
def any_number_of_heads(d_model, n_heads, bias):
    return 4 * d_model * (d_model + bias)


# -- the task --------------------------------------------------------------------------------------------------------


@exercise(
    reference.relations_by_hand,
    name="multi_head_attention_task",
    hints=(
        "Print the share of right answers for friends and for rivals apart. 10 % is guessing a number.",
        "One question right and the other below 30 %: how many heads does your layer have? Do both of them look?",
        "Both questions at 30 %: does every word still know who it is, after splitting and merging?",
        "Draw the weights of both heads for one playground. Does any head look at friends?",
    ),
    forbidden=FORBIDDEN,
)
def multi_head_attention_task(rng):
    """Playgrounds of the judge's own, each question apart. Two heads: 99.9 %; one: one question right, one guessed."""

    def playgrounds(n, children=relations.CHILDREN):
        return relations.draw(n, torch.Generator().manual_seed(rng.seed()), children)

    def asked(title, drawn, bar, question=None, **options):
        *seen, answers = drawn
        return (
            given_model(title, **options)
            .call(*seen, into="logits")
            .law("accuracy_at_least", of="logits", targets=only(question, answers), bar=bar)
            .laws_only()
        )

    def only(question, answers):
        """The answers to one question, -1 for those to the other, which are not counted; None counts both."""
        targets = answers.clone()
        if question is not None:
            targets[..., 1 - question] = -1
        return targets.flatten()

    some = playgrounds(250)
    first = asked("the friend's number", some, 0.98, 0, public=True)
    yield first
    yield first.judged_again("the rival's number", targets=only(1, some[-1]))
    both = only(None, some[-1])
    for what, question in (("friends", 0), ("rivals", 1)):
        targets = only(question, some[-1])
        yield first.judged_again(f"four of five {what}, of these", targets=targets, bar=0.8, weight=0.1)
        yield first.judged_again(f"more {what} than one head gets besides", targets=targets, bar=0.27, weight=0.1)
    yield first.judged_again("more than half of all the answers", targets=both, bar=0.51, weight=0.1)
    yield first.judged_again("more answers than by guessing", targets=both, bar=0.2, weight=0.1)
    many = playgrounds(1000)
    friends, rivals, both = (only(question, many[-1]) for question in (0, 1, None))
    first = asked("a thousand other playgrounds, friends", many, 0.98, 0, weight=2.0)
    yield first
    yield first.judged_again("a thousand other playgrounds, rivals", targets=rivals, weight=2.0)
    yield first.judged_again("four of five friends' numbers", targets=friends, bar=0.8)
    yield first.judged_again("four of five rivals' numbers", targets=rivals, bar=0.8)
    yield first.judged_again("both questions, better than half", targets=both, bar=0.51, weight=0.5)
    yield first.judged_again("both questions, better than guessing", targets=both, bar=0.2, weight=0.5)
    yield asked("sixteen children, as never in training", playgrounds(250, 16), 0.95)

    names, numbers, friends, rivals, _ = playgrounds(50)
    changes = {
        "other numbers, other answers": (names, (numbers + 1) % 10, friends, rivals),
        "friends and rivals exchanged, other answers": (names, numbers, rivals, friends),
    }
    for title, changed in changes.items():
        yield (
            given_model(title, public=True, weight=0.1)
            .call(names, numbers, friends, rivals, into="before")
            .call(*changed, into="after")
            .law("different", of="before", to="after", within=1e-3, because="the answers stay the same")
            .laws_only()
        )
    *seen, answers = playgrounds(50)
    other = answers.flip(-1).flatten()
    because = "what is answered is the other question"
    yield (
        given_model("not the other question's answers", public=True, weight=0.1)
        .call(*seen, into="logits")
        .law("log_loss_at_least", of="logits", targets=other, known=0.0 * other, margin=1.0, because=because)
        .laws_only()
    )


def _numbers(names, numbers, whom):
    """Scores for what those children wear, and no doubt about it: (B, S, 10)."""
    where = (names[:, None] == whom[..., None]).int().argmax(-1)
    return 10.0 * F.one_hot(numbers.gather(1, where), len(relations.NUMBERS))


@multi_head_attention_task.misconception(
    "No better than guessing. Does the loss fall, or does it jump about? Do the parameters move in a step, and how far?"
)
def never_trained(names, numbers, friends, rivals):
    # any numbers that have nothing to do with the question, though they change with it
    noise = torch.stack([names + 3 * numbers + 5 * friends + 7 * rivals, names + 7 * friends + 5 * rivals], dim=2)
    return torch.cos((noise + 1)[..., None] * (1.0 + torch.arange(len(relations.NUMBERS), device=names.device)))


@multi_head_attention_task.misconception(
    "Your model answers the same whatever it reads. Print its scores for two children: is anything different?"
)
def the_same_for_everybody(names, numbers, friends, rivals):
    return torch.linspace(1.0, 0.0, len(relations.NUMBERS)).expand(*names.shape, 2, -1)


@multi_head_attention_task.misconception(
    "One question is answered, the other is not: one pattern of attention serves one purpose. How many do you have?"
)
def knows_friends_only(names, numbers, friends, rivals):
    friend = _numbers(names, numbers, friends)
    return torch.stack([friend, friend], dim=2)


@multi_head_attention_task.misconception(
    "One question is answered, the other is not: one pattern of attention serves one purpose. How many do you have?"
)
def knows_rivals_only(names, numbers, friends, rivals):
    rival = _numbers(names, numbers, rivals)
    return torch.stack([rival, rival], dim=2)


def _mostly(known, names):
    """What one head learns of its question: right for all children but one in twenty-six."""
    return torch.where((names == 0)[..., None, None], known.roll(1, dims=-1), known)


@multi_head_attention_task.misconception(
    "One question is answered, the other is not: one pattern of attention serves one purpose. How many do you have?"
)
def knows_friends_mostly(names, numbers, friends, rivals):
    return _mostly(knows_friends_only(names, numbers, friends, rivals), names)


@multi_head_attention_task.misconception(
    "One question is answered, the other is not: one pattern of attention serves one purpose. How many do you have?"
)
def knows_rivals_mostly(names, numbers, friends, rivals):
    return _mostly(knows_rivals_only(names, numbers, friends, rivals), names)


def _half_as_well(question):
    """What training has come to where one question goes faster than the other: nearly right, and half right."""

    def on_the_way(names, numbers, friends, rivals):
        both = torch.stack([_numbers(names, numbers, friends), _numbers(names, numbers, rivals)], dim=2)
        behind = (names % 2 == 0)[..., None, None] & (torch.arange(2, device=names.device) == question)[:, None]
        return torch.where(behind | (names == 1)[..., None, None], both.roll(1, dims=-1), both)

    return on_the_way


for _name, _question in {"friends_are_behind": 0, "rivals_are_behind": 1}.items():
    multi_head_attention_task.misconception(
        "One question is nearly answered, the other on the way. Was the loss still falling at the end of the curve?",
        name=_name,
    )(_half_as_well(_question))


@multi_head_attention_task.misconception(
    "A little better than guessing. Does the loss still fall at the end of the curve? Do all parameters move in a step?"
)
def has_hardly_begun(names, numbers, friends, rivals):
    both = torch.stack([_numbers(names, numbers, friends), _numbers(names, numbers, rivals)], dim=2)
    lucky = (names < 6)[..., None, None]  # of twenty-six
    return torch.where(lucky, both, both.roll(1, dims=-1))


@multi_head_attention_task.misconception(
    "Nearly all answers are right, to both questions. Was the loss still falling at the end? If it jumped about: how "
    "large is a step?"
)
def nearly_there(names, numbers, friends, rivals):
    both = torch.stack([_numbers(names, numbers, friends), _numbers(names, numbers, rivals)], dim=2)
    return torch.where((names < 2)[..., None, None], both.roll(1, dims=-1), both)


@multi_head_attention_task.misconception(
    "Your model has heard both numbers and does not know which is whose. What could tell it, once they are mixed?"
)
def hears_both_and_mixes_them_up(names, numbers, friends, rivals):
    # like a fair coin, and the same again for the same child: who is asked about depends on the name
    both = torch.stack([_numbers(names, numbers, friends), _numbers(names, numbers, rivals)], dim=2)  # (B, S, 2, 10)
    heads = (names % 2 == 0)[..., None, None]
    return torch.where(heads, both, both.flip(2))


@multi_head_attention_task.misconception(
    "Of the answers to both questions, no more than half are right. Does the loss still fall at the end? If not, some "
    "children may hear what others were meant to: does each word know who it is after splitting and merging? If both "
    "pass their checks: are old gradients still around?"
)
def children_mixed_up(names, numbers, friends, rivals):
    both = torch.stack([_numbers(names, numbers, friends), _numbers(names, numbers, rivals)], dim=2)
    lucky = (names % 3 == 0)[..., None, None]
    return torch.where(lucky, both, both.roll(1, dims=1))


@multi_head_attention_task.misconception(
    "Friends' numbers come where rivals' are asked for. In which order do the answers stand in a batch?"
)
def questions_exchanged(names, numbers, friends, rivals):
    return torch.stack([_numbers(names, numbers, rivals), _numbers(names, numbers, friends)], dim=2)


@multi_head_attention_task.misconception(
    "A child's own number is all your model knows. Does any word reach another in it?"
)
def knows_only_itself(names, numbers, friends, rivals):
    own = 10.0 * F.one_hot(numbers, len(relations.NUMBERS))
    return torch.stack([own, own], dim=2)
