"""Hidden tests of `multi_head_attention`."""

import math

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.multi_head_attention.merge_heads import reshaped_without_transposing_back
from course.hidden.multi_head_attention.scaffold import FORBIDDEN, divisible
from course.hidden.multi_head_attention.split_heads import reshaped_without_transposing
from course.reference import multi_head_attention as reference


@exercise(
    reference.multi_head_attention,
    shown=(1,),
    hints=(
        "Write down the shape after each step, for 2 queries, 3 keys, a width of 4 and two heads. The steps are "
        "projected words, split words, scores, weights, the heads' outputs and merged words.",
        "With one head it must equal plain attention followed by W_o. With two, compute the second head alone, by "
        "hand.",
        "Allow each query one key only. What are the weights then? What are they when a query may see no key?",
        "Begin with attend_in_heads, for words that are projected already and no mask. Split all three, and print the"
        " shapes before you write the scores. The mask comes next, and multi_head_attention last. It only projects "
        "before and mixes after.",
    ),
    forbidden=FORBIDDEN,
    calls=(
        "multi_head_attention(numbers(2, 3, 4), numbers(2, 5, 4), eye(4), eye(4), eye(4), eye(4), 2)[0].shape",
        "multi_head_attention(numbers(2, 3, 4), numbers(2, 5, 4), eye(4), eye(4), eye(4), eye(4), 2)[1].shape",
        ("multi_head_attention(zeros(1, 1, 2), tensor([[[2., 6.], [4., 8.]]]), eye(2), eye(2), eye(2), eye(2), 2)[0]"),
        (
            "multi_head_attention(tensor([[[100., 0.]]]), tensor([[[1., 0.], [0., 1.]]]), eye(2), eye(2), "
            "eye(2), eye(2), 2)[1]"
        ),
        (
            "multi_head_attention(tensor([[[100., 0.]]]), tensor([[[1., 0.], [0., 1.]]]), eye(2), eye(2), "
            "eye(2), eye(2), 1)[1]"
        ),
        (
            "multi_head_attention(zeros(1, 1, 2), tensor([[[2., 6.], [4., 8.]]]), eye(2), eye(2), eye(2), "
            "zeros(2, 2), 2)[0]"
        ),
    ),
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
    yield call("five heads for a width of six", *inputs(2, 3, 7, 2, 3)[:6], 5, public=True, raises="ValueError")


def _weigh(q, k, mask=None, root=None):
    """Weights of heads, (B, h, T, S); `root` divides the scores."""
    weights = _weigh_and_leave_it_at_that(q, k, mask, -1e30, root)
    return weights if mask is None else weights.masked_fill(~mask, 0.0)


def _weigh_and_leave_it_at_that(q, k, mask, lowest=-math.inf, root=None):
    """Weights of heads, where a query that may look at nothing is not thought of."""
    scores = q @ k.mT / (root or q.shape[-1] ** 0.5)
    return (scores if mask is None else scores.masked_fill(~mask, lowest)).softmax(-1)


def _attending(weigh=_weigh, split=reference.split_heads, merge=reference.merge_heads, out=True):
    """An answer that weighs so, splits so, merges so, or leaves out W_o."""

    def attention(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
        divisible(x_q.shape[-1], n_heads)
        q, k, v = (split(x @ W.T, n_heads) for x, W in ((x_q, W_q), (x_kv, W_k), (x_kv, W_v)))
        weights = weigh(q, k, mask)
        merged = merge(weights @ v)
        return (merged @ W_o.T if out else merged), weights

    return attention


multi_head_attention.mistakes(
    "How many products does one score of a head add up? Is that the width of the word?",
    scaled_by_the_width_of_the_word=_attending(
        lambda q, k, mask: _weigh(q, k, mask, root=(q.shape[1] * q.shape[-1]) ** 0.5)
    ),
)
multi_head_attention.mistakes(
    "Draw queries and keys with variance 1 and print the variance of a head's scores. It should be near 1, too.",
    scores_left_unscaled=_attending(lambda q, k, mask: _weigh(q, k, mask, root=1.0)),
)
multi_head_attention.mistakes(
    "Change one word of x_kv. In which columns of your weights, and in which heads, does something move?",
    split_by_reshaping=_attending(split=reshaped_without_transposing),
)
multi_head_attention.mistakes(
    "Change one word of x_q. How many words of the output change, and how many should?",
    merged_by_reshaping=_attending(merge=reshaped_without_transposing_back),
)
multi_head_attention.mistakes(
    "Set W_o to zero. What should the output be, and what is it?",
    W_o_forgotten=_attending(out=False),
)


multi_head_attention.mistakes(
    "Allow one key only. Which keys get weight, that one or all the others?",
    mask_inverted=_attending(lambda q, k, mask: _weigh(q, k, None if mask is None else ~mask)),
)


@multi_head_attention.misconception("Forbid a key and print its weight. Where does your computation look at the mask?")
def mask_ignored(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads, mask=None):
    return reference.multi_head_attention(x_q, x_kv, W_q, W_k, W_v, W_o, n_heads)


multi_head_attention.mistakes(
    "Let one query look at no key. Each exp(−∞) is 0, and their sum is 0. What is 0 / 0?",
    nothing_allowed_is_not_a_number=_attending(_weigh_and_leave_it_at_that),
)
