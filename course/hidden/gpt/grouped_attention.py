"""Hidden tests of `grouped_attention`: which head reads which group, the scale, and the mask."""

from __future__ import annotations

import math

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import gpt as reference


@exercise(
    reference.grouped_attention,
    hints=(
        "Take four heads and two groups. Which heads read group 0? Write the list of group numbers for heads 0 to 3.",
        "With as many groups as heads this is topic 07. With one group, all heads read the same keys. Try both.",
        "Allow each query one key only. What should come out? And where a row allows nothing at all?",
        "Begin with the keys and values alone. Repeat the groups until there are as many as heads, and print the "
        "shapes. What is left to do is attention as you know it.",
    ),
    forbidden=("F.scaled_dot_product_attention", "nn.MultiheadAttention", "F.multi_head_attention_forward"),
    calls=(
        "grouped_attention(numbers(2, 4, 3, 6), numbers(2, 2, 5, 6), numbers(2, 2, 5, 6)).shape",
        "grouped_attention(numbers(1, 4, 1, 1), numbers(1, 2, 1, 1), tensor([[[[5.]], [[7.]]]])).flatten()",
        "grouped_attention(zeros(1, 1, 1, 1), zeros(1, 1, 2, 1), tensor([[[[2.], [4.]]]])).flatten()",
        (
            "grouped_attention(zeros(1, 1, 1, 1), zeros(1, 1, 2, 1), tensor([[[[2.], [4.]]]]), "
            "mask=tensor([[True, False]])).flatten()"
        ),
        "grouped_attention(tensor([[[[100.]]]]), tensor([[[[1.], [0.]]]]), tensor([[[[2.], [4.]]]])).flatten()",
        "grouped_attention(numbers(1, 2, 1, 1), numbers(1, 2, 1, 1), tensor([[[[5.]], [[7.]]]])).flatten()",
    ),
)
def grouped_attention(rng):
    """From one group to as many as heads, T and S apart, masks of several shapes, a query that sees nothing."""

    def inputs(B, h, g, T, S, d, dtype=torch.float64):
        return (
            rng.normal(B, h, T, d, dtype=dtype),
            rng.normal(B, g, S, d, dtype=dtype),
            rng.normal(B, g, S, d, dtype=dtype),
        )

    def some(*shape):
        allowed = rng.uniform(*shape) > 0.4
        allowed[..., 0], allowed[..., -1] = True, False
        return allowed

    yield call("four heads in two groups", *inputs(2, 4, 2, 3, 5, 7), public=True, weight=2.0)
    yield call("six heads in three groups, a mask", *inputs(2, 6, 3, 5, 7, 2), mask=some(2, 1, 5, 7), public=True)
    yield call("six heads in two groups, more queries than keys", *inputs(3, 6, 2, 7, 3, 5), weight=2.0)
    yield call("one group for all", *inputs(2, 5, 1, 3, 7, 2))
    yield call("a group for each head", *inputs(2, 3, 3, 5, 7, 2))
    yield call("as many queries as keys, no mask", *inputs(2, 4, 2, 5, 5, 3))
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    yield call("a causal mask", *inputs(2, 4, 2, 5, 5, 3), mask=causal, public=True)
    yield call("a mask for each head", *inputs(2, 6, 2, 3, 5, 2), mask=some(2, 6, 3, 5))
    nothing = some(3, 5)
    nothing[1] = False
    yield call("a query that may look at nothing", *inputs(2, 4, 2, 3, 5, 7), mask=nothing, grad=False, public=True)
    yield call("one query behind eleven keys", *inputs(2, 6, 3, 1, 11, 5))
    yield call("float32", *inputs(2, 4, 2, 3, 7, 5, dtype=torch.float32))
    yield call(
        "memory that is not contiguous", *(noncontiguous(each) for each in inputs(2, 6, 2, 3, 5, 7)), public=True
    )
    yield call("six heads and four groups", *inputs(2, 6, 4, 3, 5, 2), public=True, raises="ValueError", weight=0.5)


def _attending(shared=lambda x, n: x.repeat_interleave(n, 1), width=None, lowest=None, mended=True):
    """An answer that shares keys and values so, and scales and masks so."""

    def attention(q, k, v, mask=None):
        if q.shape[1] % k.shape[1]:
            raise ValueError("the groups do not divide the heads")
        k, v = (shared(x, q.shape[1] // x.shape[1]) for x in (k, v))
        scores = q @ k.mT / (width or q.shape[-1] ** 0.5)
        if mask is None:
            return scores.softmax(-1) @ v
        weights = scores.masked_fill(~mask, -1e30 if lowest is None else lowest).softmax(-1)
        return (weights.masked_fill(~mask, 0.0) if mended else weights) @ v

    return attention


grouped_attention.mistakes(
    "Four heads, two groups. Do heads 0 and 1 share in your result, or heads 0 and 2? Print `repeat` of [0, 1] beside "
    "`repeat_interleave`.",
    repeat_for_repeat_interleave=_attending(shared=lambda x, n: x.repeat(1, n, 1, 1)),
)
grouped_attention.mistakes(
    "Change the keys of the last group. Which heads should notice, and which do?",
    first_group_for_all=_attending(shared=lambda x, n: x[:, :1].expand(-1, n * x.shape[1], -1, -1)),
)
grouped_attention.mistakes(
    "Take q and k from torch.randn with d = 400. The variance of the scores that reach your softmax should be 1.",
    not_scaled=_attending(width=1.0),
)
grouped_attention.mistakes(
    "A query that may look at nothing has nothing to tell. Allow nothing in one row. Does it give zeros?",
    empty_rows_are_nan=_attending(lowest=-math.inf, mended=False),
    empty_rows_look_at_everything=_attending(mended=False),
)
grouped_attention.mistakes(
    "The mask is True where a query may look. Allow each query one key only. Whose value comes out?",
    mask_turned_round=lambda q, k, v, mask=None: reference.grouped_attention(q, k, v, None if mask is None else ~mask),
)


@grouped_attention.misconception("Call it without a mask. Does the first query see the last key?")
def no_mask_means_causal(q, k, v, mask=None):
    if mask is None:
        mask = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril()
    return reference.grouped_attention(q, k, v, mask)
