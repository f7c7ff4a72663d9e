"""Laws of agreement: between two outputs, between parts of one, or between an output and known values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from .plain import agree, kind, tensor
from .registry import EXPECTED, Outputs, law, law_with

MOST_SLICES = 2048
"""Of what is compared each with each; the course asks for some dozens."""


@law
def equal(outputs: Outputs, of: str = "out", to: str = "", because: str = "", within: float = 1e-6) -> str:
    """Two outputs agree."""
    if agree(outputs[of], outputs[to], within):
        return ""
    return because or f"{of} and {to} should agree, but they differ"


@law
def repeats(outputs: Outputs, of: str = "out", to: str = "", because: str = "", within: float = 1e-5) -> str:
    """The same call answers the same. Where it does not, what else is broken may be chance: see `judge.diagnose`."""
    return equal(outputs, of, to, because or "two calls with the same input give different results", within)


@law
def equal_up_to(
    outputs: Outputs, count: int, of: str = "out", to: str = "", dim: int = 1, because: str = "", within: float = 1e-6
) -> str:
    """The first `count` entries of two outputs along `dim` agree; what comes after them may differ."""
    first, second = (tensor(outputs[name]).narrow(dim, 0, count) for name in (of, to))
    if agree(first, second, within):
        return ""
    return because or f"{of} and {to} should agree in their first {count} positions, but they differ"


@law
def different(outputs: Outputs, of: str = "out", to: str = "", because: str = "", within: float = 1e-6) -> str:
    """Two outputs do not agree."""
    if not agree(outputs[of], outputs[to], within):
        return ""
    return because or f"{of} and {to} should differ, but they are the same"


@law
def exceeds_by(
    outputs: Outputs, value: Tensor, of: str = "out", to: str = "", because: str = "", within: float = 1e-5
) -> str:
    """One output is another plus `value`."""
    if agree(tensor(outputs[of]).double() - value.double(), tensor(outputs[to]).double(), within):
        return ""
    return because or f"the difference between {of} and {to} is wrong"


@law
def begins_with(
    outputs: Outputs, of: str = "out", to: str = "", dim: int = 0, because: str = "", within: float = 1e-6
) -> str:
    """The first entries of an output along `dim` are another output."""
    beginning = tensor(outputs[of]).narrow(dim, 0, tensor(outputs[to]).shape[dim])
    if agree(beginning, outputs[to], within):
        return ""
    return because or f"{of} should begin with {to}, but it does not"


@law
def differ_at(
    outputs: Outputs, place: int, of: str = "out", to: str = "", dim: int = 0, because: str = "", within: float = 1e-6
) -> str:
    """The entries at `place` along `dim` of two outputs do not agree."""
    first, second = (tensor(outputs[name]).select(dim, place) for name in (of, to))
    if not agree(first, second, within):
        return ""
    return because or f"{of} and {to} should differ at position {place}, but they are the same there"


@law
def slices_differ(outputs: Outputs, of: str = "out", dim: int = 0, because: str = "", within: float = 1e-6) -> str:
    """No two slices along `dim` are the same; at most `MOST_SLICES` are compared, one with all behind it at a time."""
    slices = tensor(outputs[of]).double().movedim(dim, 0).flatten(1)
    if len(slices) > MOST_SLICES:
        return f"got {len(slices)} entries, far more than a correct solution returns"
    apart = ((slices[i + 1 :] - one).abs().amax(-1) > within for i, one in enumerate(slices))
    if all(bool(far.all()) for far in apart):
        return ""
    return because or "two entries should differ, but they are the same"


@law
def slices_vary(outputs: Outputs, of: str = "out", dim: int = 0, because: str = "", within: float = 1e-6) -> str:
    """Not all slices along `dim` are the same."""
    if slices_agree(outputs, of, dim, because, within):
        return ""
    return because or "the entries should vary, but all of them are the same"


@law
def slices_agree(outputs: Outputs, of: str = "out", dim: int = 0, because: str = "", within: float = 1e-6) -> str:
    """All slices along `dim` are the same."""
    slices = tensor(outputs[of]).double().movedim(dim, 0)
    if agree(slices, slices[:1].expand_as(slices), within):
        return ""
    return because or "all entries should be the same, but some of them differ"


@law
def rows_follow(outputs: Outputs, rows: Tensor, of: str = "out", because: str = "", within: float = 1e-5) -> str:
    """Slices along the first axis are the same where the numbers in `rows` (B,) are, and differ where these differ.

    So what comes depends on what was asked, and on nothing else: neither a constant does that, nor what was written
    down when other copies were asked for. `within` is a share of the largest number.
    """
    found = tensor(outputs[of]).double().flatten(1)
    size = max(1.0, float(found.abs().max()))
    apart = (found[:, None] - found).abs().amax(-1) > within * size
    if len(found) == len(rows) and bool((apart == (rows[:, None] != rows)).all()):
        return ""
    return because or "equal inputs should get equal results, and different inputs should get different ones"


@law
def close_to(outputs: Outputs, value: Any, of: str = "out", within: float = 1e-6, because: str = "") -> str:
    """An output is near a known value."""
    if agree(outputs[of], value, within):
        return ""
    return because or "the value is not the one that every correct solution returns"


@law
def entry_close(outputs: Outputs, key: str, value: float, within: float, of: str = "out", because: str = "") -> str:
    """The entry `key` of a dict is near a known number."""
    if not isinstance(outputs[of], Mapping) or key not in outputs[of]:
        return f"expected a dict with an entry {key!r}, got {kind(outputs[of])}"
    found = float(outputs[of][key])
    return (
        "" if abs(found - value) <= within else because or f"the entry {key!r} is {found:.4g}, and {value:.4g} is right"
    )


@law
def entry_apart(
    outputs: Outputs, key: str, values: list[float], within: float, of: str = "out", because: str = ""
) -> str:
    """The entry `key` of a dict is near none of the `values`, by which known mistakes are told from others.

    `within` is a share of each value, and the distance itself where this is below 1.
    """
    found = float(outputs[of][key])
    near = [value for value in values if abs(found - value) <= within * max(1.0, abs(value))]
    return (because or f"the entry {key!r} is {found:.4g}, as a known mistake makes it") if near else ""


@law
def same_rows(outputs: Outputs, to: str, of: str = "out", because: str = "", within: float = 1e-5) -> str:
    """The rows of two outputs agree in order, whatever axes of one they were computed with.

    Sums over other shapes round otherwise, by a share of what was summed: `within` is one of the largest number here.
    """
    a, b = (tensor(outputs[name]).double() for name in (of, to))
    size = max([1.0, *b[b.isfinite()].abs().flatten().tolist()])
    if a.numel() == b.numel() and agree(a.reshape(b.shape) / size, b / size, within):
        return ""
    return because or f"the rows of {of} and {to} should be the same, but they differ"


@law_with(relative=True)
def chooses_the_best(outputs: Outputs, scores: Tensor, of: str = "out", because: str = "", within: float = 1e-4) -> str:
    """Of weights and places (N, k), the weights are the reference's, and the places hold each row's best `scores`.

    The scores are (N, E). The best come first, none of them twice, and equal ones may stand for each other.
    """
    weights, places = outputs[of]
    right_weights, right_places = outputs[EXPECTED][of]
    best = agree(scores.gather(-1, places), scores.gather(-1, right_places), within)
    if not best or bool((places.sort(-1).values.diff() == 0).any()):
        return because or "what is chosen in a row should be its largest values, best first and none twice"
    return "" if agree(weights, right_weights, within) else because or "the weights are wrong"
