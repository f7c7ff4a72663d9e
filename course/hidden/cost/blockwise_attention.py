"""Hidden tests of `blockwise_attention`: exact, with its log-sum-exp, and without a table of all scores."""

from __future__ import annotations

import math
from functools import reduce

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import cost as reference

BLOCK, SHARE = 16, 1 / 3
"""Keys of a block where memory is counted, and the share of a table that may exist at once: right answers need .25."""
PLAIN = "keys that the block divides"


@exercise(
    reference.blockwise_attention,
    hints=(
        "What must you keep of the keys that you have read, so that the next block can be joined to it?",
        "With `causal`, T = 2 and S = 5, the last query stands at the last key. Which keys does the first query see?",
        "Print the shape of every tensor that you make for S = 384 and a block of 16. Which of them holds 384 · 384 "
        "numbers, and how many blocks exist at the same time?",
        "Begin without a mask: the empty block, then a loop over the beginnings of blocks with `merge_blocks`. Divide "
        "once, behind the loop. What should a query give that saw nothing?",
    ),
    forbidden=("F.scaled_dot_product_attention", "nn.MultiheadAttention", "F.multi_head_attention_forward"),
    calls=(
        "[x.shape for x in blockwise_attention(numbers(2, 3, 5, 7), numbers(2, 3, 11, 7), numbers(2, 3, 11, 4), 4)]",
        "blockwise_attention(zeros(1, 1, 1, 1), zeros(1, 1, 2, 1), tensor([[[[2.], [4.]]]]), 1)",
        "blockwise_attention(zeros(1, 1, 2, 1), zeros(1, 1, 2, 1), tensor([[[[2.], [4.]]]]), 2, True)",
        "blockwise_attention(zeros(1, 1, 2, 1), zeros(1, 1, 1, 1), tensor([[[[2.]]]]), 1, True)",
        "blockwise_attention(zeros(1, 1, 1, 1), zeros(1, 1, 3, 1), tensor([[[[3.], [3.], [9.]]]]), 2)[0]",
        "blockwise_attention(zeros(1, 1, 1, 1), zeros(1, 1, 2, 1), zeros(1, 1, 2, 1), 0)",
    ),
)
def blockwise_attention(rng):
    """Blocks that divide the keys and that do not, T and S apart, queries that see nothing, and memory counted."""

    def inputs(B, h, T, S, d, dv, dtype=torch.float64, shift=0.0):
        q, k, v = (rng.normal(B, h, n, wide, dtype=dtype) for n, wide in ((T, d), (S, d), (S, dv)))
        return (q, k, v) if not shift else (torch.ones_like(q), k + shift, v)

    yield call(PLAIN, *inputs(2, 3, 5, 6, 7, 4), 3, public=True, weight=2.0)
    yield call("a shorter block at the end", *inputs(2, 3, 5, 11, 2, 7), 4, public=True, weight=2.0)
    yield call("blocks of one key", *inputs(1, 2, 3, 5, 7, 2), 1)
    yield call("one block, longer than the text", *inputs(3, 1, 2, 7, 5, 3), 11)
    yield call("causal", *inputs(2, 3, 7, 7, 5, 2), 3, True, public=True, weight=2.0)
    yield call("causal, fewer queries than keys", *inputs(2, 1, 3, 11, 5, 7), 4, causal=True, public=True, weight=2.0)
    yield call("one query behind a cache", *inputs(2, 3, 1, 13, 2, 5), 5, True)
    yield call("causal, more queries than keys", *inputs(1, 2, 7, 3, 5, 2), 2, True, grad=False, public=True)
    q, k, v = inputs(1, 2, 5, 3, 2, 7)
    first = call("gradients of queries that see nothing", q, k, v, 2, True, grad=False)
    leaves = (x.requires_grad_() for x in (q, k, v))
    first = first.call(*leaves, 2, True, on="answer", into="seen", carries=["lse"]).gradients(of="seen")
    yield first
    yield call("scores far below zero", *inputs(1, 2, 5, 7, 1, 3, shift=-90_000.0), 3, True, grad=False)
    yield call("scores of thousands", *inputs(1, 2, 5, 7, 1, 3, shift=4000.0), 2, grad=False)
    yield call("float32", *inputs(2, 3, 5, 7, 11, 2, dtype=torch.float32), 4, public=True)
    turned = map(noncontiguous, inputs(2, 3, 5, 7, 2, 4))
    yield call("memory that is not contiguous", *turned, 3, public=True)
    for block in (0, -2):
        title = f"a block of {block} keys"
        yield call(title, *inputs(1, 2, 3, 5, 2, 7), block, raises="ValueError", weight=0.25, public=True)
    for kind, T, S, d, causal in (("all keys", 96, 1536, 2, False), ("causal", 384, 384, 8, True)):
        title, largest = f"no table of scores, {kind}", 4 * T * BLOCK
        case = call(title, *inputs(1, 1, T, S, d, d), BLOCK, causal, grad=False, public=True, weight=3.0)
        case = case.counts_memory().laws_only()
        told = f"your largest tensor has more than {largest:,} numbers: is it a table of all scores, or a mask?"
        yield case.law("at_most", of="largest tensor", value=largest, because=told).counts_with(PLAIN)
        told = f"{SHARE:.0%} of a table or more exists at once: which blocks do you still need?"
        again = case.judged_again(f"little at once, {kind}")
        yield again.law("at_most", of="numbers at once", value=SHARE * T * S, because=told).counts_with(PLAIN)


def _at_once(hides=lambda T, S: torch.ones(T, S, dtype=torch.bool).triu(S - T + 1), lowest=-math.inf, mended=True):
    """Attention with a table, which masks so."""

    def attention(q, k, v, block, causal=False):
        if block < 1:
            raise ValueError("a block has one key at least")
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        if causal:
            scores = scores.masked_fill(hides(q.shape[2], k.shape[2]), lowest)
        weights = scores.softmax(-1)
        return (weights.nan_to_num(0.0) if mended else weights) @ v, scores.logsumexp(-1)

    return attention


def _strips(q, k, v, block, causal):
    """The scores and values of one block after the other."""
    if block < 1:
        raise ValueError("a block has one key at least")
    places = torch.arange(k.shape[2] - q.shape[2], k.shape[2])[:, None]
    for keys in torch.arange(k.shape[2]).split(block):
        scores = q @ k[:, :, keys].mT / math.sqrt(q.shape[-1])
        yield scores.masked_fill(keys > places, -math.inf) if causal else scores, v[:, :, keys]


blockwise_attention.mistakes(
    "The result is right, and a table of T · S numbers was made. Print the largest shape of your tensors.",
    a_table_of_all_scores=_at_once(),
)


@blockwise_attention.misconception(
    "Nothing that you make has more than T · block numbers. How many blocks of scores exist at the end of your loop?"
)
def all_blocks_kept(q, k, v, block, causal=False):
    strips = list(_strips(q, k, v, block, causal))
    m, total, out = reduce(reference.merge_blocks, (reference._one_block(*strip) for strip in strips))
    total = total.masked_fill(total == 0, 1.0)
    return out / total[..., None], m + total.log()


@blockwise_attention.misconception(
    "In the worked example each block by itself has the means 4 and 3.67. Which of them counts more, and why?"
)
def each_block_its_own_softmax(q, k, v, block, causal=False):
    strips = [(s.softmax(-1).nan_to_num(0.0) @ some, s.logsumexp(-1)) for s, some in _strips(q, k, v, block, causal)]
    outs, totals = map(torch.stack, zip(*strips))
    return outs.mean(0), totals.logsumexp(0)


blockwise_attention.mistakes(
    "Take T = 1 and S = 5 with `causal`. The only query stands at the last key. How many keys does it see?",
    upper_left_diagonal=_at_once(hides=lambda T, S: torch.ones(T, S, dtype=torch.bool).triu(1)),
)
blockwise_attention.mistakes(
    "Take T = 3 and S = 2 with `causal`. The first query sees nothing. Does it give zeros, and -inf beside them?",
    empty_rows_are_nan=_at_once(mended=False),
)
blockwise_attention.mistakes(
    "Hide a key, and give all others a score of -90,000. Which of them has the largest weight in your result?",
    a_finite_score_hides=_at_once(lowest=-1e4),
)
