"""Recognise which misconception a student's recordings show.

A misconception is recognised if the recordings match its own in every case in which it differs from a right answer.
Values are compared or, where right answers differ in value, which laws break and how often each outcome is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import torch

from ..exercise.key import Key, KeyCase, KeyMisconception
from ..exercise.laws import counts, examined
from ..exercise.nested import leaves
from ..exercise.recording import Recording
from .compare import difference, outputs_for_laws
from .compare_values import values_differ

SAME_FREQUENCIES = 0.08
"""Two tables of draws match if the mean total variation between their rows, less what chance explains, is smaller."""

_TOLD: WeakKeyDictionary[KeyCase, dict[str, bool]] = WeakKeyDictionary()
"""Cache: for each case, by the misconception's name, whether the misconception fails the case."""


@dataclass(frozen=True)
class Diagnosis:
    """The misconceptions that the recordings show: usually one, rarely a second one in other cases.

    `unconfirmed` means that the public cases alone show a misconception that a hidden case rules out.
    """

    shown: tuple[KeyMisconception, ...] = ()
    unconfirmed: bool = False

    @property
    def known(self) -> KeyMisconception | None:
        """Return the misconception that explains most cases."""
        return self.shown[0] if self.shown else None

    @property
    def hint(self) -> str:
        """Return the hints of all recognised misconceptions."""
        return " ".join(dict.fromkeys(known.hint for known in self.shown if known.hint))


@dataclass(frozen=True)
class _Explanation:
    """A misconception, by its index in the key, with the cases that show it and the gap between frequencies."""

    order: int
    telling: frozenset[int]
    gap: float

    @property
    def rank(self) -> tuple[int, float, int]:
        """Return a sort key: most cases first, then the smallest gap in frequency, then the order of declaration."""
        return -len(self.telling), self.gap, self.order


def recognise(key: Key, seen: Mapping[int, Recording]) -> Diagnosis:
    """Return the known misconception that `seen` shows. `seen` holds recordings by the position of the case.

    Where a case shows only pass or fail, accept a misconception only if it explains every failing case. The same holds
    for a misconception that only such cases show, and for one that matches only in infinities and NaN, because many
    mistakes produce those.

    `check` has already named what the public cases show. Grading names it again, unless the hidden cases show another
    misconception that also explains the public ones, or the match rests on few numbers. Several equal numbers are no
    coincidence, so a second mistake must hide the first in the hidden cases. A misconception that is not named again is
    ruled out only if a hidden case passes that the misconception fails.
    """
    whole = _best(_explanations(key, seen))
    public = {p: recording for p, recording in seen.items() if key.cases[p].case.public}
    by_check = list(_explanations(key, public)) if len(public) < len(seen) else []
    told, certain = _best(by_check), _best(one for one in by_check if _is_certain(key, one, seen))
    found = [whole] if whole else []
    if certain and not (whole and certain.telling <= whole.telling):
        found = sorted([*found, certain], key=lambda one: -len(one.telling))  # a tie goes to what all cases show
    diagnosis = Diagnosis(tuple(dict.fromkeys(key.misconceptions[one.order] for one in found)))
    return replace(diagnosis, unconfirmed=told is not None and _is_ruled_out(key, told, diagnosis, seen))


def _is_ruled_out(key: Key, told: _Explanation, diagnosis: Diagnosis, seen: Mapping[int, Recording]) -> bool:
    """Return whether the diagnosis lacks the hint of `told`, and a case passes that this misconception fails."""
    known = key.misconceptions[told.order]
    return _lacks(diagnosis, known.hint) and any(
        is_failed_by(key.cases[p], known.name) and not difference(key.cases[p], recording)
        for p, recording in seen.items()
    )


def _lacks(diagnosis: Diagnosis, hint: str) -> bool:
    """Return whether a hint that `check` gave is missing. An answer that only inherits a mistake needs no hint."""
    return hint not in diagnosis.hint and all(known.hint for known in diagnosis.shown)


def _best(explanations: Iterable[_Explanation]) -> _Explanation | None:
    """Return the explanation that ranks first."""
    return min(explanations, key=lambda one: one.rank, default=None)


def _is_certain(key: Key, found: _Explanation, seen: Mapping[int, Recording]) -> bool:
    """Return whether an explanation matches several numbers of one case."""
    return any(_compares_several_numbers(key.cases[p]) and not seen[p].raised for p in found.telling)


def _explanations(key: Key, seen: Mapping[int, Recording]) -> Iterator[_Explanation]:
    """Yield the misconceptions that `seen` shows."""
    wavering = {p for p in seen if is_random(key.cases[p], seen[p])}
    failing = {p for p in seen.keys() - wavering if difference(key.cases[p], seen[p])}
    unexplained = {p for p in failing if _is_pass_fail(key.cases[p])}
    for order, known in enumerate(key.misconceptions):
        if not all(is_failed_by(key.cases[p], known.name) for p in unexplained):
            continue
        if _mistaken_elsewhere(key, known.name, seen):
            continue
        telling = _cases_that_show(key, known.name, seen, wavering)
        if telling and all(shows(key.cases[p], known.name, seen[p]) for p in telling):
            little = all(_is_pass_fail(key.cases[p]) for p in telling) or all(says_nothing(seen[p]) for p in telling)
            if little and not failing <= set(telling):
                continue
            gap = sum(_frequency_gap(key.cases[p], known.name, seen[p]) or 0.0 for p in telling)
            yield _Explanation(order, frozenset(telling), gap)


def _cases_that_show(key: Key, name: str, seen: Mapping[int, Recording], wavering: Set[int]) -> list[int]:
    """Return the cases that show a misconception, or none if all of them ended in errors unlike its own.

    In up to half of the cases an error or NaN may replace the wrong value. A second mistake causes that, such as a
    division by zero where nothing was counted.
    """
    telling = [p for p in seen if p in wavering or is_failed_by(key.cases[p], name)]
    if all(seen[p].raised for p in telling) and not all(
        _same_error_message(key.cases[p], name, seen[p]) for p in telling
    ):
        return []
    lost = {p for p in telling if _is_masked(key.cases[p], name, seen[p])}
    return [p for p in telling if p not in lost] if 2 * len(lost) <= len(telling) else telling


def _compares_several_numbers(key_case: KeyCase) -> bool:
    """Return whether a case compares several floating-point numbers, in which two different mistakes rarely agree."""
    return key_case.case.values and any(map(_is_several_numbers, leaves(key_case.expected.outputs)))


def _is_several_numbers(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point() and value.numel() > 1


def _is_pass_fail(key_case: KeyCase) -> bool:
    """Return whether a case shows only pass or fail: only laws judge it, or its result is True or False."""
    return not key_case.case.values or isinstance(key_case.expected.outputs.get("out"), bool)


def _is_masked(key_case: KeyCase, name: str, seen: Recording) -> bool:
    """Return whether a case ended in an error or NaN, although it asks for values and the misconception has some."""
    wrong = key_case.wrong(name)
    if not key_case.case.values or key_case.case.raises or wrong.raised is not None:
        return False
    return seen.raised is not None or (_holds_nan(seen) and not _holds_nan(wrong))


def _holds_nan(seen: Recording) -> bool:
    """Return whether an output contains NaN."""
    numbers = (value for value in leaves(seen.outputs) if isinstance(value, torch.Tensor | float))
    return any(bool(torch.as_tensor(number).isnan().any()) for number in numbers)


def says_nothing(seen: Recording) -> bool:
    """Return whether all outputs are infinite or NaN."""
    return seen.raised is None and not any(map(_is_finite, leaves(seen.outputs)))


def _is_finite(value: Any) -> bool:
    """Return whether a value contains anything but infinities and NaN."""
    if isinstance(value, torch.Tensor):
        return bool(value.isfinite().any())
    return not isinstance(value, float) or math.isfinite(value)


def _mistaken_elsewhere(key: Key, name: str, seen: Mapping[int, Recording]) -> bool:
    """Whether an answer misses a True-or-False question that the misconception gets right there and wrong elsewhere."""
    mistaken = {p: _mistaken(key.cases[p], key.cases[p].wrong(name)) for p in seen}
    blamed = set().union(*mistaken.values())
    return any((_mistaken(key.cases[p], seen[p]) - mistaken[p]) & blamed for p in seen)


def _mistaken(key_case: KeyCase, recording: Recording) -> set[Any]:
    """Return the True-or-False questions that a recording answers wrongly. The output is a dict of answers."""
    asked, said = key_case.expected.outputs.get("out"), recording.outputs.get("out")
    if not isinstance(asked, dict) or not isinstance(said, dict):
        return set()
    return {name for name, right in asked.items() if isinstance(right, bool) and said.get(name) is (not right)}


def is_failed_by(key_case: KeyCase, name: str) -> bool:
    """Return whether a misconception fails a case. Asked for every wrong answer, so the result is cached."""
    told = _TOLD.setdefault(key_case, {})
    if name not in told:
        told[name] = difference(key_case, key_case.wrong(name)) is not None
    return told[name]


def is_random(key_case: KeyCase, seen: Recording) -> bool:
    """Return whether repeated calls differ, which no misconception with deterministic answers explains."""
    laws = (use for use in key_case.case.laws if use.name == "repeats")
    return any(examined(use, outputs_for_laws(key_case, seen)) for use in laws)


def shows(key_case: KeyCase, name: str, seen: Recording) -> bool:
    """Return whether `seen` matches what the misconception does in this case."""
    wrong = key_case.wrong(name)
    if wrong.raised is not None or seen.raised is not None:
        return wrong.raised is not None and seen.raised is not None and wrong.raised.name == seen.raised.name
    if bool(wrong.mutated) != bool(seen.mutated):
        return False
    if key_case.case.values and not _same_values(key_case, wrong, seen):
        return False
    broken = _broken_laws(key_case, seen)
    if _broken_laws(key_case, wrong) != broken:
        return False
    gap = _frequency_gap(key_case, name, seen)
    besides = any(counts(key_case.case.laws[index], outputs_for_laws(key_case, seen)) is None for index, _ in broken)
    return gap is None or gap < SAME_FREQUENCIES or besides


def _same_error_message(key_case: KeyCase, name: str, seen: Recording) -> bool:
    """Return whether both raised the same message. A bare error identifies a misconception only by its message."""
    wrong = key_case.wrong(name)
    return wrong.raised is not None and seen.raised is not None and wrong.raised.message == seen.raised.message


def _same_values(key_case: KeyCase, wrong: Recording, seen: Recording) -> bool:
    asked, known = key_case.expected.outputs, wrong.outputs
    outputs = {
        name: _in_the_form_known(known.get(name), asked.get(name), value) for name, value in seen.outputs.items()
    }
    seen = replace(seen, outputs=outputs)
    return (
        values_differ(replace(key_case.case, laws=()), wrong, seen) is None
        and values_differ(replace(key_case.case, laws=()), seen, wrong) is None
    )


def _in_the_form_known(known: Any, asked: Any, value: Any) -> Any:
    """Convert `value` to the misconception's form where both forms are right: a plain number, or a detached tensor.

    A tensor may require gradients although the right one does not, because the answer's weights may be trainable.
    """
    if not isinstance(value, torch.Tensor):
        return value
    if value.dim() == 0 and isinstance(known, int | float):
        return value.item()
    needless = isinstance(asked, torch.Tensor) and not asked.requires_grad
    return value.detach() if needless and isinstance(known, torch.Tensor) and not known.requires_grad else value


def _broken_laws(key_case: KeyCase, recording: Recording) -> Sequence[tuple[int, bool]]:
    """Return the broken laws by index, with whether an output broke each (False: the law could not examine it).

    A law that counts draws is listed only if no other law is broken. If all generated texts are the same, how often a
    token occurs is chance.
    """
    outputs = outputs_for_laws(key_case, recording)
    found = [(use, examined(use, outputs)) for use in key_case.case.laws]
    broken = [(index, sentence is not None) for index, (_, sentence) in enumerate(found) if sentence != ""]
    return [entry for entry in broken if counts(found[entry[0]][0], outputs) is None] or broken


def _frequency_gap(key_case: KeyCase, name: str, seen: Recording) -> float | None:
    """Return the mean total variation between the misconception's draws and the student's, or None without such a law.

    The expected difference between two samples of one distribution is subtracted, because it is large for few draws.
    """
    gaps = []
    for use in key_case.case.laws:
        mine, theirs = counts(use, key_case.wrong(name).outputs), counts(use, seen.outputs)
        if mine is not None and theirs is not None and mine.shape == theirs.shape:
            both = (mine.sum(-1) > 0) & (theirs.sum(-1) > 0)
            weight = (mine.sum(-1) + theirs.sum(-1)) * both
            rows = (_rates(mine) - _rates(theirs)).abs().sum(-1) / 2 - _by_chance(mine, theirs)
            gaps.append(float((rows * weight).sum() / weight.sum().clamp(min=1)))
    return sum(gaps) / len(gaps) if gaps else None


def _by_chance(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Return the expected total variation between two tables drawn from one distribution (normal approximation)."""
    p = _rates(one + other)
    variance = p * (1 - p) * sum(1 / table.sum(-1, keepdim=True).clamp(min=1) for table in (one, other))
    return variance.sqrt().sum(-1) / math.sqrt(2 * math.pi)


def _rates(table: torch.Tensor) -> torch.Tensor:
    return table / table.sum(-1, keepdim=True).clamp(min=1)
