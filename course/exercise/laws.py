"""Laws: what holds for any right answer, as predicates over recorded outputs, named by string.

A law gets the outputs of one case (name -> plain value) and returns an empty string when it holds, else one sentence
for the student. A key stores a law as its name and parameters, so parameters are plain values and tensors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from . import translation
from .script import LawUse
from .values import Other

FALSE_ALARM = 1e-7
"""Bound on the probability that a right sampler breaks one frequency law (below one in a million an exercise)."""

EXPECTED = "what the reference did"
"""The name under which the judge lays the reference's own outputs of the case beside those that are examined."""

MOST_SLICES = 2048
"""Of what is compared each with each; the course asks for some dozens."""

Outputs = Mapping[str, Any]


@dataclass(frozen=True)
class Law:
    """A predicate; for laws of chance the table of counts it looks at; whether it looks at the reference's, too."""

    holds: Callable[..., str]
    counts: Callable[..., Tensor] | None = None
    relative: bool = False


LAWS: dict[str, Law] = {}


def law(function: Callable[..., str]) -> Callable[..., str]:
    """Registers a law under its function's name."""
    LAWS[function.__name__] = Law(function)
    return function


def broken(use: LawUse, outputs: Outputs) -> str:
    """Why the law does not hold for `outputs`; empty when it does."""
    found = examined(use, outputs)
    if found is not None:
        return found
    of = use.params.get("of", "out")
    of = of[0] if isinstance(of, list) else of
    if of in outputs and outputs[of] is None:
        return "nothing came back: is there a `return`?"
    what = "the gradient" if of.startswith("gradients of ") else "what came back"
    asked = use.params.get("because", "") if use.name == "shape_is" else ""
    if use.params.get("meaning"):
        asked = f"asked for are {use.params['meaning']}"
    return f"{what} cannot be examined: it is {_kinds(outputs.get(of))}; {asked or 'compare with what is asked for'}"


def examined(use: LawUse, outputs: Outputs) -> str | None:
    """The same; None for outputs that are not of a kind that the law can look at."""
    try:
        return LAWS[use.name].holds(outputs, **use.params)
    except (KeyError, TypeError, ValueError, IndexError, RuntimeError, AttributeError, OverflowError):
        return None


def counts(use: LawUse, outputs: Outputs) -> Tensor | None:
    """The table of counts behind a law of chance, (rows, K); None for other laws and for unusable outputs."""
    table = LAWS[use.name].counts
    try:
        return None if table is None else table(outputs, **use.params)
    except (KeyError, TypeError, ValueError, IndexError, RuntimeError, AttributeError, OverflowError):
        return None


def relative(use: LawUse) -> bool:
    """Whether the law looks at the reference's own outputs as well, under `EXPECTED`.

    Raises:
        ValueError: there is no such law.
    """
    if use.name not in LAWS:
        raise ValueError(f"no law is called {use.name!r}")
    return LAWS[use.name].relative


# -- values ----------------------------------------------------------------------------------------------------------


@law
def equal(outputs: Outputs, of: str = "out", to: str = "", because: str = "", within: float = 1e-6) -> str:
    """Two outputs agree."""
    if _agree(outputs[of], outputs[to], within):
        return ""
    return because or f"two results that must agree differ ({of} and {to})"


@law
def repeats(outputs: Outputs, of: str = "out", to: str = "", because: str = "", within: float = 1e-5) -> str:
    """The same call answers the same. Where it does not, what else is broken may be chance: see `judge.diagnose`."""
    return equal(outputs, of, to, because or "called twice with the same, it answers differently", within)


@law
def equal_up_to(
    outputs: Outputs, count: int, of: str = "out", to: str = "", dim: int = 1, because: str = "", within: float = 1e-6
) -> str:
    """The first `count` entries of two outputs along `dim` agree; what comes after them may differ."""
    first, second = (_tensor(outputs[name]).narrow(dim, 0, count) for name in (of, to))
    return "" if _agree(first, second, within) else because or f"{of} and {to} differ in their first {count} places"


@law
def different(outputs: Outputs, of: str = "out", to: str = "", because: str = "", within: float = 1e-6) -> str:
    """Two outputs do not agree."""
    if not _agree(outputs[of], outputs[to], within):
        return ""
    return because or f"two results that must differ are the same ({of} and {to})"


@law
def differ_by_share(outputs: Outputs, share: float, of: str = "out", to: str = "", because: str = "") -> str:
    """Two outputs differ by more than `share` of the widest distance of a row of `of` from the mean of its rows."""
    first, second = (_tensor(outputs[name]).double() for name in (of, to))
    spread = (first - first.mean(0)).abs().max()
    if bool((first - second).abs().max() > share * spread):
        return ""
    return because or f"two results that must differ are all but the same ({of} and {to})"


@law
def exceeds_by(
    outputs: Outputs, value: Tensor, of: str = "out", to: str = "", because: str = "", within: float = 1e-5
) -> str:
    """One output is another plus `value`."""
    if _agree(_tensor(outputs[of]).double() - value.double(), _tensor(outputs[to]).double(), within):
        return ""
    return because or f"{of} and {to} do not differ by what they should"


@law
def begins_with(
    outputs: Outputs, of: str = "out", to: str = "", dim: int = 0, because: str = "", within: float = 1e-6
) -> str:
    """The first entries of an output along `dim` are another output."""
    beginning = _tensor(outputs[of]).narrow(dim, 0, _tensor(outputs[to]).shape[dim])
    if _agree(beginning, outputs[to], within):
        return ""
    return because or f"{of} does not begin with {to}"


@law
def differ_at(
    outputs: Outputs, place: int, of: str = "out", to: str = "", dim: int = 0, because: str = "", within: float = 1e-6
) -> str:
    """The entries at `place` along `dim` of two outputs do not agree."""
    first, second = (_tensor(outputs[name]).select(dim, place) for name in (of, to))
    return "" if not _agree(first, second, within) else because or f"{of} and {to} are the same at place {place}"


@law
def slices_differ(outputs: Outputs, of: str = "out", dim: int = 0, because: str = "", within: float = 1e-6) -> str:
    """No two slices along `dim` are the same; at most `MOST_SLICES` are compared, one with all behind it at a time."""
    slices = _tensor(outputs[of]).double().movedim(dim, 0).flatten(1)
    if len(slices) > MOST_SLICES:
        return f"{len(slices)} came back: far more than a right answer has"
    apart = ((slices[i + 1 :] - one).abs().amax(-1) > within for i, one in enumerate(slices))
    return "" if all(bool(far.all()) for far in apart) else because or "two things that must differ are the same"


@law
def slices_vary(outputs: Outputs, of: str = "out", dim: int = 0, because: str = "", within: float = 1e-6) -> str:
    """Not all slices along `dim` are the same."""
    return "" if slices_agree(outputs, of, dim, because, within) else because or "all are the same that should vary"


@law
def slices_agree(outputs: Outputs, of: str = "out", dim: int = 0, because: str = "", within: float = 1e-6) -> str:
    """All slices along `dim` are the same."""
    slices = _tensor(outputs[of]).double().movedim(dim, 0)
    return "" if _agree(slices, slices[:1].expand_as(slices), within) else because or "things differ that must agree"


@law
def close_to(outputs: Outputs, value: Any, of: str = "out", within: float = 1e-6, because: str = "") -> str:
    """An output is near a known value."""
    if _agree(outputs[of], value, within):
        return ""
    return because or "the value is not the one that every right answer gives"


@law
def sums_to_one(outputs: Outputs, of: str = "out", dim: int = -1, because: str = "") -> str:
    """Probabilities along `dim` add up."""
    total = _tensor(outputs[of]).double().sum(dim)
    worst = float((total - 1).abs().max()) if total.numel() else 0.0
    if worst < 1e-5:
        return ""
    return because or f"probabilities do not sum to one: a sum is off by {worst:.3g}"


@law
def bounded(
    outputs: Outputs, of: str = "out", low: float = -math.inf, high: float = math.inf, because: str = ""
) -> str:
    """Every value lies in [low, high]."""
    values = _tensor(outputs[of]).double()
    if bool((values >= low).all()) and bool((values <= high).all()):
        return ""
    return because or f"a value lies outside [{low:g}, {high:g}]"


@law
def positive(outputs: Outputs, of: str = "out", because: str = "") -> str:
    """Every value is above zero."""
    if bool((_tensor(outputs[of]) > 0).all()):
        return ""
    return because or "a probability is zero (or negative)"


@law
def finite(outputs: Outputs, of: str = "out", because: str = "") -> str:
    """No NaN, no infinity."""
    bad = int((~torch.isfinite(_tensor(outputs[of]).double())).sum())
    return (because or f"{bad} values are NaN or infinite") if bad else ""


@law
def shape_is(outputs: Outputs, shape: tuple[int, ...], of: str = "out", because: str = "", meaning: str = "") -> str:
    """The output has this shape, and `meaning` says what its axes are, wherever it has another."""
    found = tuple(_tensor(outputs[of]).shape)
    expected = f"{tuple(shape)} was expected" + (f": {meaning}" if meaning else "")
    return "" if found == tuple(shape) else because or f"the shape is {found}, and {expected}"


@law
def is_a_tensor(outputs: Outputs, of: str = "out", because: str = "") -> str:
    """The output is a tensor, or, where several were asked for, each of them is."""
    found = outputs[of] if isinstance(outputs[of], list) and outputs[of] else [outputs[of]]
    others = [one for one in found if not isinstance(one, Tensor)]
    return because or f"a tensor is asked for, and {_kind(others[0])} came" if others else ""


@law
def has_parts(outputs: Outputs, count: int, of: str = "out", each: bool = False, because: str = "") -> str:
    """The output is a tuple or a list of so many tensors; with `each`, every answer in a list of answers is."""
    answers = outputs[of] if each and isinstance(outputs[of], list) else [outputs[of]]
    others = [found for found in answers if not _is_parts(found, count)]
    if not others:
        return ""
    several = isinstance(others[0], list | tuple) and len(others[0]) != count
    came = f"{len(others[0])} things" if several else _kind(others[0])
    return because or f"a tuple of {count} tensors is asked for, and {came} came"


def _is_parts(found: Any, count: int) -> bool:
    return isinstance(found, list | tuple) and len(found) == count and all(isinstance(part, Tensor) for part in found)


@law
def whole_numbers(outputs: Outputs, of: str = "out", because: str = "") -> str:
    """The output is a LongTensor."""
    if isinstance(outputs[of], Tensor) and outputs[of].dtype == torch.int64:
        return ""
    return because or f"a LongTensor was expected, and {_kind(outputs[of])} came"


@law
def dtype_is(outputs: Outputs, dtype: str, of: str = "out", because: str = "") -> str:
    """The output is a tensor of this dtype, such as "float64"."""
    found = str(_tensor(outputs[of]).dtype).removeprefix("torch.")
    return "" if found == dtype else because or f"the type is {found}, and {dtype} was expected"


@law
def argmax_is(outputs: Outputs, index: Any, of: str = "out", because: str = "") -> str:
    """The largest value along the last axis sits at `index` (a number or a LongTensor)."""
    found = _tensor(outputs[of]).argmax(-1)
    return "" if _agree(found, torch.as_tensor(index), 0.0) else because or "the largest value is in another place"


@law
def larger_at(outputs: Outputs, index: int, than: int, of: str = "out", because: str = "") -> str:
    """Along the last axis, the value at `index` is everywhere larger than the one at `than`."""
    values = _tensor(outputs[of])
    if bool((values[..., index] > values[..., than]).all()):
        return ""
    return because or f"the value at {index} should be larger than the one at {than}"


@law
def at_least(outputs: Outputs, value: float, of: str = "out", because: str = "") -> str:
    """A number reaches `value`."""
    found = float(outputs[of])
    return "" if found >= value else because or f"{found:.4g} is below {value:.4g}"


@law
def at_most(outputs: Outputs, value: float, of: str = "out", because: str = "") -> str:
    """A number stays at or below `value`."""
    found = float(outputs[of])
    return "" if found <= value else because or f"{found:.4g} is above {value:.4g}"


@law
def exceeds(outputs: Outputs, value: float, of: str = "out", because: str = "") -> str:
    """Some entry is larger than `value` in absolute value, infinity included."""
    largest = float(_tensor(outputs[of]).double().abs().max())
    return "" if largest > value else because or f"no value grows beyond {value:g}"


@law
def same_rows(outputs: Outputs, to: str, of: str = "out", because: str = "", within: float = 1e-5) -> str:
    """The rows of two outputs agree in order, whatever axes of one they were computed with.

    Sums over other shapes round otherwise, by a share of what was summed: `within` is one of the largest number here.
    """
    a, b = (_tensor(outputs[name]).double() for name in (of, to))
    size = max([1.0, *b[b.isfinite()].abs().flatten().tolist()])
    if a.numel() == b.numel() and _agree(a.reshape(b.shape) / size, b / size, within):
        return ""
    return because or f"the rows of {of} and {to} should be the same"


@law
def shares_change(
    outputs: Outputs,
    layers: list[int],
    places: list[int],
    of: str = "out",
    to: str = "",
    because: str = "",
    within: float = 2e-6,
) -> str:
    """In each of the `layers` of maps (L, ..., T, S), `places` share attention otherwise in `of` than in `to`.

    The shares are those that are left where nobody but `places` looks or is looked at.
    """
    first, second = (_shares(_tensor(outputs[name]).double()[layers], places) for name in (of, to))
    moved = (first - second).abs().flatten(1).amax(1)
    return "" if bool((moved > within).all()) else because or f"{of} and {to} hold the same shares of attention"


@law
def shares_stay(
    outputs: Outputs,
    layers: list[int],
    places: list[int],
    of: str = "out",
    to: str = "",
    because: str = "",
    within: float = 1e-5,
) -> str:
    """In the `layers` of maps (L, ..., T, S), `places` share attention in `of` as they do in `to`."""
    first, second = (_shares(_tensor(outputs[name]).double()[layers], places) for name in (of, to))
    return "" if _agree(first, second, within) else because or f"{of} and {to} hold other shares of attention"


@law
def looks_differ(outputs: Outputs, layers: list[int], of: str = "out", because: str = "", within: float = 3e-7) -> str:
    """In each of the `layers` of maps (L, ..., T, S), the T places do not all look at others in the same way."""
    maps = _tensor(outputs[of]).double()[layers]
    apart = (maps - maps.mean(-2, keepdim=True)).abs().flatten(1).amax(1)
    return "" if bool((apart > within).all()) else because or f"in a layer of {of}, all places look at the same"


def _shares(maps: Tensor, places: list[int]) -> Tensor:
    kept = maps[..., places, :][..., places]
    return (kept / kept.sum(-1, keepdim=True)).nan_to_num()  # where nothing is left, there is nothing to share


@law
def row_is(outputs: Outputs, row: int, value: Tensor, of: str = "out", because: str = "", within: float = 1e-5) -> str:
    """One row (along the first axis) of an output is known."""
    if _agree(_tensor(outputs[of])[row], value, within):
        return ""
    return because or f"row {row} is not what every right answer gives"


@law
def grid_is_constant(
    outputs: Outputs, grid: tuple[int, int], axis: int, of: str = "out", because: str = "", within: float = 1e-5
) -> str:
    """The rows after the first, laid out as `grid` (height, width), do not change along `axis` (0 down, 1 across)."""
    laid = _grid(outputs[of], grid).movedim(axis, 0)
    if _agree(laid, laid[:1].expand_as(laid), within):
        return ""
    return because or "laid out as the grid, values change along an axis along which they should not"


@law
def grid_rises(outputs: Outputs, grid: tuple[int, int], axis: int, of: str = "out", because: str = "") -> str:
    """The rows after the first, laid out as `grid` (height, width), rise from each to the next along `axis`."""
    laid = _grid(outputs[of], grid).movedim(axis, 0)
    return "" if bool((laid.diff(dim=0) > 1e-4).all()) else because or "neighbours are alike that should differ"


def _grid(value: Any, grid: tuple[int, int]) -> Tensor:
    return _tensor(value).double()[1:].unflatten(0, tuple(grid))  # (height, width, D)


@law
def combination_is_not_zero(outputs: Outputs, weights: Tensor, of: str = "out", because: str = "") -> str:
    """The rows do not cancel under `weights` (as those of a linear function would)."""
    rows = _tensor(outputs[of]).double().reshape(len(weights), -1)
    size = float((weights.double().abs() @ rows.abs()).max())
    if float((weights.double() @ rows).abs().max()) > 1e-5 * size:
        return ""
    return because or "the results cancel as those of a linear function do"


@law
def combinations_are_not_zero(
    outputs: Outputs, weights: Tensor, share: float, also: str, of: str = "out", because: str = "", within: float = 5e-7
) -> str:
    """The same for groups of len(weights) rows of two outputs: in each, a `share` of groups or more do not cancel."""
    for name in (of, also):
        rows = _tensor(outputs[name]).double().unflatten(0, (-1, len(weights))).flatten(2)  # (groups, rows, numbers)
        size = (weights.double().abs() @ rows.abs()).amax(1)
        apart = (weights.double() @ rows).abs().amax(1) > within * size  # by more than float32 rounds
        if float(apart.double().mean()) < share:
            return because or "the results cancel as those of a linear function do"
    return ""


@law
def some_rows_agree(outputs: Outputs, of: list[str], least: int, because: str = "", within: float = 1e-8) -> str:
    """At least `least` of the outputs (V, K) hold two rows that are the same, and two that are not."""
    found = sum(_some_agree(_tensor(outputs[name]).double(), within) for name in of)
    return "" if found >= least else because or "rows that should agree are all different"


@law
def some_leave_no_trace(
    outputs: Outputs, of: list[str], alone: list[str], least: int, because: str = "", within: float = 1e-6
) -> str:
    """In at least `least` models, some token in front of all others is as good as none.

    `alone` holds a model's rows (V, K) for each token by itself, `of` (V·V, K) for each behind each. Only models count
    of which some rows agree.
    """
    found = 0
    for name, other in zip(of, alone, strict=True):
        single = _tensor(outputs[other]).double()
        behind = _tensor(outputs[name]).double().unflatten(0, (len(single), -1))  # (V in front, V, K)
        found += bool(((behind - single).abs() <= within).flatten(1).all(1).any()) and _some_agree(single)
    return "" if found >= least else because or "whatever stands in front leaves a trace"


def _some_agree(rows: Tensor, within: float = 1e-8) -> bool:
    """Whether there are two rows that are the same, and two that are not."""
    same = (rows[:, None] - rows).abs().flatten(2).amax(-1) <= within
    return not bool(same.all()) and int(same.sum()) > len(rows)


@law
def mask_fits(outputs: Outputs, key: str, shape: tuple[int, ...], of: str = "out", because: str = "") -> str:
    """The entry at `key` of a dict is a tensor that broadcasts to `shape`, (B, h, T, S)."""
    if isinstance(outputs[of], dict) and key not in outputs[of]:
        return because or f"the result has no key {key!r}"
    mask = outputs[of][key]
    if not isinstance(mask, Tensor):
        return because or f"{key} should be a mask, and is {_kind(mask)}"
    if _expanded(mask, shape) is not None:
        return ""
    return because or f"{key} has the shape {tuple(mask.shape)}, which does not broadcast to {tuple(shape)}"


@law
def mask_is_boolean(outputs: Outputs, key: str, of: str = "out", because: str = "") -> str:
    """The entry at `key` of a dict holds True and False, not numbers."""
    mask = outputs[of][key]
    if isinstance(mask, Tensor) and mask.dtype == torch.bool:
        return ""
    return because or f"{key} should hold True and False, and is {_kind(mask)}"


@law
def mask_is(outputs: Outputs, key: str, allowed: bool, where: Tensor, of: str = "out", because: str = "") -> str:
    """The mask at `key` of a dict is `allowed` wherever `where` (B, h, T, S) is True."""
    mask = outputs[of][key]
    seen = _expanded(mask, where.shape) if isinstance(mask, Tensor) else None
    if seen is not None and bool((seen[where] == allowed).all()):
        return ""
    return because or f"{key} is not {allowed} everywhere it should be"


@law
def none_at(outputs: Outputs, key: str, of: str = "out", because: str = "") -> str:
    """The entry at `key` of a dict is None."""
    if isinstance(outputs[of], dict) and key not in outputs[of]:
        return f"the result has no key {key!r}, and should say None there"
    return "" if outputs[of][key] is None else because or f"{key} should be None"


def _expanded(mask: Tensor, shape: Any) -> Tensor | None:
    try:
        return mask.expand(tuple(shape))
    except RuntimeError:
        return None


@law
def some_below_zero(outputs: Outputs, of: str = "out", because: str = "") -> str:
    """Some value is negative, as scores are that nothing has bent or squashed."""
    if bool((_tensor(outputs[of]) < 0).any()):
        return ""
    return because or "none of these scores is below 0, and of so many some should be: what has been done to them?"


# -- gradients -------------------------------------------------------------------------------------------------------


@law
def every_parameter_learns(outputs: Outputs, of: str = "gradients of out", because: str = "") -> str:
    """Each parameter's gradient is there and is not zero."""
    gradients = outputs[of]
    if not gradients:
        return because or "no gradient reaches the parameters: is the result still connected to them?"
    idle = [name for name, grad in gradients.items() if grad is None or not bool((grad != 0).any())]
    return (because or f"no gradient reaches {', '.join(map(str, idle[:4]))}") if idle else ""


@law
def every_token_learns(outputs: Outputs, tokens: int, of: str = "gradients of out", because: str = "") -> str:
    """Wherever a parameter has an axis of size `tokens`, each of the tokens gets some gradient."""
    gradients = _reached(outputs[of])
    for gradient in gradients:
        for axis in (axis for axis in range(gradient.dim()) if gradient.shape[axis] == tokens):
            idle = int((gradient.movedim(axis, 0).reshape(tokens, -1) == 0).all(dim=1).sum())
            if idle:
                return because or f"{idle} of {tokens} tokens that were read get no gradient"
    return "" if gradients else because or "no gradient reaches the parameters"


@law
def every_row_learns(
    outputs: Outputs, rows: int, used: list[int], of: str = "gradients of out", least: float = 0.0, because: str = ""
) -> str:
    """Wherever a parameter has an axis of size `rows`, each of the entries `used` gets a gradient above `least`."""
    gradients = _reached(outputs[of])
    for gradient in gradients:
        for axis in (axis for axis in range(gradient.dim()) if gradient.shape[axis] == rows):
            idle = gradient.movedim(axis, 0).reshape(rows, -1).abs().amax(1)[torch.tensor(used)] <= least
            if bool(idle.any()):
                return because or f"{int(idle.sum())} of {len(used)} tokens that were read get no gradient"
    return "" if gradients else because or "no gradient reaches the parameters"


def _reached(gradients: Mapping[str, Tensor | None] | None) -> list[Tensor]:
    """The gradients of those parameters that have one."""
    return [gradient for gradient in (gradients or {}).values() if gradient is not None]


@law
def learns_at_least(outputs: Outputs, numbers: int, of: str = "gradients of out", because: str = "") -> str:
    """The parameters that get a gradient hold so many numbers between them."""
    found = sum(gradient.numel() for gradient in (outputs[of] or {}).values() if gradient is not None)
    return "" if found >= numbers else because or f"{found} numbers are learned; at least {numbers} were expected"


@law
def learns_by_place(outputs: Outputs, places: list[int], of: str = "gradients of out", because: str = "") -> str:
    """Some parameter that gets a gradient has an axis of one of the sizes `places`."""
    found = any(size in places for gradient in _reached(outputs[of]) for size in gradient.shape)
    return "" if found else because or f"nothing that learns has {' or '.join(map(str, places))} rows"


@law
def something_learns(outputs: Outputs, of: str = "gradients of out", because: str = "") -> str:
    """Some parameter's gradient is not zero, so that a step of training changes something."""
    moving = any(gradient is not None and bool((gradient != 0).any()) for gradient in (outputs[of] or {}).values())
    return "" if moving else because or "every gradient is zero: no step of training would change anything"


@law
def every_parameter_is_reached(outputs: Outputs, of: str = "gradients of out", because: str = "") -> str:
    """Each parameter takes part in the result. Its gradient may vanish, as that of a key's bias does in softmax."""
    gradients = outputs[of]
    if not gradients:
        return because or "no gradient reaches the parameters: is the result still connected to them?"
    idle = [name for name, grad in gradients.items() if grad is None]
    return (because or f"nothing depends on {', '.join(map(str, idle[:4]))}") if idle else ""


@law
def squares_that_matter(
    outputs: Outputs,
    side: int,
    at_least: int = 0,
    each: int | None = None,
    of: str = "gradients of out",
    because: str = "",
) -> str:
    """So many squares of `side` x `side` pixels get a gradient, over all images (B, C, H, W) of the first argument.

    At least `at_least`, and not more than `each` in half of the images where any does: somebody may look at two places
    alike. Less than three such images tell nothing. A pixel counts when its gradient is not below a hundred-thousandth
    of the largest in its image.
    """
    strength = _strength(outputs[of])
    felt = strength > 1e-5 * strength.amax((1, 2), keepdim=True)
    counts = felt.unfold(1, side, side).unfold(2, side, side).flatten(3).any(-1).flatten(1).sum(1)
    found, some = int(counts.sum()), counts[counts > 0]
    if found >= at_least and (each is None or len(some) < 3 or int(some.median()) <= each):
        return ""
    return because or f"{found} squares of {side} × {side} pixels make a difference to the result"


@law
def felt_where_looked(outputs: Outputs, side: int, to: str, of: str = "gradients of out", because: str = "") -> str:
    """Squares of `side` x `side` pixels matter in images (B, C, H, W) only where place 0 of one layer looks at them.

    `to` has its maps (1, B, h, N + 1, N + 1). Felt is a gradient above a hundredth of the largest in its image, and
    looked at is what any head gives a millionth of its attention: between the two lie the slopes of softmax. In a
    single image they may disagree.
    """
    strength = _strength(outputs[of])
    felt = strength.unfold(1, side, side).unfold(2, side, side).flatten(3).amax(-1).flatten(1)  # (B, N)
    looked = _tensor(outputs[to]).double()[0, :, :, 0, 1:].amax(1)
    strays = ((felt > 1e-2 * felt.amax(1, keepdim=True)) & (looked < 1e-6)).any(1)
    return "" if int(strays.sum()) < 2 else because or "what matters is not what is looked at"


def _strength(gradients: list[Tensor]) -> Tensor:
    """How strongly each pixel of the images (B, C, H, W), the first argument, is felt: (B, H, W)."""
    return _tensor(gradients[0]).double().abs().amax(1)


@law
def every_block_learns(outputs: Outputs, rows: int, of: str = "gradients of out", because: str = "") -> str:
    """Wherever a parameter's axis is several times `rows`, one gate below the other, each block gets some gradient."""
    for name, gradient in outputs[of].items():
        for axis in (axis for axis in range(gradient.dim()) if gradient.shape[axis] % rows == 0):
            blocks = gradient.movedim(axis, 0).reshape(gradient.shape[axis] // rows, -1)
            idle = int((blocks == 0).all(dim=1).sum())
            if idle:
                return because or f"no gradient reaches {idle} of {len(blocks)} blocks of {name}"
    return "" if outputs[of] else because or "no gradient reaches the parameters"


# -- sequences that are written token by token -----------------------------------------------------------------------


@law
def padded_behind(outputs: Outputs, eos: int, pad: int, of: str = "out", because: str = "") -> str:
    """Ids (B, L) hold nothing but `pad` behind the first `eos` of a row."""
    ids = _tensor(outputs[of])
    behind = (ids == eos).cumsum(1) - (ids == eos).long() > 0
    if bool((ids == pad)[behind].all()):
        return ""
    return because or "something other than padding stands behind the first eos of a sentence"


@law
def no_longer_than(outputs: Outputs, longest: int, of: str = "out", because: str = "") -> str:
    """Ids (B, L) have at most `longest` columns."""
    found = _tensor(outputs[of]).shape[1]
    return "" if found <= longest else because or f"{found} tokens were written, and at most {longest} were asked for"


@law
def long_enough(outputs: Outputs, eos: int, longest: int, of: str = "out", because: str = "") -> str:
    """Ids (B, L) have at most `longest` columns, and as many if there is a row without `eos`."""
    ids = _tensor(outputs[of])
    if ids.shape[1] > longest:
        return because or f"{ids.shape[1]} tokens were written, and at most {longest} were asked for"
    endless = bool((~(ids == eos).any(1)).any())
    short = endless and ids.shape[1] < longest
    return because or "it stops although a sentence has no eos yet and may be longer" if short else ""


@law
def a_row_for_each(outputs: Outputs, ids: str, of: str = "out", because: str = "") -> str:
    """Logits (B, L, V) have a row for each of the ids (B, L)."""
    shape, wanted = tuple(_tensor(outputs[of]).shape), tuple(_tensor(outputs[ids]).shape)
    if shape[:2] == wanted:
        return ""
    return (
        because or f"forward, given {wanted} tokens, answers with logits of shape {shape}, and (B, T, V) is asked for"
    )


@law
def keeps_its_eos(outputs: Outputs, logits: str, eos: int, pad: int, of: str = "out", because: str = "") -> str:
    """Ids (B, L) do not leave their logits (B, L, V) only where those say `eos`, for `pad`."""
    first = _first_that_strays(outputs, logits, eos, of)
    painted = (_tensor(outputs[logits]).argmax(2) == eos) & (_tensor(outputs[of]) == pad)
    if not bool(first.any() and painted[first].all()):
        return ""
    return because or "where forward finds eos likeliest, decode_greedy returns a pad: is eos itself kept?"


@law
def follows_its_logits(outputs: Outputs, logits: str, eos: int, of: str = "out", because: str = "") -> str:
    """Up to and with its first `eos`, each id has the largest of the logits (B, L, V) that were computed for it."""
    if not bool(_first_that_strays(outputs, logits, eos, of).any()):
        return ""
    return because or (
        "forward, given what decode_greedy wrote, finds another token likelier: which token, and which state, go into "
        "a step?"
    )


def _first_that_strays(outputs: Outputs, logits: str, eos: int, of: str) -> Tensor:
    """(B, L): True at the first id of a row that is not the likeliest; what comes after one says little."""
    ids, scores = _tensor(outputs[of]), _tensor(outputs[logits]).double()
    before = (ids == eos).cumsum(1) - (ids == eos).long() == 0
    off = before & (scores.gather(2, ids[:, :, None]).squeeze(2) < scores.amax(2) - 1e-4)
    return off & (off.cumsum(1) == 1)


@law
def weighs_real_places(
    outputs: Outputs, ids: str, lengths: Tensor, eos: int, of: str = "out", because: str = ""
) -> str:
    """Weights (B, L, S) are none below zero, sum to one, and are zero behind `lengths`, up to the eos of each row."""
    weights, said = _tensor(outputs[of]).double(), _tensor(outputs[ids])
    if weights.shape[:2] != said.shape:
        return f"weights of shape (B, L, S) are asked for, a row for each of {tuple(said.shape)} tokens"
    before = (said == eos).cumsum(1) - (said == eos).long() == 0
    padding = torch.arange(weights.shape[2]) >= lengths[:, None, None]
    good = (weights.sum(2) - 1).abs() < 1e-4
    good &= ((weights.abs() * padding).amax(2) < 1e-6) & (weights.amin(2) >= 0)
    return "" if bool(good[before].all()) else because or "weights do not sum to one over a sentence's real tokens"


@law
def same_whoever_is_first(outputs: Outputs, to: str, pad: int, of: str = "out", because: str = "") -> str:
    """Of batches rolled by 0, 1, 2 … places, each (ids (B, L), ...), every row is that sentence's alone, but for `pad`.

    Alone it is `to`, a list of (ids (1, L), ...). A sentence that ends first and stops the others is first once. One
    sentence may differ: where two tokens are equally likely, rounding chooses, and each batch rounds in its own way.
    """
    alone = [_stripped(_tensor(found[0])[0], pad) for found in outputs[to]]
    strays = set()
    for k, found in enumerate(outputs[of]):
        rows = zip(_tensor(found[0]), alone[k:] + alone[:k], strict=True)
        strays |= {(k + i) % len(alone) for i, (row, other) in enumerate(rows) if _stripped(row, pad) != other}
    return "" if len(strays) <= 1 else because or f"{of} and {to} hold other tokens"


@law
def written_at_least(
    outputs: Outputs,
    targets: Tensor,
    bar: float,
    pad: int,
    counted: Tensor | None = None,
    of: str = "out",
    because: str = "",
) -> str:
    """A share of at least `bar` of the rows is written as in `targets` (B, T), to the end, but for `pad` behind it.

    With `counted`, a mask (B,), other rows do not matter.
    """
    rows = zip(_tensor(outputs[of]), targets, strict=True)
    right = torch.tensor([_stripped(one, pad) == _stripped(other, pad) for one, other in rows])
    found = float((right if counted is None else right[counted]).double().mean())
    return "" if found >= bar else because or f"{found:.1%} are written without an error; {bar:.1%} is asked for"


@law
def aligned_at_least(
    outputs: Outputs, words: Tensor, gold: Tensor, places: list[int], bar: float, of: str = "out", because: str = ""
) -> str:
    """At a share of at least `bar` of `places`, most of the weight (B, L, S) lies on the word that `gold` names.

    `words` (B, S) is each source place's word, -1 where there is none, `gold` (B, n) the word for each of the places.
    """
    weights = _tensor(outputs[of]).double()
    if weights.ndim != 3 or weights.shape[1] <= max(places) or weights.shape[2] != words.shape[1]:
        return f"weights of shape (B, L, S) are asked for, and {_kind(outputs[of])} came"
    belongs = torch.nn.functional.one_hot(words + 1)[:, :, 1:].double()  # (B, S, words)
    found = (weights[:, places] @ belongs).max(-1)
    hits = (found.indices == gold) & (found.values > 0)
    share = float(hits.double().mean())
    return "" if share >= bar else because or f"{share:.1%} of the digits look at their word; {bar:.1%} is asked for"


def _stripped(ids: Tensor, pad: int) -> list[int]:
    """Ids (L,) without the padding at their end."""
    kept = (ids != pad).nonzero()
    return ids[: int(kept.max()) + 1].tolist() if len(kept) else []


# -- chance ----------------------------------------------------------------------------------------------------------


def frequency_counts(outputs: Outputs, probabilities: Tensor, of: str = "out", start: Any = None, **_: Any) -> Tensor:
    """Counts of drawn ids, (rows, K): one row, or one a previous token when `start` says where each draw begins.

    The draws are a LongTensor (n,), or (n, L) for n sequences; with `start`, position 0 follows `start`.
    """
    drawn = _tensor(outputs[of]).long()
    table = torch.zeros(probabilities.reshape(-1, probabilities.shape[-1]).shape, dtype=torch.float64)
    if start is None:
        row = torch.zeros_like(drawn)
    else:
        first = torch.full_like(drawn[..., :1], int(start))
        row = torch.cat([first, drawn[..., :-1]], dim=-1)
    if bool((drawn < 0).any()) or bool((drawn >= table.shape[1]).any()):
        raise ValueError("ids outside the vocabulary were drawn")
    flat = row.reshape(-1) * table.shape[1] + drawn.reshape(-1)
    return table.view(-1).index_add_(0, flat, torch.ones(flat.numel(), dtype=torch.float64)).view(table.shape)


def frequencies(outputs: Outputs, probabilities: Tensor, of: str = "out", start: Any = None, because: str = "") -> str:
    """Draws follow `probabilities` ((K,), or (K, K) by previous token with `start`).

    Each cell's count is held against Chernoff's bound P(|p̂ − p| as large) ≤ 2·exp(−n·KL(p̂‖p)), which is exact
    for any n, over all cells: a right sampler breaks it with probability below `FALSE_ALARM`.
    """
    return _unlike(outputs, lambda found: frequency_counts(found, probabilities, of, start), probabilities, because)


def _unlike(outputs: Outputs, count: Callable[[Outputs], Tensor], probabilities: Tensor, because: str) -> str:
    """The sentence for counts that the `probabilities` do not explain; empty for those that they do.

    Nothing drawn would follow any distribution: as much is counted as of the reference's own draws, where they are.
    """
    table = count(outputs)
    drawn = float(table.sum())
    if drawn != (float(count(outputs[EXPECTED]).sum()) if EXPECTED in outputs else max(drawn, 1.0)):
        return "what came back holds more or fewer draws than were asked for: compare its shape with what is asked for"
    p = probabilities.double().reshape(table.shape)
    n = table.sum(-1, keepdim=True)
    limit = math.log(2 * table.numel() * max(float(n.max()), 2.0) / FALSE_ALARM)
    excess = n * _binary_divergence(table / n.clamp(min=1), p)
    if bool((excess[n.expand_as(excess) > 0] <= limit).all()):
        return ""
    return because or "the draws do not follow the distribution they should: tally a few thousand of them"


LAWS["frequencies"] = Law(frequencies, frequency_counts, relative=True)


# -- hidden words: an answer of inputs and labels, in which -100 labels a word that nobody asks for ------------------


@law
def long_like(outputs: Outputs, ids: Tensor, of: str = "out", because: str = "") -> str:
    """Inputs and labels are LongTensors of the shape of `ids`."""
    for name, found in zip(("inputs", "labels"), outputs[of], strict=True):
        if found.shape != ids.shape or found.dtype != torch.int64:
            return because or f"{name} should be {_kind(ids)}, and are {_kind(found)}"
    return ""


@law
def known_words(outputs: Outputs, words: int, of: str = "out", because: str = "") -> str:
    """The inputs hold ids from 0 to `words` - 1, the mask's among them."""
    inputs = outputs[of][0]
    unknown = inputs[(inputs < 0) | (inputs >= words)]
    if not len(unknown):
        return ""
    return because or f"the inputs hold the number {int(unknown[0])}, which is neither a word's nor the mask's"


@law
def labels_hold_the_words(outputs: Outputs, ids: Tensor, of: str = "out", because: str = "") -> str:
    """Inputs and labels are LongTensors of the shape of `ids`, and each label is its word or -100."""
    unlike = long_like(outputs, ids, of)
    if unlike:
        return unlike
    labels = outputs[of][1]
    return "" if bool(((labels == ids) | (labels == -100)).all()) else because or (
        "a label is neither -100 nor the word that stood there before anything was hidden"
    )  # fmt: skip


@law
def unasked_words_stay(outputs: Outputs, ids: Tensor, of: str = "out", because: str = "") -> str:
    """Where the label is -100 the word is as it was."""
    inputs, labels = outputs[of]
    changed = int((inputs != ids)[labels == -100].sum())
    return because or f"{changed} words changed, and their labels do not ask for them" if changed else ""


@law
def never_asked_for(outputs: Outputs, where: Tensor, of: str = "out", because: str = "") -> str:
    """No label on `where`."""
    found = int((outputs[of][1] != -100)[where].sum())
    return because or f"{found} special tokens have a label" if found else ""


def corruption_counts(outputs: Outputs, probabilities: Tensor, of: str = "out", **_: Any) -> Tensor:
    """How often a word was not asked for, and, of those asked for, how often it became which word: (1, 1 + words)."""
    inputs, labels = (_tensor(part).flatten() for part in outputs[of])
    became = torch.where(labels == -100, 0, inputs + 1)
    return frequency_counts({of: became}, probabilities, of)


@law
def corruption_frequencies(outputs: Outputs, probabilities: Tensor, of: str = "out", because: str = "") -> str:
    """What becomes of a text of one word follows `probabilities`: first for not being asked for, then word by word."""
    return _unlike(outputs, lambda found: corruption_counts(found, probabilities, of), probabilities, because)


def _together(chosen: Tensor, group: int) -> Tensor:
    """How many of `group` neighbours along the last axis are chosen, as a table (1, group + 1) of groups."""
    whole = chosen[..., : chosen.shape[-1] // group * group]
    return torch.bincount(whole.unflatten(-1, (-1, group)).sum(-1).flatten(), minlength=group + 1)[None].double()


def _by_own_coins(p: float, group: int) -> Tensor:
    """The probabilities of 0 … `group` chosen ones, each chosen with probability `p` on a coin of its own."""
    return torch.tensor([math.comb(group, k) * p**k * (1 - p) ** (group - k) for k in range(group + 1)])


def chosen_counts(outputs: Outputs, p: float, axis: int, group: int = 5, of: str = "out", **_: Any) -> Tensor:
    """How many of `group` neighbours along `axis` are asked for, as a table (1, group + 1) of groups."""
    return _together((_labels(outputs[of]) != -100).movedim(axis, -1), group)


def _labels(answer: Any) -> Tensor:
    """The labels of an answer; of a list of answers, as `draws` makes it, along a new first axis."""
    return answer[1] if isinstance(answer[1], Tensor) else torch.stack([_labels(one) for one in answer])


@law
def chosen_one_by_one(outputs: Outputs, p: float, axis: int, group: int = 5, of: str = "out", because: str = "") -> str:
    """Each word is asked for with probability `p`, whatever becomes of its neighbours along `axis`."""
    shares = _by_own_coins(p, group)
    return _unlike(outputs, lambda found: chosen_counts(found, p, axis, group, of), shares, because)


def tossed_counts(outputs: Outputs, p: float, group: int = 5, of: str = "out", **_: Any) -> Tensor:
    """How many of each `group` draws in a row are 0, as a table (1, group + 1) of groups."""
    return _together(_tensor(outputs[of]).flatten() == 0, group)


@law
def tossed_one_by_one(outputs: Outputs, p: float, group: int = 5, of: str = "out", because: str = "") -> str:
    """Each draw is 0 with probability `p`, whatever becomes of the others of its `group`."""
    return _unlike(outputs, lambda found: tossed_counts(found, p, group, of), _by_own_coins(p, group), because)


LAWS["corruption_frequencies"] = Law(corruption_frequencies, corruption_counts, relative=True)
LAWS["chosen_one_by_one"] = Law(chosen_one_by_one, chosen_counts, relative=True)
LAWS["tossed_one_by_one"] = Law(tossed_one_by_one, tossed_counts, relative=True)


def _binary_divergence(a: Tensor, b: Tensor) -> Tensor:
    """KL divergence of Bernoulli(a) from Bernoulli(b); infinite where b excludes what a saw."""
    return (
        torch.special.xlogy(a, a)
        - torch.special.xlogy(a, b)
        + torch.special.xlogy(1 - a, 1 - a)
        - torch.special.xlogy(1 - a, 1 - b)
    )


# -- trained models --------------------------------------------------------------------------------------------------


@law
def accuracy_at_least(outputs: Outputs, targets: Tensor, bar: float, of: str = "out", because: str = "") -> str:
    """The largest logit is the target's for at least `bar` of the rows; a target below zero is not counted."""
    logits = _tensor(outputs[of])
    right = logits.reshape(len(targets), -1).argmax(-1) == targets
    accuracy = float(right[targets >= 0].double().mean())
    return "" if accuracy >= bar else because or f"accuracy {accuracy:.1%} on held-out data; {bar:.1%} is asked for"


@law
def exact_match_at_least(
    outputs: Outputs, targets: Tensor, bar: float, eos: int, of: str = "out", because: str = ""
) -> str:
    """Of sentences (B, T), each up to its first `eos`, at least `bar` are the targets' to the last word."""
    said, expected = (translation.sentences(_tensor(ids), eos) for ids in (outputs[of], targets))
    found = translation.exact_match(said, expected)
    return "" if found >= bar else because or f"{found:.1%} of the sentences are right; {bar:.1%} are asked for"


@law
def mostly_unlike(outputs: Outputs, targets: Tensor, share: float, eos: int, of: str = "out", because: str = "") -> str:
    """Of sentences (B, T), each up to its first `eos`, less than `share` are these wrong targets' to the last word."""
    said, wrong = (translation.sentences(_tensor(ids), eos) for ids in (outputs[of], targets))
    found = translation.exact_match(said, wrong)
    return "" if found < share else because or f"{found:.0%} of the sentences show the same mistake"


@law
def bleu_at_least(outputs: Outputs, targets: Tensor, bar: float, eos: int, of: str = "out", because: str = "") -> str:
    """BLEU of sentences (B, T), each up to its first `eos`, against the targets', reaches `bar`."""
    said, expected = (translation.sentences(_tensor(ids), eos) for ids in (outputs[of], targets))
    found = translation.bleu(said, expected)
    return "" if found >= bar else because or f"BLEU {found:.3f}; {bar:.3f} is asked for"


@law
def says(outputs: Outputs, word: int, share: float, of: str = "out", because: str = "") -> str:
    """At least a `share` of the rows of ids (B, T) contain `word`."""
    found = float((_tensor(outputs[of]) == word).any(1).double().mean())
    return "" if found >= share else because or f"{found:.0%} of the rows contain {word}; {share:.0%} are expected"


@law
def perplexity_at_most(outputs: Outputs, targets: Tensor, bar: float, of: str = "out", because: str = "") -> str:
    """exp of the mean −log p of the targets under rows of probabilities (n, V) is at most `bar`."""
    probabilities = _tensor(outputs[of]).double().reshape(len(targets), -1)
    good = torch.isfinite(probabilities) & (probabilities >= -1e-6)
    if not bool(good.all()) or float((probabilities.sum(-1) - 1).abs().max()) > 1e-4:
        return "the predictions are no probability distributions, so a perplexity would mean nothing"
    found = _perplexity(probabilities, targets)
    return "" if found <= bar else because or f"held-out perplexity {found:.3g}; {bar:.3g} or less is asked for"


def perplexity_within(outputs: Outputs, targets: Tensor, factor: float, of: str = "out", because: str = "") -> str:
    """The same, over the reference's vocabulary, with a bar of `factor` times its perplexity in the same case."""
    own = _tensor(outputs[EXPECTED][of]).double().reshape(len(targets), -1)
    V = _tensor(outputs[of]).reshape(len(targets), -1).shape[1]
    if own.shape[1] != V:
        return f"a distribution over {own.shape[1]} tokens was expected, and one over {V} came"
    return perplexity_at_most(outputs, targets, factor * _perplexity(own, targets), of, because)


LAWS["perplexity_within"] = Law(perplexity_within, relative=True)


def _perplexity(probabilities: Tensor, targets: Tensor) -> float:
    chosen = probabilities.gather(1, targets[:, None]).squeeze(1)
    return float(torch.exp(-chosen.clamp(min=1e-300).log().mean()))


@law
def log_loss_at_most(
    outputs: Outputs, targets: Tensor, known: Tensor, margin: float, of: str = "out", because: str = ""
) -> str:
    """The mean −log softmax(logits)[target], natural logarithm, is at most `margin` above that of `known` (n,).

    `known` is what somebody else loses on the very same targets: the source itself, the bare frequencies. Targets
    (n, T) ask at several places of a row, those below zero are left out: `known` is then a row's sum, and the mean is
    over all that is asked.
    """
    found, bar = _per_target(_log_losses(outputs[of], targets), targets), _per_target(known, targets) + margin
    return "" if found <= bar else because or f"held-out loss {found:.3f}; {bar:.3f} or less is asked for"


@law
def log_loss_at_least(
    outputs: Outputs, targets: Tensor, known: Tensor, margin: float, of: str = "out", because: str = ""
) -> str:
    """The mean −log softmax(logits)[target] is not more than `-margin` below that of `known` (n,): no such guesses."""
    found, bar = _per_target(_log_losses(outputs[of], targets), targets), _per_target(known, targets) + margin
    return "" if found >= bar else because or f"a loss of {found:.3f}; {bar:.3f} or more was expected"


@law
def no_better_than(outputs: Outputs, targets: Tensor, best: Tensor, of: str = "out", because: str = "") -> str:
    """The losses of logits (n, V) are not below the `best` possible (n,) by more than chance.

    With targets (n, T), as above, a row's loss is a sum, since what is asked within a row is not independent.
    A difference of the means beyond four standard errors of the paired differences is no luck: targets have leaked.
    """
    differences = _log_losses(outputs[of], targets) - best.double()
    error = float(differences.std()) / math.sqrt(len(differences))
    if not math.isfinite(error) or float(differences.mean()) >= -4 * error - 1e-6:
        return ""  # an infinite loss is no leak
    return because or "better than anybody can be who knows the source itself: the answers leak into the question"


@law
def no_probabilities(outputs: Outputs, of: str = "out", because: str = "") -> str:
    """The rows are scores: they are not all positive with a sum of one."""
    logits = _tensor(outputs[of]).double()
    if bool((logits < 0).any()) or float((logits.sum(-1) - 1).abs().max()) > 1e-3:
        return ""
    return because or "these are probabilities, and scores are asked for, as they are before any softmax"


@law
def neighbours_alike(
    outputs: Outputs, kinds: Tensor, rows: Tensor, k: int, bar: float, of: str = "out", because: str = ""
) -> str:
    """Of the `k` nearest other rows, by cosine, of each of `rows`, a share of at least `bar` has a kind in common.

    `kinds` (V, K) is True where a row is of a kind.
    """
    vectors = _tensor(outputs[of]).double()
    if vectors.ndim != 2 or len(vectors) != len(kinds) or not bool(torch.isfinite(vectors).all()):
        return f"a table of {len(kinds)} finite vectors was expected, and one of shape {tuple(vectors.shape)} came"
    directions = vectors / vectors.norm(dim=1, keepdim=True).clamp(min=1e-12)
    similarity = directions[rows] @ directions.T
    similarity[torch.arange(len(rows)), rows] = -math.inf
    near = similarity.topk(k).indices  # (n, k)
    alike = (kinds[rows].double() @ kinds.double().T > 0).gather(1, near)
    found = float(alike.double().mean())
    return (
        ""
        if found >= bar
        else because or f"{found:.0%} of the neighbours are of the same kind; {bar:.0%} are asked for"
    )


@law
def keeps_weights(outputs: Outputs, weights: Mapping[str, Tensor], of: str = "state", because: str = "") -> str:
    """Each of `weights` stands in a model's state, to the last bit, under whatever name it has there now."""
    moved = [name for name, value in weights.items() if not _stands_in(list(outputs[of].values()), value)]
    if not moved:
        return ""
    those = f"{len(moved)} of its {len(weights)} tensors" if len(moved) > 3 else ", ".join(sorted(moved))
    return because or f"the weights it began with have changed: {those}"


@law
def trains_at_most(
    outputs: Outputs, weights: Mapping[str, Tensor], numbers: int, of: str = "state", because: str = ""
) -> str:
    """A model's state, parameters and buffers, has at most so many numbers that may learn or are none of `weights`."""
    begun = list(weights.values())
    found = sum(value.numel() for value in outputs[of].values() if value.requires_grad or not _stands_in(begun, value))
    return "" if found <= numbers else because or f"{found:,} numbers learn; {numbers:,} are allowed"


def _stands_in(tensors: list[Tensor], value: Tensor) -> bool:
    """Whether one of `tensors` is `value`, bit for bit."""
    alike = (tensor for tensor in tensors if tensor.shape == value.shape and tensor.dtype == value.dtype)
    return any(torch.equal(tensor, value) for tensor in alike)


def _log_losses(logits: Any, targets: Tensor) -> Tensor:
    """−log softmax(logits)[target] for each row, (n,), summed where targets are (n, T); infinite where there is NaN."""
    scores = _tensor(logits).double().reshape(*targets.shape, -1)
    scores = scores - scores.amax(-1, keepdim=True)  # beside a score of 1e17, log V would be rounded away
    losses = scores.logsumexp(-1) - scores.gather(-1, targets.clamp(min=0)[..., None]).squeeze(-1)
    return losses.nan_to_num(nan=math.inf).masked_fill(targets < 0, 0.0).reshape(len(targets), -1).sum(1)


def _per_target(losses: Tensor, targets: Tensor) -> float:
    """The mean of rows' `losses` (n,) over all targets that are asked for."""
    return float(losses.double().sum() / (targets >= 0).sum())


def _tensor(value: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value.detach()
    if isinstance(value, list) and value and all(isinstance(item, Tensor) for item in value):
        raise TypeError("tensors of different shapes")
    return torch.as_tensor(value)


def _agree(first: Any, second: Any, within: float) -> bool:
    if any(one is None or isinstance(one, Other) for one in (first, second)):
        raise TypeError("where nothing came back, nothing agrees and nothing differs")
    if (
        isinstance(first, list | tuple)
        and isinstance(second, list | tuple)
        and any(isinstance(item, Tensor) for item in first)
    ):
        return len(first) == len(second) and all(_agree(a, b, within) for a, b in zip(first, second, strict=True))
    if not isinstance(first, Tensor | float | int | list) or not isinstance(second, Tensor | float | int | list):
        return bool(type(first) is type(second) and first == second)
    a, b = _tensor(first), _tensor(second)
    return a.shape == b.shape and torch.allclose(a.double(), b.double(), rtol=within, atol=within, equal_nan=False)


def _kinds(value: Any) -> str:
    """What came: of several results, the first, and the next one that is something else."""
    if not isinstance(value, list | tuple) or not value:
        return _kind(value)
    kinds = list(dict.fromkeys(map(_kind, value)))
    return f"{len(value)} results, the first {kinds[0]}" + (f", another {kinds[1]}" if kinds[1:] else "")


def _kind(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)} and type {str(value.dtype).removeprefix('torch.')}"
    if isinstance(value, Other):
        return f"an object of type {value.type_name}"
    named = {
        type(None): "nothing",
        np.ndarray: "a numpy array",
        int: "a whole number",
        float: "a number",
        str: "a string",
    }
    return named.get(type(value), f"a {type(value).__name__}")
