"""Examiner's notes on self-attention: softmax, one word, all words, their cost, their order, and a list to remember.

Sizes are distinct primes, so that no axis can stand in for another; one square case each shows what square shapes hide.
"""

from __future__ import annotations

import math

import torch
from torch.nn import functional as F

from course.data import recall
from course.exercise import call, exercise, given_model, noncontiguous, stand_in
from course.reference import self_attention as reference

BUILT_IN_SOFTMAX = (
    *("torch.softmax", "F.softmax", "nn.Softmax", "Tensor.softmax", "torch.special.softmax"),
    *("torch.log_softmax", "F.log_softmax", "nn.LogSoftmax", "Tensor.log_softmax", "torch.special.log_softmax"),
    *("F.softmin", "nn.Softmin", "nn.Softmax2d", "F.gumbel_softmax"),
)
BUILT_IN_ATTENTION = ("F.scaled_dot_product_attention", "nn.MultiheadAttention", "F.multi_head_attention_forward")


# -- softmax ---------------------------------------------------------------------------------------------------------


@exercise(
    reference.softmax,
    hints=(
        "Print your weights for x = [0, 0, 0] and for x = [1, 2, 3]. Along which axis of a table do they sum to one?",
        "Print exp(1000). Then compare the weights for x and for x + 1000: should they differ?",
        "Which number could you add to a whole slice so that its largest exponential is exactly 1?",
    ),
    forbidden=BUILT_IN_SOFTMAX,
)
def softmax(rng):
    """Every axis of a box, then scores that overflow, slices far above and below each other, then -inf."""
    yield call("a table, over its columns", rng.normal(3, 5), dim=-1, public=True)
    yield call("a table, over its rows", rng.normal(3, 5), dim=0, public=True)
    huge = 1000.0 + 3.0 * rng.normal(2, 7)
    yield call("scores around a thousand", huge, dim=-1, public=True, grad=False)
    yield call("a box, over its first axis", rng.normal(3, 5, 2), dim=0)
    yield call("a box, over axis -2", 3 * rng.normal(2, 3, 5), dim=-2)
    yield call("one row", rng.normal(7), dim=0)
    yield call("a table of one row", rng.normal(1, 5), dim=1)
    yield call("a table of one column", rng.normal(3, 1), dim=1).counts_with("a table, over its columns")
    yield call("float32", rng.normal(5, 3, dtype=torch.float32), dim=1, public=True)
    yield call("memory that is not contiguous", noncontiguous(rng.normal(3, 5)), dim=0, public=True)
    low = -1000.0 + 3.0 * rng.normal(3, 5)
    yield call("scores around minus a thousand", low, dim=1, grad=False)
    far = rng.normal(3, 5)
    far[:, 1], far[:, 3] = 1e4, -1e4
    yield call("scores of ±10,000", far, dim=-1, grad=False)
    apart = rng.normal(2, 3) + torch.tensor([[0.0], [5000.0]], dtype=torch.float64)
    yield call("one row far above the other", apart, dim=1, grad=False)
    one_left = torch.full((2, 3), -math.inf, dtype=torch.float64)
    one_left[0, 1], one_left[1, 2] = rng.normal(1).item(), rng.normal(1).item()
    yield call("rows of -inf with one finite entry", one_left, dim=-1, grad=False)


@softmax.misconception(
    "What is exp(1000) on a computer? Softmax does not change when a whole slice is shifted: use that."
)
def overflows(x, dim):
    return x.exp() / x.exp().sum(dim, keepdim=True)


@softmax.misconception("Give it scores of 1000 and 1001. Are they still different where you take the exponential?")
def scores_cut_off(x, dim):
    exponentials = x.clamp(-80, 80).exp()
    return exponentials / exponentials.sum(dim, keepdim=True)


@softmax.misconception(
    "Take the row [0, 1, 2] alone, then above the row [5000, 5001, 5002]. Which exponents are left of it, each time?"
)
def one_maximum_for_all(x, dim):
    exponentials = (x - x.max()).exp()
    return exponentials / exponentials.sum(dim, keepdim=True)


@softmax.misconception(
    "Take the row [0, 1, 2] alone, then above the row [5000, 5001, 5002]. Which exponents are left of it, each time?"
)
def one_maximum_for_all_beside_a_small_number(x, dim):
    exponentials = (x - x.max()).exp()
    return exponentials / (exponentials.sum(dim, keepdim=True) + 1e-9)


@softmax.misconception(
    "Print the largest exponent that is left after your subtraction, for scores of ±10,000. What is its exponential?"
)
def mean_taken_off(x, dim):
    exponentials = (x - x.mean(dim, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim, keepdim=True)


@softmax.misconception(
    "Print the largest exponent that is left after your subtraction, for scores of ±10,000. What is its exponential?"
)
def smallest_taken_off(x, dim):
    exponentials = (x - x.amin(dim, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim, keepdim=True)


@softmax.misconception(
    "Print the shapes of what meets in the line that fails, for a table (3, 5) and dim=-1: how do they line up?"
)
def sums_lose_their_axis(x, dim):
    exponentials = (x - x.amax(dim, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim)


@softmax.misconception(
    "Print the shapes of what meets in the line that fails, for a table (3, 5) and dim=-1: how do they line up?"
)
def maxima_and_sums_lose_their_axis(x, dim):
    exponentials = (x - x.amax(dim)).exp()
    return exponentials / exponentials.sum(dim)


@softmax.misconception("Ask for dim=0 of a table: along which axis do your weights sum to one?")
def always_the_last_axis(x, dim):
    return reference.softmax(x, -1)


@softmax.misconception("Ask for dim=0 of a table, and print the shapes of your maximum and of your sum.")
def maximum_over_the_last_axis(x, dim):
    exponentials = (x - x.amax(-1, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim, keepdim=True)


@softmax.misconception("Ask for dim=0 of a table, and print the shapes of your maximum and of your sum.")
def sum_over_the_last_axis(x, dim):
    exponentials = (x - x.amax(dim, keepdim=True)).exp()
    return exponentials / exponentials.sum(-1, keepdim=True)


@softmax.misconception("Ask for the last axis of a table: along which axis do your weights sum to one?")
def always_the_first_axis(x, dim):
    return reference.softmax(x, 0)


@softmax.misconception("Sum one slice, then sum everything: which of the two should be one?")
def one_sum_for_everything(x, dim):
    return reference.softmax(x.flatten(), 0).view(x.shape)


@softmax.misconception(
    "Your values are negative. Can a weight be? What is still missing to get from a logarithm to a weight?"
)
def logarithms(x, dim):
    return reference.softmax(x, dim).log()


@softmax.misconception("Sum one slice of your result: these are exponentials. What makes them shares of a whole?")
def not_normalised(x, dim):
    return (x - x.amax(dim, keepdim=True)).exp()


@softmax.misconception("Try x = [-1, 1]. Which function makes any score positive before you divide by a sum?")
def no_exponential(x, dim):
    return x / x.sum(dim, keepdim=True)


@softmax.misconception("Does the largest score get the largest weight? Try x = [1, 2, 3].")
def small_scores_win(x, dim):
    return reference.softmax(-x, dim)


@softmax.misconception(
    "Each of your weights looks at its own score only. Raise one score: should the other weights stay?"
)
def every_score_alone(x, dim):
    return torch.sigmoid(x)


# -- one word --------------------------------------------------------------------------------------------------------


@exercise(
    reference.attention_for_one,
    hints=(
        "Four steps: score, scale, softmax, mix. Print the shape after each, and say what each number means.",
        "How many scores does one word get, and how many weights? What do the weights sum to?",
        "The output has the width of the values. Which axis disappears when you mix them?",
    ),
    forbidden=BUILT_IN_ATTENTION,
)
def attention_for_one(rng):
    """One query against S keys; D, S and Dv all different, and once all equal to unmask accidents."""
    yield call("five keys", rng.normal(3), rng.normal(5, 3), rng.normal(5, 2), public=True)
    yield call("a longer query", rng.normal(11), rng.normal(3, 11), rng.normal(3, 7))
    yield call("a single key", rng.normal(7), rng.normal(1, 7), rng.normal(1, 3))
    yield call("as many keys as the query is wide", rng.normal(5), rng.normal(5, 5), rng.normal(5, 5))
    query = 100 * rng.normal(11)
    yield call("scores of ten thousands", query, torch.stack([-query, query, 0 * query]), rng.normal(3, 2), grad=False)
    f32 = [rng.normal(*shape, dtype=torch.float32) for shape in ((7,), (3, 7), (3, 5))]
    yield call("float32", *f32, public=True)
    yield call(
        "memory that is not contiguous", *(noncontiguous(rng.normal(*s)) for s in ((3,), (5, 3), (5, 2))), public=True
    )


def _mix(scores, values):
    return torch.softmax(scores, 0) @ values


@attention_for_one.misconception(
    "Draw queries and keys of unit variance with D = 400. How large do scores get, and what does softmax make of them?"
)
def score_not_scaled(query, keys, values):
    return _mix(keys @ query, values)


@attention_for_one.misconception("A sum of D products of unit variance has variance D. What is its standard deviation?")
def score_divided_by_D(query, keys, values):
    return _mix(keys @ query / len(query), values)


@attention_for_one.misconception(
    "Draw queries and keys of unit variance with D = 400. How large do scores get, and what does softmax make of them?"
)
def score_multiplied_by_the_root(query, keys, values):
    return _mix(keys @ query * len(query) ** 0.5, values)


@attention_for_one.misconception(
    "Which axis is summed over in the dot product: the width of the query, or the number of keys?"
)
def score_scaled_by_the_number_of_keys(query, keys, values):
    return _mix(keys @ query / len(keys) ** 0.5, values)


@attention_for_one.misconception("Which axis is summed over in the dot product? Is the width of the values part of it?")
def score_scaled_by_the_width_of_the_values(query, keys, values):
    return _mix(keys @ query / values.shape[1] ** 0.5, values)


@attention_for_one.misconception("What do your weights sum to at the moment at which they meet the values?")
def softmax_before_scaling_for_one(query, keys, values):
    return torch.softmax(keys @ query, 0) / len(query) ** 0.5 @ values


@attention_for_one.misconception(
    "Multiply the query by a thousand: do NaNs appear? Which of your functions is safe for large scores?"
)
def exponentials_overflow_for_one(query, keys, values):
    exponentials = (keys @ query / len(query) ** 0.5).exp()
    return exponentials / exponentials.sum() @ values


@attention_for_one.misconception(
    "Your word listens to one other word only. Should the second best go unheard? And what would its gradient be?"
)
def only_the_best_key(query, keys, values):
    return values[(keys @ query).argmax()] + 0 * (keys @ query).sum()


@attention_for_one.misconception("Change the query: does your output move? Who decides how much each value counts?")
def plain_mean(query, keys, values):
    return values.mean(0) + 0 * (keys @ query).sum()


@attention_for_one.misconception(
    "Make one score negative. Can a share of attention be negative? What do your weights sum to?"
)
def scores_as_weights(query, keys, values):
    return keys @ query / len(query) ** 0.5 @ values


@attention_for_one.misconception("These are the weights. One step is missing: what does the word take home?")
def weights_for_output(query, keys, values):
    return torch.softmax(keys @ query / len(query) ** 0.5, 0)


@attention_for_one.misconception(
    "Replace all values by zeros: what should come out? What are the keys for, and what the values?"
)
def keys_for_values(query, keys, values):
    return _mix(keys @ query / len(query) ** 0.5, keys)


# -- all words at once -----------------------------------------------------------------------------------------------


@exercise(
    reference.scaled_dot_product_attention,
    shown=(1,),
    hints=(
        "Write the shape of every intermediate beside its line: the scores must be (B, T, S). What is at [b, i, j]?",
        "Sum your weights over each axis in turn. Over which one must they give ones, and why that one?",
        "Compare one query of one example with your attention_for_one: the first number that differs tells where.",
        "Draw q and k from torch.randn with D = 400: the variance of the scores you give to softmax should be 1.",
    ),
    forbidden=BUILT_IN_ATTENTION,
)
def scaled_dot_product_attention(rng):
    """Five different primes for B, T, S, D, Dv; then each in turn is one, all are equal, and scores are enormous."""

    def inputs(B, T, S, D, Dv, dtype=torch.float64):
        return rng.normal(B, T, D, dtype=dtype), rng.normal(B, S, D, dtype=dtype), rng.normal(B, S, Dv, dtype=dtype)

    yield call("a small batch", *inputs(2, 3, 5, 7, 11), public=True, weight=2.0)
    yield call("as many queries as keys", *inputs(2, 5, 5, 3, 7), public=True)
    yield call("every size the same", *inputs(3, 3, 3, 3, 3))
    yield call("more queries than keys", *inputs(3, 13, 2, 5, 7), weight=2.0)
    yield call("a batch of one", *inputs(1, 5, 3, 11, 2))
    yield call("a single query", *inputs(5, 1, 7, 3, 2))
    yield call("a single key", *inputs(2, 3, 1, 5, 7))
    yield call("width one", *inputs(2, 3, 5, 1, 1))
    q, k, v = inputs(2, 3, 5, 7, 11)
    yield call("scores of thousands", 100 * q, 100 * k, v, grad=False)
    yield call("float32", *inputs(2, 5, 3, 7, 2, dtype=torch.float32), public=True)
    yield call("memory that is not contiguous", *(noncontiguous(x) for x in inputs(3, 2, 5, 7, 3)), public=True)


def _weighted(weights, v):
    return weights @ v, weights


def _scores(q, k):
    return q @ k.mT


@scaled_dot_product_attention.misconception(
    "With D = 256 and unit variance in q and k, what is the variance of a score? What does softmax do with such scores?"
)
def not_scaled(q, k, v):
    return _weighted(_scores(q, k).softmax(-1), v)


@scaled_dot_product_attention.misconception(
    "Variance D means a standard deviation of what? Print the variance of your scores for D = 256."
)
def scaled_by_D(q, k, v):
    return _weighted((_scores(q, k) / q.shape[-1]).softmax(-1), v)


@scaled_dot_product_attention.misconception(
    "Is the width of the values summed over in a score? Give v another width and compare the weights."
)
def scaled_by_the_width_of_the_values(q, k, v):
    return _weighted((_scores(q, k) / v.shape[-1] ** 0.5).softmax(-1), v)


@scaled_dot_product_attention.misconception(
    "Which axis is summed over in a dot product of q and k: words, or numbers within a word?"
)
def scaled_by_the_number_of_words(q, k, v):
    return _weighted((_scores(q, k) / q.shape[1] ** 0.5).softmax(-1), v)


@scaled_dot_product_attention.misconception(
    "How many numbers are added up in one score? Double the number of keys: should the scores of the first ones shrink?"
)
def scaled_by_the_number_of_keys(q, k, v):
    return _weighted((_scores(q, k) / k.shape[1] ** 0.5).softmax(-1), v)


@scaled_dot_product_attention.misconception(
    "Print the variance of your scores for D = 4 and D = 400. Does your factor bring them together or apart?"
)
def multiplied_by_the_root(q, k, v):
    return _weighted((_scores(q, k) * q.shape[-1] ** 0.5).softmax(-1), v)


@scaled_dot_product_attention.misconception(
    "Who distributes attention, the word that asks or the word that is asked? Sum your weights over each axis."
)
def softmax_over_queries(q, k, v):
    return _weighted((_scores(q, k) / q.shape[-1] ** 0.5).softmax(-2), v)


@scaled_dot_product_attention.misconception(
    "Call it with one sentence, then with the same sentence beside another one: may its output change?"
)
def softmax_over_the_batch(q, k, v):
    return _weighted((_scores(q, k) / q.shape[-1] ** 0.5).softmax(0), v)


@scaled_dot_product_attention.misconception(
    "Weight [b, i, j] is what query i gives to key j. Take more queries than keys: which axis of your scores is which?"
)
def queries_and_keys_exchanged(q, k, v):
    return _weighted((_scores(k, q) / q.shape[-1] ** 0.5).softmax(-1), v)


@scaled_dot_product_attention.misconception("Sum a row of your weights. When does the division happen, and to what?")
def softmax_before_scaling(q, k, v):
    return _weighted(_scores(q, k).softmax(-1) / q.shape[-1] ** 0.5, v)


@scaled_dot_product_attention.misconception(
    "If all values are the same vector, what must come out? Print your output beside it: when does the division happen?"
)
def output_scaled_for_scores(q, k, v):
    weights = _scores(q, k).softmax(-1)
    return weights @ v / q.shape[-1] ** 0.5, weights


@scaled_dot_product_attention.misconception(
    "Make one score far larger than all others. How large should its weight be, and how large is it? Count softmaxes."
)
def softmax_twice(q, k, v):
    return _weighted((_scores(q, k) / q.shape[-1] ** 0.5).softmax(-1).softmax(-1), v)


@scaled_dot_product_attention.misconception(
    "Print the weights of the first query. Who told it that it must not look at later words?"
)
def nobody_looks_ahead(q, k, v):
    scores = _scores(q, k) / q.shape[-1] ** 0.5
    return _weighted(scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -torch.inf).softmax(-1), v)


@scaled_dot_product_attention.misconception("The output is right. Now sum a row of the weights you return beside it.")
def scores_returned_for_weights(q, k, v):
    scores = _scores(q, k) / q.shape[-1] ** 0.5
    return scores.softmax(-1) @ v, scores


@scaled_dot_product_attention.misconception(
    "A transpose is no reshape: compare k[0, 1] with column 1 of what you multiply q by."
)
def reshaped_for_transposed(q, k, v):
    B, S, D = k.shape
    return _weighted((q @ k.reshape(B, D, S) / D**0.5).softmax(-1), v)


@scaled_dot_product_attention.misconception(
    "Both results are right, but in the other order. Which did the docstring promise first?"
)
def weights_before_output(q, k, v):
    weights = (_scores(q, k) / q.shape[-1] ** 0.5).softmax(-1)
    return weights, weights @ v


@scaled_dot_product_attention.misconception(
    "Multiply q and k by 100: do NaNs appear? Which of your functions is safe for large scores?"
)
def exponentials_that_overflow(q, k, v):
    exponentials = (_scores(q, k) / q.shape[-1] ** 0.5).exp()
    return _weighted(exponentials / exponentials.sum(-1, keepdim=True), v)


@scaled_dot_product_attention.misconception("Can a weight be negative? Print your smallest one.")
def sum_for_softmax(q, k, v):
    scores = _scores(q, k) / q.shape[-1] ** 0.5
    return _weighted(scores / scores.sum(-1, keepdim=True), v)


# -- self-attention --------------------------------------------------------------------------------------------------


@exercise(
    reference.self_attention,
    hints=(
        "Weights are (out, in), as in nn.Linear. Which shape must x @ something have, for W_q of shape (D, Din)?",
        "Three roles, three matrices: set W_v to zero, then only W_k. What should the output be each time?",
        "Feed x of ones: every word is the same, so every output must be W_v's row sums, whatever W_q and W_k are.",
    ),
    forbidden=BUILT_IN_ATTENTION,
)
def self_attention(rng):
    """Din, D and Dv differ, so a forgotten transpose fails; one square case tells which one was forgotten."""

    def inputs(B, T, Din, D, Dv, dtype=torch.float64):
        x = rng.normal(B, T, Din, dtype=dtype)
        shapes = ((D, Din), (D, Din), (Dv, Din))
        return x, *(rng.normal(*shape, dtype=dtype) for shape in shapes)

    yield call("a small batch", *inputs(2, 3, 7, 5, 11), public=True, weight=2.0)
    yield call("square weights", *inputs(3, 2, 5, 5, 5), public=True)
    yield call("a long sentence, a narrow head", *inputs(2, 13, 5, 2, 3), weight=2.0)
    yield call("as many words as dimensions", *inputs(2, 5, 5, 5, 5))
    yield call("a single word", *inputs(3, 1, 5, 2, 7))
    yield call("a batch of one", *inputs(1, 5, 3, 7, 2))
    x, W_q, W_k, W_v = inputs(2, 5, 3, 7, 2)
    yield call("words of size 100", 100 * x, W_q, W_k, W_v, grad=False)
    yield call("float32", *inputs(2, 3, 5, 7, 2, dtype=torch.float32), public=True)
    yield call(
        "memory that is not contiguous", *(noncontiguous(tensor) for tensor in inputs(2, 5, 3, 2, 7)), public=True
    )


def _attend(q, k, v):
    return reference.scaled_dot_product_attention(q, k, v)[0]


@self_attention.misconception(
    "Weights are stored (out, in). Square matrices hide the difference: try D different from Din."
)
def weights_not_transposed(x, W_q, W_k, W_v):
    return _attend(x @ W_q, x @ W_k, x @ W_v)


@self_attention.misconception("Set W_v to zero: what should come out? What does yours give?")
def keys_used_as_values(x, W_q, W_k, W_v):
    return _attend(x @ W_q.T, x @ W_k.T, x @ W_k.T)


@self_attention.misconception("Set W_v to zero: what should come out? A word offers its value, not itself.")
def words_used_as_values(x, W_q, W_k, W_v):
    return _attend(x @ W_q.T, x @ W_k.T, x)


@self_attention.misconception("Is your score matrix symmetric? Must it be? Asking and being asked are two roles.")
def queries_used_as_keys(x, W_q, W_k, W_v):
    return _attend(x @ W_q.T, x @ W_q.T, x @ W_v.T)


@self_attention.misconception(
    "Which word asks and which is asked? Exchange W_q and W_k in your call: should the output change?"
)
def queries_and_keys_swapped(x, W_q, W_k, W_v):
    return _attend(x @ W_k.T, x @ W_q.T, x @ W_v.T)


@self_attention.misconception(
    "Set W_v to zero: the output should vanish. What is added around it comes in topic 10, outside this function."
)
def residual_added(x, W_q, W_k, W_v):
    return x + _attend(x @ W_q.T, x @ W_k.T, x @ W_v.T)


@self_attention.misconception(
    "Scores are dot products of queries and keys. Whose width counts for the scale: theirs, or that of x?"
)
def scaled_by_the_width_of_x(x, W_q, W_k, W_v):
    scores = x @ W_q.T @ (x @ W_k.T).mT / x.shape[-1] ** 0.5
    return scores.softmax(-1) @ (x @ W_v.T)


@self_attention.misconception(
    "What happens to the variance of the scores when the head gets wider? You have a function that takes care of it."
)
def scores_left_unscaled(x, W_q, W_k, W_v):
    return (x @ W_q.T @ (x @ W_k.T).mT).softmax(-1) @ (x @ W_v.T)


@self_attention.misconception("Two results came. Which of them holds the new words?")
def weights_returned_too(x, W_q, W_k, W_v):
    weights = (x @ W_q.T @ (x @ W_k.T).mT / len(W_q) ** 0.5).softmax(-1)
    return weights @ (x @ W_v.T), weights


# -- costs -----------------------------------------------------------------------------------------------------------


@exercise(
    reference.attention_cost,
    hints=(
        "Self-attention: how many pairs of words are compared, and what does one comparison cost?",
        "Recurrence: how many steps are there, and how many numbers are in the matrix that each multiplies by?",
    ),
)
def attention_cost(rng):
    """Table 1 for a sentence and for a book, and where the two meet."""
    yield call("a sentence of 70 words, width 512", 70, 512, public=True)
    yield call("a long text, narrow words", 5003, 61)
    yield call("as many words as dimensions", 97, 97)
    yield call("a single word", 1, 89)
    yield call("words of one number", 83, 1)
    n, d = (int(number) for number in rng.integers(100, 1000, 2))
    yield call("some words of some width", n, d)


def _costs(attention, recurrent):
    return {"self_attention": attention, "recurrent": recurrent}


@attention_cost.misconception("Double the number of words: which of the two layers should cost four times as much?")
def layers_exchanged(n, d):
    return _costs(n * d * d, n * n * d)


@attention_cost.misconception("One comparison of two words is a dot product: how many multiplications does that take?")
def pairs_without_width(n, d):
    return _costs(n * n, n * d * d)


@attention_cost.misconception(
    "A recurrent step multiplies a state of d numbers by W_h. How many multiplications is one matrix times one vector?"
)
def step_without_matrix(n, d):
    return _costs(n * n * d, n * d)


@attention_cost.misconception("The table in the lecture leaves constant factors out. What is left without them?")
def constants_kept(n, d):
    return _costs(2 * n * n * d, 2 * n * d * d)


@attention_cost.misconception("The table in the lecture leaves constant factors out. What is left without them?")
def scores_and_mixing_counted(n, d):
    return _costs(2 * n * n * d, n * d * d)


@attention_cost.misconception("The table in the lecture leaves constant factors out. What is left without them?")
def both_matrices_counted(n, d):
    return _costs(n * n * d, 2 * n * d * d)


@attention_cost.misconception("Print 3^2 in Python. Is it nine?")
def carets_for_powers(n, d):
    return _costs(n ^ 2 * d, n * d ^ 2)


@attention_cost.misconception(
    "Projecting the words to q, k and v costs too, but the lecture's table counts the attention itself only."
)
def projections_counted(n, d):
    return _costs(n * n * d + 3 * n * d * d, n * d * d)


@attention_cost.misconception(
    "A word also attends to itself, and both i → j and j → i are scored: how many scores is that?"
)
def pairs_counted_once(n, d):
    return _costs(n * (n - 1) // 2 * d, n * d * d)


@exercise(
    reference.crossover_length,
    hints=(
        "Plot both costs for d = 64 over n from 1 to 200 and read off where they meet.",
        "Set the two costs equal and cancel what stands on both sides.",
    ),
)
def crossover_length(rng):
    """One number, whatever the width."""
    yield call("width 64", 64, public=True)
    yield call("width 512", 512)
    yield call("width one", 1).counts_with("width 64")
    yield call("some width", int(rng.integers(100, 1000, 1)))


@crossover_length.misconception("Put your n and d into attention_cost: are the two costs equal?")
def square_root(d):
    return math.sqrt(d)


@crossover_length.misconception(
    "Put your n and d into attention_cost for d = 10: which layer is dearer there, and by how much?"
)
def squared(d):
    return float(d * d)


@crossover_length.misconception(
    "Put your n and d into attention_cost: self-attention costs twice as much there. Where did the factor come from?"
)
def twice_the_width(d):
    return 2.0 * d


@crossover_length.misconception(
    "Put your n and d into attention_cost: recurrence costs twice as much there. Where did the factor come from?"
)
def half_the_width(d):
    return d / 2


@crossover_length.misconception(
    "At one word recurrence is dearer, for a very long text attention is. Follow the two curves until they meet."
)
def always_one(d):
    return 1.0


# -- order -----------------------------------------------------------------------------------------------------------


@exercise(
    reference.is_permutation_equivariant,
    hints=(
        "There are two ways to a reordered output: reorder first, or compute first. Equivariant means they meet.",
        "Try it by hand with torch.cumsum and with torch.tanh on a sentence of three words, and the order [1, 2, 0].",
        "Two computations in floating point rarely agree to the last digit. Which tolerance does the exercise name?",
    ),
)
def is_permutation_equivariant(rng):
    """Layers that are and are not, among them some that only look so; the order of five words is no involution."""
    cycle = torch.tensor([2, 0, 3, 4, 1])
    x, W, U = rng.normal(3, 5, 2), rng.normal(7, 2), rng.normal(7, 2)
    V = rng.normal(7, 2)
    places = rng.normal(5, 2)

    def it_is(title, *inputs, **options):
        """Who says the same of every layer has answered nothing: each answer counts together with two of the other."""
        return call(title, *inputs, **options).counts_with("a running mean", "word plus position")

    def it_is_not(title, *inputs, **options):
        return call(title, *inputs, **options).counts_with("self-attention", "the mean at every place")

    mirror = torch.arange(5).flip(0)
    yield it_is("self-attention", stand_in("attending", W_q=W, W_k=U, W_v=V), x, cycle, public=True)
    yield it_is("self-attention, turned round", stand_in("attending", W_q=W, W_k=U, W_v=V), x, mirror, public=True)
    yield it_is_not("a running mean", stand_in("running_mean", W=W), x, cycle, public=True)
    yield it_is("the mean of another order", stand_in("pooled", W=U), x, cycle, public=True)
    yield it_is_not("word plus position", stand_in("with_positions", W=W, positions=places), x, cycle)
    yield it_is("each word beside the mean", stand_in("beside_the_mean", W=W, U=U), x, cycle)
    yield it_is("the mean at every place", stand_in("pooled", W=W), x, cycle)
    yield it_is_not("each word beside the first", stand_in("beside_the_first", W=W, U=U), x, cycle)
    first_stays = torch.tensor([0, 2, 3, 4, 1])
    yield it_is("beside the first, and the first stays", stand_in("beside_the_first", W=W, U=U), x, first_stays)
    yield it_is("backwards, and the words turned round", stand_in("backwards", W=W), x, mirror)
    yield it_is_not("backwards, and another order", stand_in("backwards", W=W), x, cycle)
    towards = F.normalize(x[0, 2] - x[0, 0], dim=0) * rng.uniform(7, 1, low=0.3)  # (7, 2): all grow with the new first
    for title, sign in (("larger everywhere in the other order", 1), ("smaller everywhere in the other order", -1)):
        yield it_is_not(title, stand_in("beside_the_first", W=W, U=sign * towards), x[:1], cycle)
    nothing_there = x.clone()
    nothing_there[:, 3] = 0  # where a millionth is as much as all the rest
    alike_at_the_ends = places[[0, 1, 0, 3, 1]]  # in this order the first output and the last do not move
    yield it_is_not(
        "positions that show in the middle", stand_in("with_positions", W=W, positions=alike_at_the_ends), x, cycle
    )
    one_tells = x.clone()
    one_tells[[0, 2], 2] = one_tells[[0, 2], 0]  # the new first word of these sentences is the old one
    yield it_is_not("one sentence of three tells", stand_in("beside_the_first", W=W, U=U), one_tells, cycle)
    tiny = 1e-6 * places
    yield it_is("a difference of a millionth", stand_in("with_positions", W=W, positions=tiny), nothing_there, cycle)
    steps = (torch.arange(5, dtype=torch.float64) - 2)[:, None].expand(5, 2)  # three apart at most, in this order
    small = 9e-4 / 3 / W.sum(1).abs().max() * steps
    yield it_is_not("a difference of nine ten-thousandths", stand_in("with_positions", W=W, positions=small), x, cycle)
    one_place = torch.zeros(5, 2, dtype=torch.float64)
    one_place[int(rng.integers(0, 5, 1))] = 2e-4 / W.sum(1).abs().max()  # on average over all numbers, 8e-5 at most
    yield it_is_not("one place alone has a mark", stand_in("with_positions", W=W, positions=one_place), x / 10, cycle)
    yield it_is_not("a difference of a hundredth", stand_in("with_positions", W=W, positions=11 * small), x, cycle)
    x32, W32, U32, V32 = (tensor.float() for tensor in (x, W, U, V))
    yield it_is("float32", stand_in("attending", W_q=W32, W_k=U32, W_v=V32), x32, cycle)


@is_permutation_equivariant.misconception(
    "That is *in*variance: the output does not notice the order at all. What does tanh of each word do?"
)
def tests_invariance(fn, x, permutation):
    return torch.allclose(fn(x[:, permutation]), fn(x), atol=1e-4)


@is_permutation_equivariant.misconception(
    "A hundred numbers agree to the last digit, and one is a thousandth off. What does a mean of the differences say?"
)
def mean_of_the_differences(fn, x, permutation):
    return bool((fn(x[:, permutation]) - fn(x)[:, permutation]).abs().mean() < 1e-4)


@is_permutation_equivariant.misconception(
    "How many of all the numbers do you compare? A layer may be right at one place, and wrong at the others."
)
def compares_one_number(fn, x, permutation):
    return bool((fn(x[:, permutation])[0, 0, 0] - fn(x)[:, permutation][0, 0, 0]).abs() < 1e-4)


@is_permutation_equivariant.misconception(
    "One number of a hundred agrees, and the others do not. What does yours say of such a layer?"
)
def one_that_agrees_is_enough(fn, x, permutation):
    return bool(((fn(x[:, permutation]) - fn(x)[:, permutation]).abs() < 1e-4).any())


@is_permutation_equivariant.misconception(
    "Apply your order twice to [a, b, c] with [1, 2, 0]: are the words back where they were?"
)
def reorders_twice(fn, x, permutation):
    return torch.allclose(fn(x[:, permutation])[:, permutation], fn(x), atol=1e-4)


@is_permutation_equivariant.misconception(
    "A sum over the words, or a mean over all numbers, forgets which word got which output. Is a layer that adds "
    "positions caught by it?"
)
def compares_sums(fn, x, permutation):
    return torch.allclose(fn(x[:, permutation]).sum(1), fn(x).sum(1), atol=1e-4)


@is_permutation_equivariant.misconception(
    "Two sums in another order differ in the last digit. How equal is equal enough here?"
)
def bit_for_bit(fn, x, permutation):
    return torch.equal(fn(x[:, permutation]), fn(x)[:, permutation])


@is_permutation_equivariant.misconception(
    "How large a difference does your comparison let through? The exercise names a number."
)
def far_too_tolerant(fn, x, permutation):
    return torch.allclose(fn(x[:, permutation]), fn(x)[:, permutation], atol=0.3)


@is_permutation_equivariant.misconception(
    "How large a difference does your comparison let through? The exercise names a number."
)
def ten_times_too_tolerant(fn, x, permutation):
    return torch.allclose(fn(x[:, permutation]), fn(x)[:, permutation], atol=1e-3)


@is_permutation_equivariant.misconception(
    "Outputs of 0 and of a millionth: does your comparison let that through? The exercise names a number."
)
def tolerance_left_as_it_was(fn, x, permutation):
    return torch.allclose(fn(x[:, permutation]), fn(x)[:, permutation])


@is_permutation_equivariant.misconception("How many sentences of the batch do you compare? Only one of them may tell.")
def compares_the_first_sentence(fn, x, permutation):
    return torch.allclose(fn(x[:, permutation])[0], fn(x)[:, permutation][0], atol=1e-4)


@is_permutation_equivariant.misconception("At how many places do you compare? A layer may be right at some of them.")
def compares_the_last_place(fn, x, permutation):
    return torch.allclose(fn(x[:, permutation])[:, -1], fn(x)[:, permutation][:, -1], atol=1e-4)


@is_permutation_equivariant.misconception(
    "Yours says yes to every layer. Print what you hand to fn, both times: has it ever seen the words in another order?"
)
def undone_before_it_was_asked(fn, x, permutation):
    return torch.allclose(fn(x[:, permutation][:, permutation.argsort()]), fn(x), atol=1e-4)


@is_permutation_equivariant.misconception(
    "You subtract one from the other. What becomes of a difference of −1 when you compare it with a small number?"
)
def one_sided(fn, x, permutation):
    return bool((fn(x[:, permutation]) - fn(x)[:, permutation] < 1e-4).all())


@is_permutation_equivariant.misconception(
    "You subtract one from the other. Is −1 a small difference? It is smaller than any tolerance."
)
def one_sided_the_other_way(fn, x, permutation):
    return bool((fn(x)[:, permutation] - fn(x[:, permutation]) < 1e-4).all())


@is_permutation_equivariant.misconception(
    "The caller chose an order. Some layers commute with one order and not with another: test the one you were given."
)
def reverses_instead(fn, x, permutation):
    return torch.allclose(fn(x.flip(1)), fn(x).flip(1), atol=1e-4)


# -- the task --------------------------------------------------------------------------------------------------------


HALF = "better than guessing: half of them right"
"""The case that no constant passes: what is the same in any order counts together with it."""


@exercise(
    reference.recall_by_hand,
    name="self_attention_task",
    hints=(
        "Print the accuracy on one batch beside the loss: 10 % is guessing, 25 % is naming a frequent digit. And then?",
        "Which place of the layer's output belongs to the query? Draw that place's attention weights for a list.",
        "If the loss does not move at all: does each batch make a prediction, a loss, a gradient and a step?",
        "97 or 98 %, and a loss that still jumps at the end: are the optimiser's steps too long to settle?",
    ),
    forbidden=BUILT_IN_ATTENTION,
)
def self_attention_task(rng):
    """Lists of the judge's own. The bar is 99 %: a trained layer has 100 %, an RNN of the same width 27 %."""

    def lists(n, slots=recall.SLOTS):
        return recall.draw(n, torch.Generator().manual_seed(rng.seed()), slots)

    def asked(title, keys, values, query, answer, bar, because="", **options):
        return (
            given_model(title, **options)
            .call(keys, values, query, into="logits")
            .law("accuracy_at_least", of="logits", targets=answer, bar=bar, because=because)
            .laws_only()
        )

    some = asked("lists of eight pairs", *lists(500), bar=0.99, public=True, weight=2.0)
    yield some
    yield some.judged_again("nine of ten right", bar=0.9, weight=0.1)
    yield some.judged_again(HALF, bar=0.5, weight=0.1)
    yield some.judged_again("more than by guessing: 15 % right", bar=0.15, weight=0.1)
    many = asked("two thousand other lists, 99 % right", *lists(2000), bar=0.99, weight=2.0)
    yield many
    yield many.judged_again("better than most: 90 % right", bar=0.9)
    yield many.judged_again("half of two thousand right", bar=0.5)

    keys, values, *_ = lists(500)
    values[:, 1:5] = values[:, 1:2]
    because = "a digit that stands in the list four times is not named when it is asked for"
    same = keys, values, keys[:, 3].clone(), values[:, 3]
    yield asked("a digit that stands there four times", *same, 0.9, because, weight=0.5, public=True)

    keys, values, query, _ = lists(200)
    yield (
        given_model("other lists, other scores", weight=0.1, public=True)
        .call(keys, values, query, into="first")
        .call(*lists(200)[:3], into="second")
        .law("different", of="first", to="second", within=1e-3, because="every list gets the same scores")
        .laws_only()
        .counts_with(HALF)
    )
    order = torch.arange(recall.SLOTS).roll(int(rng.integers(1, recall.SLOTS, 1)))
    yield (
        given_model("the same pairs in another order", weight=0.5, public=True)
        .call(keys, values, query, into="first")
        .call(keys[:, order], values[:, order], query, into="second")
        .law(
            "equal", of="first", to="second", within=1e-2, because="the same pairs in another order get another answer"
        )
        .laws_only()
        .counts_with(HALF)
    )


def _votes(values):
    """One vote for each digit in the list: (B, S, 10)."""
    return F.one_hot(values, len(recall.VALUES)).float()


def _right(keys, values, query):
    """The vote of the pair that is asked for: (B, 10)."""
    return _votes(values)[torch.arange(len(keys)), (keys == query[:, None]).int().argmax(1)]


NO_BETTER_THAN_GUESSING = (
    "No better than guessing. Does the loss fall? Do the parameters move in a step? Compare before and after."
)


def _noise(*numbers):
    """Scores (B, 10) that have nothing to do with the question, though they change with it."""
    return torch.cos((sum(numbers) + 1)[:, None] * (1.0 + torch.arange(len(recall.VALUES), device=numbers[0].device)))


@self_attention_task.misconception(NO_BETTER_THAN_GUESSING)
def no_better_than_guessing(keys, values, query):
    return _noise((keys * values).sum(1), 3 * query)


@self_attention_task.misconception(NO_BETTER_THAN_GUESSING)
def no_better_than_guessing_in_order(keys, values, query):
    return _noise((torch.arange(keys.shape[1], device=keys.device) * keys * values).sum(1), 3 * query)


@self_attention_task.misconception(
    "Your model gives every list the same scores. Follow one list through forward: where does it get lost?"
)
def the_same_for_every_list(keys, values, query):
    return torch.linspace(1.0, 0.0, len(recall.VALUES)).expand(len(keys), -1)


@self_attention_task.misconception(
    "Better than guessing, and far from knowing. Does the loss still fall at the end of the curve? How large is a "
    "step, and is it made of this batch's gradient alone?"
)
def learns_too_little(keys, values, query):
    knows = (keys + values).sum(1) % 3 == 0
    return torch.where(knows[:, None], _right(keys, values, query), _noise((keys * values).sum(1), 3 * query))


@self_attention_task.misconception(
    "Your model names the digit that occurs most often. Does its answer change when you ask for another key?"
)
def names_the_most_frequent_digit(keys, values, query):
    return _votes(values).sum(1)


@self_attention_task.misconception(
    "Your answer depends on where pairs stand, and hardly on what is asked. Which place's output do you read?"
)
def place_matters_more_than_the_query(keys, values, query):
    later_counts_for_more = torch.linspace(1.0, 1.3, keys.shape[1])
    return (later_counts_for_more[:, None] * _votes(values)).sum(1)


@self_attention_task.misconception(
    "The right pair is heard, and the others shout it down. Do you read a single output? Where does its attention go?"
)
def other_pairs_join_in(keys, values, query):
    asked_for = (keys == query[:, None]).float()
    return ((1.0 + 1.5 * asked_for)[..., None] * _votes(values)).sum(1)


@self_attention_task.misconception(
    "Nearly. Was the loss still falling at the end of the curve? If it jumped about: how large is a step?"
)
def nearly_there(keys, values, query):
    right = _right(keys, values, query)
    return torch.where((query == 0)[:, None], right.roll(1, dims=-1), right)


@self_attention_task.misconception(
    "Your model answers with the pair it read last. Must your layer hand anything on from place to place?"
)
def remembers_only_the_last_pair(keys, values, query):
    return _votes(values)[:, -1]
