"""Hidden tests of `dequantise`: any bytes and scales, in any shape."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.bert.scaffold import levels_of
from course.reference import bert as reference


@exercise(
    reference.dequantise,
    hints=(
        "Which two codes does the byte 167 hold? `>>` and `&` on integers take it apart.",
        "Write down the shape after each step: bytes, codes, levels, weights in blocks, weights in one row. Which "
        "numbers of the last block do you drop?",
        "Begin with the two halves of every byte, as two tensors. In which order must they come to stand beside each "
        "other, so that the codes are those that `quantise` packed?",
    ),
    calls=(
        "levels = arange(16) / 15; dequantise(tensor([[15]], dtype=torch.uint8), tensor([3.]), levels, (1, 2))",
        "levels = arange(16) / 15; dequantise(tensor([[240]], dtype=torch.uint8), tensor([3.]), levels, (1, 2))",
        (
            "levels = arange(16) / 15; dequantise(tensor([[255], [255]], dtype=torch.uint8), tensor([2., "
            "7.]), levels, (2, 2))"
        ),
        (
            "levels = arange(16) / 15; dequantise(tensor([[255], [255]], dtype=torch.uint8), tensor([2., "
            "7.]), levels, (1, 3))"
        ),
        "levels = arange(16) / 15; dequantise(tensor([[0]], dtype=torch.uint8), tensor([3.]), levels, (2, 1))",
        "levels = arange(16) / 15; dequantise(tensor([[17]], dtype=torch.uint8), tensor([15.]), levels, (1, 2))",
    ),
)
def dequantise(rng):
    """Codes, scales and levels of the judge's own, so that nothing needs `quantise`."""

    def asked(title, blocks, block, shape, dtype=torch.float64, levels=None, **settings):
        codes = rng.integers(0, 256, blocks, block // 2).to(torch.uint8)
        scales = 0.5 + rng.uniform(blocks, dtype=dtype)
        levels = levels_of(rng) if levels is None else levels
        return call(title, codes, scales, levels, shape, grad=False, **settings)

    nf4 = reference.nf4_levels()
    yield asked("two rows of one block each", 2, 6, (2, 6), public=True, weight=2.0, levels=nf4)
    yield asked("several blocks in a row", 6, 4, (3, 8), weight=2.0)
    yield asked("blocks that run over the ends of rows", 2, 10, (4, 5), public=True)
    yield asked("a last block that is not full", 4, 4, (3, 5), public=True, weight=2.0)
    yield asked("a block larger than W", 1, 64, (2, 3))
    yield asked("many blocks", 35, 2, (5, 14), weight=2.0)
    yield asked("float32 scales, float64 levels", 5, 6, (3, 10), torch.float32, public=True)
    yield asked("float64 scales, float32 levels", 5, 6, (3, 10), levels=nf4)
    codes = rng.integers(0, 256, 3, 4).to(torch.uint8)
    yield call("a scale of zero", codes, torch.tensor([1.5, 0.0, 2.0]).double(), nf4, (4, 6), grad=False)
    codes = noncontiguous(rng.integers(0, 256, 5, 4).to(torch.uint8))
    yield call("memory that is not contiguous", codes, rng.uniform(5), levels_of(rng), (5, 8), grad=False, public=True)


def _back(codes, scales, levels, shape, halves=None, scaled=None):
    both = torch.stack((halves or _halves)(codes), -1).flatten(1).long()
    weights = levels.to(scales)[both]
    weights = weights * scales[:, None] if scaled is None else scaled(weights, scales)
    return weights.flatten()[: shape[0] * shape[1]].view(shape)


def _halves(codes):
    return codes >> 4, codes & 15


@dequantise.misconception("Which code of the byte 167 comes first, 10 or 7? Which of the two is in its upper half?")
def lower_half_first(codes, scales, levels, shape):
    return _back(codes, scales, levels, shape, lambda codes: (codes & 15, codes >> 4))


@dequantise.misconception("Print the weights of two blocks whose scales are 1 and 2. By what was each multiplied?")
def one_scale_for_all(codes, scales, levels, shape):
    return _back(codes, scales, levels, shape, scaled=lambda weights, scales: weights * scales.max())


@dequantise.misconception("Are your weights between -1 and 1? What are they multiplied by?")
def without_scales(codes, scales, levels, shape):
    return _back(codes, scales, levels, shape, scaled=lambda weights, scales: weights)


@dequantise.misconception("Which weights does one byte hold, neighbours or weights that lie half a block apart?")
def halves_of_the_block(codes, scales, levels, shape):
    both = torch.cat(_halves(codes), 1).long()
    return (levels.to(scales)[both] * scales[:, None]).flatten()[: shape[0] * shape[1]].view(shape)


@dequantise.misconception("Which level has the code 9? Print `levels[9]` beside what you use.")
def evenly_spaced_levels(codes, scales, levels, shape):
    return _back(codes, scales, torch.linspace(-1, 1, 16, dtype=torch.float64), shape)


@dequantise.misconception("Do blocks run through W by rows or by columns? Take the example of the text back.")
def column_by_column(codes, scales, levels, shape):
    return _back(codes, scales, levels, shape[::-1]).T.contiguous()
