"""Hidden tests of `quantise`: codes and scales of matrices that fill their blocks, and of those that do not."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.bert.scaffold import levels_of
from course.reference import bert as reference

ROWS = "two rows of one block each"
TOLERANCE = 1e-6
"""Of the scales, though NF4's levels are float32: they are weights, and come as they are."""


@exercise(
    reference.quantise,
    hints=(
        "Do the example in the text on paper, for the first block alone. What are its scale, its four codes and its "
        "two bytes?",
        "Print the shape after each step: W, W in blocks, the distances to sixteen levels, the codes, the bytes.",
        "Begin with W in blocks. W has 15 numbers and a block holds 4. How many blocks are there, and what stands at "
        "the end of the last one?",
    ),
    calls=(
        "levels = torch.linspace(-1, 1, 16); quantise(tensor([[1., -1.]]), levels, 2)",
        "levels = torch.linspace(-1, 1, 16); quantise(tensor([[5., -5.]]), levels, 2)",
        "levels = torch.linspace(-1, 1, 16); quantise(tensor([[-1., -1., 3., 3.]]), levels, 2)",
        "levels = arange(16) / 15; quantise(tensor([[0., 0.]]), levels, 2)",
        "levels = arange(16) / 15; quantise(tensor([[0., 15.], [30., 30.]]), levels, 2)",
        "levels = torch.linspace(-1, 1, 16); [part.shape for part in quantise(numbers(3, 5), levels, 4)]",
    ),
)
def quantise(rng):
    """Exact codes, levels of the judge's own. Where several codes are right, what they stand for decides."""
    levels = levels_of(rng)
    nf4 = reference.nf4_levels()

    def asked(title, *arguments, **settings):
        return call(title, *arguments, grad=False, tolerance=TOLERANCE, **settings)

    def back(title, W, block, **settings):
        case = asked(title, W, nf4, block, **settings).laws_only()
        return case.law("comes_back", W=W, levels=nf4, block=block)

    yield asked(ROWS, rng.normal(2, 6), nf4, 6, public=True, weight=2.0)
    yield asked("several blocks in a row", rng.normal(3, 8), nf4, 4, weight=2.0)
    yield asked("blocks that run over the ends of rows", rng.normal(4, 5), levels, 10, public=True)
    yield asked("a last block that is not full", rng.normal(3, 5), nf4, 4, public=True, weight=2.0)
    yield asked("a block larger than W", rng.normal(2, 3), levels, 64)
    yield asked("other levels", rng.normal(5, 12), levels, 6, weight=2.0)
    W = rng.normal(3, 8)
    W[1] = 0.0
    yield back("a block of zeros", W, 8, public=True)
    W = rng.normal(4, 8)
    W[2, 3] = -50.0
    yield asked("an outlier below zero", W, nf4, 8)
    yield asked("blocks of two weights", rng.normal(3, 10), levels, 2, weight=0.5)
    W = torch.tensor([[0.4, -0.2, 0.1, 0.0], [2.0, -1.0, 0.3, -1.6]], dtype=torch.float64)
    small = back("the example's weights, a millionth as large", 1e-6 * W, 4, public=True, weight=0.5)
    yield small.counts_with(ROWS)
    scattered = noncontiguous(rng.normal(7, 6, dtype=torch.float32))
    yield back("float32, not contiguous", scattered, 6, public=True)


def _quantise(W, levels, block, *, flat=None, scale=None, codes=None, pack=None):
    """The task with another order, another scale, other codes or other bytes."""
    blocks = (flat or _flat)(W, block)
    scales = blocks.abs().amax(1) if scale is None else scale(blocks)
    unit = blocks / torch.where(scales.abs() < 1e-30, 1e-30, scales)[:, None]
    found = (codes or _nearest)(unit, levels.to(W)).to(torch.uint8)
    return (pack or _upper_first)(found), scales


def _flat(W, block):
    flat = W.flatten()
    return torch.cat([flat, flat.new_zeros(-len(flat) % block)]).view(-1, block)


def _nearest(unit, levels):
    return (unit[..., None] - levels).abs().argmin(-1)


def _upper_first(codes):
    return codes[:, ::2] * 16 + codes[:, 1::2]


def _with(**pieces):
    return lambda W, levels, block: _quantise(W, levels, block, **pieces)


quantise.mistakes(
    "Multiply one row of W by ten. Do the codes of another row change?",
    one_scale_for_all=_with(scale=lambda blocks: blocks.abs().max().expand(len(blocks)).clone()),
)
quantise.mistakes(
    "Print the scale of a block whose largest weight is below zero. Is a scale ever negative, or too small?",
    largest_without_the_sign=_with(scale=lambda blocks: blocks.amax(1)),
)
quantise.mistakes(
    "W has 15 numbers and a block holds 4. How many scales do you return?",
    the_last_block_is_dropped=_with(flat=lambda W, block: _dropped(W, block)),
)
quantise.mistakes(
    "Write down your first byte in binary. Which code stands in its upper four bits?",
    lower_half_first=_with(pack=lambda codes: codes[:, 1::2] * 16 + codes[:, ::2]),
)
quantise.mistakes(
    "How many bytes do your codes take for 64 weights? Four bits each make how many?",
    a_byte_for_each_code=_with(pack=lambda codes: codes),
)
quantise.mistakes(
    "Print the largest and the smallest of your bytes. Between which numbers should they lie?",
    signed_codes=lambda W, levels, block: _signed(*_quantise(W, levels, block)),
)
quantise.mistakes(
    "Take a weight just below a level. Is your code the nearest level, or the next one below?",
    the_level_below=_with(codes=lambda unit, levels: (torch.searchsorted(levels, unit, right=True) - 1).clamp(0, 15)),
)


def _dropped(W, block):
    flat = W.flatten()
    kept = flat[: max(len(flat) // block, 1) * block]
    return _flat(kept, block)


def _signed(codes, scales):
    return codes.view(torch.int8), scales


@quantise.misconception("How are the sixteen levels spaced? Print the differences of neighbours.")
def evenly_spaced_levels(W, levels, block):
    return _quantise(W, torch.linspace(-1, 1, 16, dtype=levels.dtype), block)
