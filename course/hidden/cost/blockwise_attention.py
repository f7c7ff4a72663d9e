"""Hidden tests of `blockwise_attention`: exact, with its log-sum-exp, and without a table of all scores."""

from __future__ import annotations

import math

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import cost as reference

LONG, BLOCK = 384, 16
TABLE = LONG * LONG
LARGEST, SHARE = 4 * LONG * BLOCK, 1 / 3
"""Numbers that one tensor may hold, and the share of a table that may exist at once. Right answers need .05 to .25."""
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
    yield call("a shorter block at the end", *inputs(2, 3, 5, 11, 2, 7), 4, weight=2.0)
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
    yield call("a block of no key", *inputs(1, 2, 3, 5, 2, 7), 0, raises="ValueError", weight=0.5, public=True)
    for causal in (False, True):
        kind = "causal" if causal else "all keys"
        title = f"no table of scores, {kind}"
        case = call(title, *inputs(1, 1, LONG, LONG, 8, 8), BLOCK, causal, grad=False, public=causal, weight=3.0)
        case = case.counts_memory().laws_only().counts_with(PLAIN)
        told = f"your largest tensor has more than {LARGEST:,} numbers: is it a table of all scores, or a mask?"
        yield case.law("at_most", of="largest tensor", value=LARGEST, because=told)
        told = f"{SHARE:.0%} of a table or more exists at once: which blocks do you still need?"
        yield (
            case.judged_again(f"little at once, {kind}")
            .law("at_most", of="numbers at once", value=SHARE * TABLE, because=told)
            .counts_with(PLAIN)
        )


def _attending(
    divided=lambda d: math.sqrt(d),
    hides=lambda T, S: torch.ones(T, S, dtype=torch.bool).triu(S - T + 1),
    lowest=-math.inf,
    mended=True,
):
    """Attention with a table, which scales and masks so."""

    def attention(q, k, v, block, causal=False):
        if block < 1:
            raise ValueError("a block has one key at least")
        scores = q @ k.mT / divided(q.shape[-1])
        if causal:
            scores = scores.masked_fill(hides(q.shape[2], k.shape[2]), lowest)
        out = scores.softmax(-1)
        return (out.nan_to_num(0.0) if mended else out) @ v, scores.logsumexp(-1)

    return attention


blockwise_attention.mistakes(
    "The result is right, and a table of T · S numbers was made. Print the largest shape of your tensors.",
    a_table_of_all_scores=_attending(),
)


@blockwise_attention.misconception(
    "Nothing that you make has more than T · block numbers. How many blocks of scores exist at the end of your loop?"
)
def all_blocks_kept(q, k, v, block, causal=False):
    if block < 1:
        raise ValueError("a block has one key at least")
    T, S = q.shape[2], k.shape[2]
    places = torch.arange(S - T, S)[:, None]
    kept, result = [], None
    for begin in range(0, S, block):
        keys = torch.arange(begin, min(begin + block, S))
        scores = q @ k[:, :, begin : begin + block].mT / math.sqrt(q.shape[-1])
        scores = scores.masked_fill(keys > places, -math.inf) if causal else scores
        kept.append((scores, v[:, :, begin : begin + block]))
    for scores, values in kept:
        made = reference._one_block(scores, values)
        result = made if result is None else reference.merge_blocks(result, made)
    m, total, out = result
    total = total.masked_fill(total == 0, 1.0)
    return out / total[..., None], m + total.log()


@blockwise_attention.misconception(
    "In the worked example each block by itself has the means 4 and 3.67. Which of them counts more, and why?"
)
def each_block_its_own_softmax(q, k, v, block, causal=False):
    if block < 1:
        raise ValueError("a block has one key at least")
    T, S = q.shape[2], k.shape[2]
    found = []
    for begin in range(0, S, block):
        part = slice(begin, begin + block)
        scores = q @ k[:, :, part].mT / math.sqrt(q.shape[-1])
        if causal:
            keys = torch.arange(S)[part]
            scores = scores.masked_fill(keys > torch.arange(S - T, S)[:, None], -math.inf)
        found.append((scores.softmax(-1).nan_to_num(0.0) @ v[:, :, part], scores.logsumexp(-1)))
    outs, totals = (torch.stack(each) for each in zip(*found))
    return outs.mean(0), totals.logsumexp(0)


blockwise_attention.mistakes(
    "Take T = 1 and S = 5 with `causal`. The only query stands at the last key. How many keys does it see?",
    upper_left_diagonal=_attending(hides=lambda T, S: torch.ones(T, S, dtype=torch.bool).triu(1)),
)
blockwise_attention.mistakes(
    "Take q and k from torch.randn with d = 400. The variance of the scores should be 1.",
    not_scaled=_attending(divided=lambda d: 1.0),
)
blockwise_attention.mistakes(
    "Take T = 3 and S = 2 with `causal`. The first query sees nothing. Does it give zeros, and -inf beside them?",
    empty_rows_are_nan=_attending(mended=False),
)
blockwise_attention.mistakes(
    "Hide a key, and give all others a score of -90,000. Which of them has the largest weight in your result?",
    a_finite_score_hides=_attending(lowest=-1e4),
)


@blockwise_attention.misconception("The second result is log Σ exp(score). Is it m, or l, or made of both?")
def largest_score_for_lse(q, k, v, block, causal=False):
    out, _ = reference.blockwise_attention(q, k, v, block, causal)
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if causal:
        T, S = scores.shape[2:]
        scores = scores.masked_fill(torch.ones(T, S, dtype=torch.bool).triu(S - T + 1), -math.inf)
    return out, scores.amax(-1)
