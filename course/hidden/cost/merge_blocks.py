"""Hidden tests of `merge_blocks`: the largest score, both sums rescaled to it, and blocks that hold nothing."""

from __future__ import annotations

import math

import torch

from course.exercise import Ref, call, exercise, given, noncontiguous, stand_in
from course.reference import cost as reference

SECOND = "the second one has the largest score"
BLOCK, EMPTY = "(tensor([0.]), tensor([2.]), tensor([[8.]]))", "(tensor([-inf]), tensor([0.]), tensor([[0.]]))"
"""A block, and one that holds nothing, for calls."""


def block_of(scores, v):
    """The block of scores (..., S) and values (..., S, D)."""
    m = scores.amax(-1)
    weights = (scores - m.masked_fill(m == -math.inf, 0.0)[..., None]).exp()
    return m, weights.sum(-1), (weights[..., None] * v).sum(-2)


@exercise(
    reference.merge_blocks,
    hints=(
        "In the worked example the largest score moves from 0 to log 4. By which factor do the old sum and the old "
        "output shrink?",
        "Swap the two blocks. Does the result change? Join three blocks in both groupings. Do they agree?",
        "A block without a key has m = -inf. What is exp(-inf - m) for a finite m? And what is -inf - -inf?",
        "Begin with the new m. Then write the factor of each block, and print both for the worked example.",
    ),
    calls=(
        f"merge_blocks({BLOCK}, (tensor([0.]), tensor([3.]), tensor([[4.]])))",
        f"merge_blocks({BLOCK}, (tensor([100.]), tensor([3.]), tensor([[4.]])))",
        f"merge_blocks({EMPTY}, (tensor([5.]), tensor([2.]), tensor([[6.]])))",
        f"merge_blocks({EMPTY}, {EMPTY})",
        "merge_blocks(*((tensor([n]).log(), tensor([1.]), tensor([[2 * n]])) for n in (2., 4.)))",
        "[x.shape for x in merge_blocks(*((numbers(2, 3), numbers(2, 3), numbers(2, 3, 5)) for _ in range(2)))]",
    ),
)
def merge_blocks(rng):
    """Either block has the largest score, scores of thousands, empty blocks; gradients of the result alone.

    The maximum may be cut from the graph, because o / l and m + log l do not depend on it.
    """

    def block(*shape, S=3, D=2, shift=0.0, dtype=torch.float64):
        return block_of(shift + 2 * rng.normal(*shape, S, dtype=dtype), rng.normal(*shape, S, D, dtype=dtype))

    def empty(*shape, D=2):
        zeros = torch.zeros(*shape, dtype=torch.float64)
        return zeros - math.inf, zeros, zeros[..., None].expand(*shape, D).clone()

    def partly(*shape):
        m, total, out = block(*shape)
        gone = torch.arange(shape[-1]) % 2 == 0
        return m.masked_fill(gone, -math.inf), total.masked_fill(gone, 0.0), out.masked_fill(gone[:, None], 0.0)

    weighed = torch.tensor([1.0, 1.0, 4.0, 2.0], dtype=torch.float64).log()[None]
    values = torch.tensor([6.0, 2.0, 3.0, 5.0], dtype=torch.float64)[None, :, None]
    halves = [block_of(weighed[:, part], values[:, part]) for part in (slice(2), slice(2, 4))]
    yield call("the worked example", *halves, grad=False, public=True)
    yield call(SECOND, block(3, 5), block(3, 5, S=7, shift=9.0), grad=False, weight=2.0)
    yield call("the first one has it", block(2, 3, D=5, shift=9.0), block(2, 3, S=2, D=5), grad=False, public=True)
    yield call("each of them in some rows", block(2, 7, 3, D=5), block(2, 7, 3, D=5), grad=False, weight=2.0)
    yield call("scores of thousands", block(5, shift=-3000.0), block(5, shift=4000.0), grad=False)
    yield call("scores far below zero", block(5, shift=-90_000.0), block(5, shift=-90_003.0), grad=False, weight=2.0)
    yield call("nothing in the first", empty(3), block(3, shift=-40_000.0), grad=False, public=True)
    yield call("nothing in the second", block(5, shift=-70.0), empty(5), grad=False).counts_with(SECOND)
    yield call("nothing in both", empty(3), empty(3), grad=False, public=True).counts_with(SECOND)
    yield call("nothing in some rows", partly(7), partly(7), grad=False)
    yield call("float32", block(3, dtype=torch.float32), block(3, dtype=torch.float32), grad=False, public=True)
    turned = [tuple(map(noncontiguous, block(3, 5))) for _ in range(2)]
    yield call("memory that is not contiguous", *turned, grad=False, public=True)

    def learns(title, first, second, **settings):
        joined = given(title, look=stand_in("softmax_of_blocks"), **settings)
        leaves = [tuple(part.requires_grad_() for part in block) for block in (first, second)]
        return joined.call(Ref("answer"), *leaves, on="look").gradients()

    yield learns("gradients of the result", block(2, 3), block(2, 3, shift=2.0), public=True)
    yield learns("gradients beside empty blocks", partly(5), partly(5))


def _merged(factors):
    """An answer with these factors of both blocks, by their largest scores and the larger of them."""

    def merged(first, second):
        (m1, l1, o1), (m2, l2, o2) = first, second
        m = torch.maximum(m1, m2)
        a, b = factors(m1, m2, m)
        return m, a * l1 + b * l2, a[..., None] * o1 + b[..., None] * o2

    return merged


merge_blocks.mistakes(
    "A block with a large score must outweigh one with small scores. Print the factor of each block.",
    sums_added_as_they_are=_merged(lambda m1, m2, m: (torch.ones_like(m1), torch.ones_like(m2))),
)
merge_blocks.mistakes(
    "Let both blocks hold nothing. What is -inf - -inf, and what should come out?",
    minus_infinity_less_itself=_merged(lambda m1, m2, m: ((m1 - m).exp(), (m2 - m).exp())),
)


@merge_blocks.misconception("Follow the worked example. Which numbers stand for o = 8 once the largest score is log 4?")
def old_output_not_rescaled(first, second):
    m, total, _ = reference.merge_blocks(first, second)
    shrunk = (second[0] - m.masked_fill(m == -math.inf, 0.0)).exp()
    return m, total, first[2] + shrunk[..., None] * second[2]


@merge_blocks.misconception(
    "Three things come back, and o is a sum. Which of them do you divide by the sum of weights?"
)
def output_divided(first, second):
    m, total, out = reference.merge_blocks(first, second)
    return m, total, out / total.masked_fill(total == 0, 1.0)[..., None]


@merge_blocks.misconception("Scores of -90,000 are scores. What becomes of their largest one in your result?")
def a_finite_lowest_score(first, second):
    return reference.merge_blocks((first[0].clamp(min=-1e4), *first[1:]), (second[0].clamp(min=-1e4), *second[1:]))
