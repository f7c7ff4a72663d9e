"""Laws of agreement between two outputs, between parts of one, or between an output and known values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from .plain import agree, kind, tensor
from .registry import EXPECTED, Outputs, law, law_with

MOST_SLICES = 2048
"""Number of slices up to which all pairs are compared. The course's exercises have some dozens."""


@law
def equal(outputs: Outputs, of: str = "out", to: str = "", because: str = "", within: float = 1e-6) -> str:
    """Require two equal outputs."""
    if agree(outputs[of], outputs[to], within):
        return ""
    return because or f"{of} and {to} should agree, but they differ"


@law
def repeats(outputs: Outputs, of: str = "out", to: str = "", because: str = "", within: float = 1e-5) -> str:
    """Require equal outputs of repeated calls. Else other broken laws may be chance, see `judge.diagnose`."""
    return equal(outputs, of, to, because or "two calls with the same input give different results", within)


@law
def equal_up_to(
    outputs: Outputs, count: int, of: str = "out", to: str = "", dim: int = 1, because: str = "", within: float = 1e-6
) -> str:
    """Require equal first `count` entries of two outputs along `dim`. Later entries may differ."""
    first, second = (tensor(outputs[name]).narrow(dim, 0, count) for name in (of, to))
    if agree(first, second, within):
        return ""
    return because or f"{of} and {to} should agree in their first {count} positions, but they differ"


@law
def different(outputs: Outputs, of: str = "out", to: str = "", because: str = "", within: float = 1e-6) -> str:
    """Require two different outputs."""
    if not agree(outputs[of], outputs[to], within):
        return ""
    return because or f"{of} and {to} should differ, but they are the same"


@law
def exceeds_by(
    outputs: Outputs, value: Tensor, of: str = "out", to: str = "", because: str = "", within: float = 1e-5
) -> str:
    """Require one output to be another plus `value`."""
    if agree(tensor(outputs[of]).double() - value.double(), tensor(outputs[to]).double(), within):
        return ""
    return because or f"the difference between {of} and {to} is wrong"


@law
def begins_with(
    outputs: Outputs, of: str = "out", to: str = "", dim: int = 0, because: str = "", within: float = 1e-6
) -> str:
    """Require an output whose first entries along `dim` are another output."""
    beginning = tensor(outputs[of]).narrow(dim, 0, tensor(outputs[to]).shape[dim])
    if agree(beginning, outputs[to], within):
        return ""
    return because or f"{of} should begin with {to}, but it does not"


@law
def differ_at(
    outputs: Outputs, place: int, of: str = "out", to: str = "", dim: int = 0, because: str = "", within: float = 1e-6
) -> str:
    """Require different entries at `place` along `dim` of two outputs."""
    first, second = (tensor(outputs[name]).select(dim, place) for name in (of, to))
    if not agree(first, second, within):
        return ""
    return because or f"{of} and {to} should differ at position {place}, but they are the same there"


@law
def slices_differ(outputs: Outputs, of: str = "out", dim: int = 0, because: str = "", within: float = 1e-6) -> str:
    """Require all slices along `dim` to differ from each other. At most `MOST_SLICES` are accepted."""
    slices = tensor(outputs[of]).double().movedim(dim, 0).flatten(1)
    if len(slices) > MOST_SLICES:
        return f"got {len(slices)} entries, far more than a correct solution returns"
    apart = ((slices[i + 1 :] - one).abs().amax(-1) > within for i, one in enumerate(slices))
    if all(bool(far.all()) for far in apart):
        return ""
    return because or "two entries should differ, but they are the same"


@law
def slices_vary(outputs: Outputs, of: str = "out", dim: int = 0, because: str = "", within: float = 1e-6) -> str:
    """Require at least two different slices along `dim`."""
    if slices_agree(outputs, of, dim, because, within):
        return ""
    return because or "the entries should vary, but all of them are the same"


@law
def slices_agree(outputs: Outputs, of: str = "out", dim: int = 0, because: str = "", within: float = 1e-6) -> str:
    """Require all slices along `dim` to be equal."""
    slices = tensor(outputs[of]).double().movedim(dim, 0)
    if agree(slices, slices[:1].expand_as(slices), within):
        return ""
    return because or "all entries should be the same, but some of them differ"


@law
def rows_follow(outputs: Outputs, rows: Tensor, of: str = "out", because: str = "", within: float = 1e-5) -> str:
    """Require slices along the first axis to be equal where the numbers in `rows` (B,) are, and to differ elsewhere.

    So the result depends on the request and on nothing else. Neither a constant nor a record of another request passes.
    `within` is a share of the largest number.
    """
    found = tensor(outputs[of]).double().flatten(1)
    size = max(1.0, float(found.abs().max()))
    apart = (found[:, None] - found).abs().amax(-1) > within * size
    if len(found) == len(rows) and bool((apart == (rows[:, None] != rows)).all()):
        return ""
    return because or "equal inputs should get equal results, and different inputs should get different ones"


@law
def close_to(outputs: Outputs, value: Any, of: str = "out", within: float = 1e-6, because: str = "") -> str:
    """Require an output close to a known value."""
    if agree(outputs[of], value, within):
        return ""
    return because or "the value is not the one that every correct solution returns"


def _no_entry(found: object, key: str) -> str:
    """Return what is wrong with something that should be a dict with this entry, or an empty string."""
    if isinstance(found, Mapping) and key in found:
        return ""
    return f"expected a dict with an entry {key!r}, got {kind(found)}"


@law
def entry_close(outputs: Outputs, key: str, value: float, within: float, of: str = "out", because: str = "") -> str:
    """Require the entry `key` of a dict to be close to a known number."""
    if missing := _no_entry(outputs[of], key):
        return missing
    found = float(outputs[of][key])
    return (
        "" if abs(found - value) <= within else because or f"the entry {key!r} is {found:.4g}, and {value:.4g} is right"
    )


@law
def entry_positive(outputs: Outputs, key: str, of: str = "out", because: str = "") -> str:
    """Require the entry `key` of a dict to be above zero."""
    if missing := _no_entry(outputs[of], key):
        return missing
    found = float(outputs[of][key])
    return "" if found > 0 else because or f"the entry {key!r} is {found:.4g}, and should be above 0"


@law
def entry_apart(
    outputs: Outputs, key: str, values: list[float], within: float, of: str = "out", because: str = ""
) -> str:
    """Require the entry `key` of a dict to be close to none of `values`, which are results of known mistakes.

    `within` is a share of each value, or an absolute distance for values below 1.
    """
    found = float(outputs[of][key])
    near = [value for value in values if abs(found - value) <= within * max(1.0, abs(value))]
    return (because or f"the entry {key!r} is {found:.4g}, as a known mistake makes it") if near else ""


@law
def same_rows(outputs: Outputs, to: str, of: str = "out", because: str = "", within: float = 1e-5) -> str:
    """Require the rows of two outputs to agree in order, whatever the axes with which they were computed.

    Sums over other shapes round differently, relative to the summands. So `within` is a share of the largest number.
    """
    a, b = (tensor(outputs[name]).double() for name in (of, to))
    size = max([1.0, *b[b.isfinite()].abs().flatten().tolist()])
    if a.numel() == b.numel() and agree(a.reshape(b.shape) / size, b / size, within):
        return ""
    return because or f"the rows of {of} and {to} should be the same, but they differ"


@law_with(relative=True)
def chooses_the_best(outputs: Outputs, scores: Tensor, of: str = "out", because: str = "", within: float = 1e-4) -> str:
    """Require weights (N, k) equal to the reference's, and positions (N, k) of the best `scores` (N, E) of each row.

    The best come first, no position occurs twice, and positions with equal scores are interchangeable.
    """
    weights, places = outputs[of]
    right_weights, right_places = outputs[EXPECTED][of]
    best = agree(scores.gather(-1, places), scores.gather(-1, right_places), within)
    if not best or bool((places.sort(-1).values.diff() == 0).any()):
        return because or "what is chosen in a row should be its largest values, best first and none twice"
    return "" if agree(weights, right_weights, within) else because or "the weights are wrong"
