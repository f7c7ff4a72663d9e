"""Find how wrong numbers relate to the right ones, and say so in a sentence. No relation is specific to an exercise.

A relation says what was observed, not what to do. It counts only if it hardly holds by chance: `Relation.bits`
measures the evidence, and `explain_values.py` adds it up over all failing cases.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations

import torch
from torch import Tensor

from .compare_values import agree

SLACK = 10.0
"""Factor on the tolerance for a computed relation, because rounding errors grow on the way."""

MOST_NUMBERS = 2**16
"""Size above which a tensor is not examined."""


@dataclass(frozen=True, eq=False)
class Pair:
    """The right numbers and an answer's, of the same shape.

    `inputs` are the tensor arguments of the call by name, and `others` the right values of its other results.
    `is_alone` means that all other results are right. `is_keyed` means that the numbers have keys and no order.
    """

    right: Tensor
    answer: Tensor
    tolerance: float
    inputs: Mapping[str, Tensor] = field(default_factory=dict)
    others: Mapping[str, Tensor] = field(default_factory=dict)
    is_alone: bool = True
    is_keyed: bool = False

    @cached_property
    def expected(self) -> Tensor:
        """Return the right numbers in double precision."""
        return self.right.detach().double()

    @cached_property
    def seen(self) -> Tensor:
        """Return the answer's numbers in double precision."""
        return self.answer.detach().double()

    @cached_property
    def wrong(self) -> Tensor:
        """Return which numbers are wrong, as a boolean tensor."""
        if not self.right.is_floating_point() and not self.answer.is_floating_point():
            return self.expected != self.seen
        return ~torch.isclose(self.seen, self.expected, rtol=self.tolerance, atol=self.tolerance, equal_nan=True)

    @property
    def it(self) -> str:
        """Return the subject and verb of a sentence about the values."""
        return "it is" if self.seen.dim() == 0 else "every value is"

    def agree(self, one: Tensor, other: Tensor) -> bool:
        """Return whether two computed tensors are equal within the relaxed tolerance."""
        return one.shape == other.shape and agree(one, other, max(self.tolerance, 1e-9) * SLACK)

    @cached_property
    def is_nearly_right(self) -> bool:
        """Return whether the error is so small that a loosely compared relation also holds for the right numbers."""
        return self.right.is_floating_point() and self.agree(self.expected, self.seen)

    def bits(self, where: Tensor) -> float:
        """Return how many bits of evidence the answer's numbers at these places give.

        Equal numbers count once. A whole number gives fewer bits than a fraction, and a boolean one bit.
        """
        if self.right.dtype == torch.bool:
            return float(where.sum())
        values = self.seen[where] if where.dim() else self.seen.reshape(1)
        values = values[values.isfinite()].mul(1e6).round().div(1e6).unique()
        each = min(20.0, -math.log2(max(self.tolerance, 1e-6)))
        whole = values == values.round()
        small = (2 + values.abs()).log2().clamp(max=each)
        told = torch.where(whole, small, torch.full_like(small, each))
        return float(told.sum())


@dataclass(frozen=True)
class Relation:
    """A relation that holds: its sentence, its bits of evidence and the number that was fitted for it, if any.

    `cost` is subtracted from the bits for a fitted number, once for all cases that share the number. `kind` must be
    equal in all cases.
    """

    sentence: str
    bits: float
    fitted: float | None = None
    cost: float = 0.0
    kind: str = ""


def evidence(held: Collection[Relation]) -> float:
    """Return a relation's total bits of evidence over all cases in which it holds."""
    fitted = [one.fitted for one in held if one.fitted is not None]
    same = len(fitted) == len(held) and all(math.isclose(one, fitted[0], rel_tol=1e-3) for one in fitted)
    costs = [one.cost for one in held]
    return sum(one.bits for one in held) - (max(costs) if same and costs else sum(costs))


Claims = Iterable[tuple[str, Tensor, Tensor]]
"""Sentences, each with two tensors that are equal if the sentence is true."""

FIT_BITS = 20.0
"""Bits of evidence subtracted for a fitted number."""


def claimed(claims: Callable[[Pair], Claims]) -> Callable[[Pair], Relation | None]:
    """Make a relation that reports the first of its claims that is true."""

    def relation(pair: Pair) -> Relation | None:
        for sentence, one, other in claims(pair):
            if pair.agree(one, other):
                return Relation(sentence, pair.bits(pair.wrong))
        return None

    relation.__name__ = claims.__name__
    return relation


def constant(pair: Pair) -> Relation | None:
    """Detect one constant everywhere, where the right values differ."""
    if pair.seen.numel() < 3 or not bool(pair.seen.isfinite().all()):
        return None
    spread = float(pair.seen.max() - pair.seen.min())
    if spread > pair.tolerance * (1 + float(pair.seen.abs().max())):
        return None
    first = pair.answer.flatten()[0].item()
    told = pair.bits(pair.wrong) if isinstance(first, bool) else 10.0 * _distinct(pair.expected[pair.wrong])
    return Relation(f"all values are {first if isinstance(first, bool) else format(first, '.4g')}", told)


@claimed
def an_input(pair: Pair) -> Claims:
    """Detect an input returned unchanged."""
    for name, given in pair.inputs.items():
        what = "the values are those of" if pair.seen.dim() else "it is the value of"
        yield f"{what} {name}, unchanged", pair.seen, given


@claimed
def another_result(pair: Pair) -> Claims:
    """Detect a result that equals another result's right value."""
    for name, right in pair.others.items():
        yield f"{'the values are' if pair.seen.dim() else 'it is'} what {name} should be", pair.seen, right


@claimed
def axes_exchanged(pair: Pair) -> Claims:
    """Detect permuted axes."""
    axes = range(pair.seen.dim())
    for order in permutations(axes) if 2 <= len(axes) <= 4 else ():
        moved = [axis for axis in axes if order[axis] != axis]
        if moved and pair.seen.permute(order).shape == pair.expected.shape:
            which = "transposed" if moved == list(axes[-2:]) else f"in the order of axes {order}"
            yield f"the values are right, but {which}", pair.expected, pair.seen.permute(order)


def negated(pair: Pair) -> Relation | None:
    """Detect True for False everywhere."""
    if pair.right.dtype != torch.bool or not bool(pair.wrong.all()):
        return None
    return Relation("every True should be False, and every False True", pair.bits(pair.wrong))


@claimed
def sign(pair: Pair) -> Claims:
    """Detect reversed signs."""
    yield (
        "the signs are reversed" if pair.seen.dim() else "it is right except for its sign",
        pair.expected,
        -pair.seen,
    )


def factor(pair: Pair) -> Relation | None:
    """Detect one common factor. A whole number or its reciprocal costs no evidence as a fitted number."""
    clear = (pair.expected.abs() > 100 * pair.tolerance) & pair.expected.isfinite() & pair.seen.isfinite()
    if not bool(clear.any()):
        return None
    ratio = float((pair.seen[clear] / pair.expected[clear]).median())
    if abs(ratio) < 1e-6 or abs(abs(ratio) - 1) < 1e-3 or not pair.agree(pair.expected * ratio, pair.seen):
        return None
    sentence = f"{pair.it} {ratio:.4g} times what it should be"
    return Relation(sentence, pair.bits(pair.wrong), ratio, 0.0 if _is_simple(ratio) else FIT_BITS)


def offset(pair: Pair) -> Relation | None:
    """Detect one number added everywhere or, for whole numbers, wherever they are wrong."""
    where = pair.wrong if not pair.right.is_floating_point() else torch.ones_like(pair.wrong)
    where = where & pair.expected.isfinite() & pair.seen.isfinite()
    if not bool(where.any()) or pair.right.dtype == torch.bool:
        return None
    gap = float((pair.seen[where] - pair.expected[where]).median())
    if not gap or not pair.agree(torch.where(where, pair.expected + gap, pair.expected), pair.seen):
        return None
    every = pair.it if bool(pair.wrong.all()) else "every wrong value is"
    sentence = f"{every} too {_size(gap)} by {abs(gap):.4g}"
    return Relation(sentence, pair.bits(pair.wrong), gap, 2.0 if abs(gap) == 1 else FIT_BITS)


def offset_by_an_input(pair: Pair) -> Relation | None:
    """Detect an input, or a simple multiple of it, added to the right values."""
    for name, given in pair.inputs.items():
        if given.numel() < 2 or not _fits(given, pair.seen):
            continue
        spread = given.double().expand_as(pair.seen)
        clear = (spread.abs() > 1e-2) & pair.expected.isfinite() & pair.seen.isfinite()
        if not bool(clear.any()):
            continue
        times = float(((pair.seen - pair.expected)[clear] / spread[clear]).median())
        if _is_simple(times, 1) and pair.agree(pair.expected + times * spread, pair.seen):
            what = name if abs(abs(times) - 1) < 1e-3 else f"{abs(times):.4g} times {name}"
            return Relation(f"the values are too {_size(times)} by {what}", pair.bits(pair.wrong))
    return None


@claimed
def multiplied_by_an_input(pair: Pair) -> Claims:
    """Detect the right values multiplied by an input."""
    for name, given in pair.inputs.items():
        if given.numel() > 1 and _fits(given, pair.seen):
            yield f"the values are right, but multiplied by {name}", pair.expected * given, pair.seen


def _complement(x: Tensor) -> Tensor:
    return 1 - x


FUNCTIONS: tuple[tuple[str, Callable[[Tensor], Tensor]], ...] = (
    ("the logarithm of", torch.log),
    ("the negative logarithm of", lambda x: -x.log()),
    ("the exponential of", torch.exp),
    ("the exponential of minus", lambda x: (-x).exp()),
    ("the square of", torch.square),
    ("the square root of", torch.sqrt),
    ("one divided by", torch.reciprocal),
    ("one minus", _complement),
    ("the tanh of", torch.tanh),
    ("the sigmoid of", torch.sigmoid),
    ("the absolute value of", torch.abs),
)
"""Elementwise functions that may turn the right values into the answer's."""

BEFORE: tuple[tuple[str, Callable[[Tensor], Tensor]], ...] = (
    ("tanh", torch.tanh),
    ("sigmoid", torch.sigmoid),
    ("ReLU", torch.relu),
    ("GELU", torch.nn.functional.gelu),
)
"""Elementwise functions that may turn the answer's values into the right ones."""


@claimed
def a_function(pair: Pair) -> Claims:
    """Detect an elementwise function between the right values and the answer's, in either direction."""
    if pair.right.dtype == torch.bool:
        return
    for words, function in FUNCTIONS:
        yield f"{pair.it} {words} the right one", function(pair.expected), pair.seen
    curved = bool((pair.seen.abs() > 0.5).any())  # near zero, a GELU looks like a factor of a half
    for name, function in BEFORE if curved else ():
        yield f"the {name} of {_these(pair)} is the right answer", function(pair.seen), pair.expected
    for name, back in (("tanh", torch.atanh), ("sigmoid", torch.logit)):
        for other, function in BEFORE:
            words = f"the result is right with {name} in place of {other}"
            yield words, function(back(pair.expected)), pair.seen


def relu_of_it(pair: Pair) -> Relation | None:
    """Detect zeros for negative numbers, with the rest right."""
    below = pair.expected < -pair.tolerance
    if not bool(below.any()) or not pair.agree(pair.expected.relu(), pair.seen):
        return None
    return Relation("every value that should be below 0 is 0, and the others are right", 4.0 * int(pair.wrong.sum()))


@claimed
def normalised(pair: Pair) -> Claims:
    """Detect a softmax, division or cumulative sum of the right values along an axis."""
    for axis in _axes(pair) if pair.right.dtype != torch.bool else ():
        where = _along(pair, axis)
        yield f"this is the softmax of the right values{where}", pair.expected.softmax(axis), pair.seen
        yield f"the softmax of these values{where} is the right answer", pair.seen.softmax(axis), pair.expected
        yield f"this is the log-softmax of the right values{where}", pair.expected.log_softmax(axis), pair.seen
        total, length = pair.expected.sum(axis, keepdim=True), pair.expected.norm(dim=axis, keepdim=True)
        yield f"these are the right values divided by their sum{where}", pair.expected / total, pair.seen
        yield f"these are the right values divided by their length{where}", pair.expected / length, pair.seen
        yield f"these are the cumulative sums of the right values{where}", pair.expected.cumsum(axis), pair.seen


def adds_up_elsewhere(pair: Pair) -> Relation | None:
    """Detect values that sum to 1 along another axis than the right ones."""
    if not pair.right.is_floating_point():
        return None
    axes = range(pair.seen.dim())[::-1]
    one = [axis for axis in axes if _sums_to_one(pair, pair.expected, axis)]
    other = [axis for axis in axes if _sums_to_one(pair, pair.seen, axis)]
    if not one or not other or set(one) & set(other):
        return None
    words = f"the values sum to 1 along axis {other[0]}, but they should sum to 1 along axis {one[0]}"
    return Relation(words, 20.0 * pair.seen.numel() / pair.seen.shape[other[0]])


def factor_of_each_row(pair: Pair) -> Relation | None:
    """Detect one factor for each row along an axis."""
    for axis in _axes(pair) if pair.seen.dim() > 1 else ():
        top = pair.expected.nan_to_num(0.0, 0.0, 0.0).abs().argmax(axis, keepdim=True)
        ratio = (pair.seen.gather(axis, top) / pair.expected.gather(axis, top)).nan_to_num(0.0, 0.0, 0.0)
        if pair.agree(pair.expected * ratio, pair.seen):
            words = f"along axis {axis} the values are right up to a factor"
            return Relation(words, pair.bits(pair.wrong), cost=FIT_BITS * ratio.numel())
    return None


def offset_of_each_row(pair: Pair) -> Relation | None:
    """Detect one added number for each row along an axis."""
    for axis in _axes(pair) if pair.seen.dim() > 1 else ():
        gap = (pair.seen - pair.expected).nan_to_num(0.0, 0.0, 0.0).median(axis, keepdim=True).values
        if pair.agree(pair.expected + gap, pair.seen):
            words = f"along axis {axis} the values are right up to an added constant"
            return Relation(words, pair.bits(pair.wrong), cost=FIT_BITS * gap.numel())
    return None


@claimed
def the_same_along_an_axis(pair: Pair) -> Claims:
    """Detect equal slices along an axis, where the right ones differ."""
    for axis in _axes(pair):
        first = pair.seen.narrow(axis, 0, 1).expand_as(pair.seen)
        if pair.seen.dim() > 1 and pair.agree(first, pair.seen):
            right = pair.expected.narrow(axis, 0, 1).expand_as(pair.expected)
            if not pair.agree(right, pair.expected):
                yield f"the values are the same along axis {axis}, but they should differ", first, pair.seen


@claimed
def reversed_along_an_axis(pair: Pair) -> Claims:
    """Detect the right values in reverse order."""
    for axis in _axes(pair):
        yield f"the values are right, but reversed{_along(pair, axis)}", pair.expected.flip(axis), pair.seen


@claimed
def shifted_by_one(pair: Pair) -> Claims:
    """Detect the right values shifted by one position along an axis."""
    for axis in _axes(pair):
        n = pair.seen.shape[axis]
        if n > 2:
            for words, start, end in (("late", 1, 0), ("early", 0, 1)):
                seen, right = pair.seen.narrow(axis, start, n - 1), pair.expected.narrow(axis, end, n - 1)
                yield f"the values are right, but one position too {words}{_along(pair, axis)}", right, seen


@claimed
def in_another_order(pair: Pair) -> Claims:
    """Detect permuted slices or numbers. Repeated whole numbers are ignored, because they match by chance."""
    alone = _are_told_apart(pair.expected[pair.wrong])
    for axis in _axes(pair) if pair.right.dtype != torch.bool else ():
        rows, right = (value.movedim(axis, 0).reshape(value.shape[axis], -1) for value in (pair.seen, pair.expected))
        if rows.shape[1] > 1 or (pair.seen.dim() == 1 and alone):
            words = f"the values are right, but in another order{_along(pair, axis)}"
            yield words, _sorted_rows(right), _sorted_rows(rows)
    if (pair.seen.dim() > 1 or pair.is_keyed) and alone:
        words = f"the values are the right ones, but {'at other keys' if pair.is_keyed else 'at other positions'}"
        yield words, pair.expected.flatten().sort().values, pair.seen.flatten().sort().values


def rounded(pair: Pair) -> Relation | None:
    """Detect the right values rounded to whole numbers."""
    for words, function in (("rounded", torch.round), ("truncated", torch.trunc)):
        if pair.agree(function(pair.expected), pair.seen):
            return Relation(f"the values are right, but {words} to whole numbers", 4.0 * int(pair.wrong.sum()))
    return None


PART_BITS = 6.0
"""Bits for each position that is right or wrong as a whole. Low, because other reasons can make one of three fail."""


def right_in_part(pair: Pair) -> Relation | None:
    """Detect values that are right only at certain positions of an axis. Two positions are too few to tell."""
    of_two = False
    for axis in _axes(pair):
        n = pair.seen.shape[axis]
        good = ~pair.wrong.movedim(axis, 0).reshape(n, -1).any(1)
        of_two = of_two or (n == 2 and int(good.sum()) == 1)
        words = _parts(n).get("".join("x-"[not right] for right in good.tolist())) if n > 2 else None
        if words:
            places = good.reshape([-1 if other == axis else 1 for other in range(pair.seen.dim())])
            told = min(pair.bits(places & ~pair.wrong), PART_BITS * n)
            return Relation(f"the values are {words}{_along(pair, axis, of=True)}", told, kind=words)
    return Relation("", 0.0) if of_two else None


def _parts(n: int) -> dict[str, str]:
    """Return sentences by a pattern of right (x) and wrong (-) positions, `n` in all."""
    parts = {
        "x" + "-" * (n - 1): "right only at the first position",
        "-" * (n - 1) + "x": "right only at the last position",
        "-" + "x" * (n - 1): "right everywhere except at the first position",
        "x" * (n - 1) + "-": "right everywhere except at the last position",
    }
    if n >= 4 and n % 2 == 0:
        parts["x" * (n // 2) + "-" * (n // 2)] = "right only in the first half"
        parts["-" * (n // 2) + "x" * (n // 2)] = "right only in the second half"
    if n >= 4:
        parts[("x-" * n)[:n]] = "right only at positions 0, 2, 4 and so on"
        parts[("-x" * n)[:n]] = "right only at positions 1, 3, 5 and so on"
    return parts


def right_by_a_mask(pair: Pair) -> Relation | None:
    """Detect values that are right where a boolean input has one value, and wrong only where it has the other.

    If everything is wrong and the mask is constant in a case, that case does not contradict the relation.
    """
    idle = False
    for name, mask in pair.inputs.items():
        for here, words in _regions(pair, mask) if mask.dtype == torch.bool else ():
            told = words.format(name)
            idle = idle or not bool(here.any())
            if bool(here.any()) and not bool(here.all()) and not bool((pair.wrong & here).any()):
                return Relation(f"the values are right {told}, and wrong elsewhere", pair.bits(here), kind=told)
    return Relation("", 0.0) if idle else None


def _regions(pair: Pair, mask: Tensor) -> Iterator[tuple[Tensor, str]]:
    """Yield regions with their words: where a mask is True, where it is False, and rows in which it is all True."""
    shape = pair.seen.shape
    for rank in range(min(mask.dim(), len(shape)), 0, -1):
        if mask.shape[:rank] == shape[:rank]:
            left = mask.reshape(*mask.shape[:rank], -1)
            whole = (left.all(-1)).reshape(*mask.shape[:rank], *[1] * (len(shape) - rank)).expand(shape)
            if rank == mask.dim():
                yield whole, "where {} is True"
                yield ~whole, "where {} is False"
            else:
                yield whole, "where {} is True throughout"
    if mask.shape != shape:
        try:
            spread = mask.expand(shape)
        except RuntimeError:
            return
        yield spread, "where {} is True"
        yield ~spread, "where {} is False"


RELATIONS: tuple[Callable[[Pair], Relation | None], ...] = (
    constant,
    an_input,
    another_result,
    axes_exchanged,
    negated,
    sign,
    factor,
    offset,
    offset_by_an_input,
    multiplied_by_an_input,
    a_function,
    relu_of_it,
    normalised,
    adds_up_elsewhere,
    reversed_along_an_axis,
    the_same_along_an_axis,
    shifted_by_one,
    factor_of_each_row,
    offset_of_each_row,
    rounded,
    right_by_a_mask,
    right_in_part,
    in_another_order,
)
"""All relations, the likeliest first."""

EXACT = {constant, factor, right_by_a_mask, right_in_part}
"""Relations that are also tested on answers that are nearly right."""


def _axes(pair: Pair) -> list[int]:
    return [] if pair.is_keyed else [axis for axis, size in reversed([*enumerate(pair.seen.shape)]) if size > 1]


def _along(pair: Pair, axis: int, of: bool = False) -> str:
    """Return the words that name an axis, or nothing if there is only one."""
    return f" {'of' if of else 'along'} axis {axis}" if pair.seen.dim() > 1 else ""


def _these(pair: Pair) -> str:
    return "these values" if pair.seen.dim() else "this value"


def _size(gap: float) -> str:
    return "large" if gap > 0 else "small"


def _is_simple(ratio: float, least: int = 2) -> bool:
    """Return whether a factor is a whole number of at least `least`, or the reciprocal of one."""
    large = max(abs(ratio), 1 / abs(ratio)) if ratio else math.inf
    return large < 100 and round(large) >= least and abs(large - round(large)) < 1e-5 * large


def _distinct(values: Tensor) -> int:
    return int(values.mul(1e6).round().unique().numel())


def _are_told_apart(values: Tensor) -> bool:
    """Return whether values are distinguishable: some are fractions, or all differ."""
    return bool((values != values.round()).any()) or _distinct(values) == values.numel()


def _fits(given: Tensor, values: Tensor) -> bool:
    """Return whether an input can be broadcast to values without changing their shape."""
    sizes = zip(reversed(given.shape), reversed(values.shape), strict=False)
    return given.dim() <= values.dim() and all(size in (1, other) for size, other in sizes)


def _sums_to_one(pair: Pair, values: Tensor, axis: int) -> bool:
    total = values.sum(axis)
    empty = total.abs() <= pair.tolerance
    return 2 * int(empty.sum()) < total.numel() and pair.agree(total + empty, torch.ones_like(total))


def _sorted_rows(rows: Tensor) -> Tensor:
    """Return the rows in a canonical order: sorted by a sum with different weights for each column."""
    weights = torch.linspace(1, 2, rows.shape[1], dtype=rows.dtype).sqrt()
    return rows[(rows.nan_to_num() * weights).sum(1).argsort()]
