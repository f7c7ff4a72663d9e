"""Hidden tests of `multi_head_attention`."""

from __future__ import annotations

import math

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.multi_head_attention.merge_heads import merged_in_turns, reshaped_without_transposing_back
from course.hidden.multi_head_attention.scaffold import FORBIDDEN, _split, _weigh, divisible
from course.hidden.multi_head_attention.split_heads import interleaved, reshaped_without_transposing
from course.reference import multi_head_attention as reference


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


def _project(x_q, x_kv, W_q, W_k, W_v, h, split=_split):
    return split(x_q @ W_q.T, h), split(x_kv @ W_k.T, h), split(x_kv @ W_v.T, h)


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
        divisible(x_q.shape[-1], n_heads)
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
    divisible(x_q.shape[-1], n_heads)
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
