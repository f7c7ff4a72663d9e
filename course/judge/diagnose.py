"""Diagnosis: which misconception do the recordings show?

A misconception is recognised when the student's recordings agree with it on every case that tells it from a right
answer: in value, or, where right answers differ in value, in which laws break and in how often things are drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import torch

from ..exercise.key import Key, KeyCase, Known
from ..exercise.laws import counts, examined
from ..exercise.recording import Recording
from .compare import beside_expected, difference, values_differ

SAME_FREQUENCIES = 0.08
"""Two tables of at least some hundred draws whose rows differ by less, on average, in total variation are alike."""

_TOLD: WeakKeyDictionary[KeyCase, dict[str, bool]] = WeakKeyDictionary()
"""By case and misconception, whether the one fails for the other."""


def recognise(key: Key, seen: Mapping[int, Recording]) -> Known | None:
    """The misconception that `seen` (recordings by position of the case) shows; None when it is none that we know.

    Of several, the one that explains the most cases; of equals, the nearest in frequency, then the first declared.
    Where it is known only that something fails, and not what came instead, all that fails has to be explained; and so
    have values by a misconception of which nothing else is known.
    """
    found: list[tuple[int, float, int, Known]] = []
    wavering = {p for p in seen if wavers(key.cases[p], seen[p])}
    failing = {p for p in seen.keys() - wavering if difference(key.cases[p], seen[p])}
    unexplained = {p for p in failing if _says_little(key.cases[p])}
    for order, known in enumerate(key.misconceptions):
        if not all(tells_apart(key.cases[p], known.name) for p in unexplained):
            continue
        if _errs_elsewhere(key, known.name, seen):
            continue
        telling = [p for p in seen if p in wavering or tells_apart(key.cases[p], known.name)]
        if all(_says_little(key.cases[p]) for p in telling) and not failing <= set(telling):
            continue
        if all(seen[p].raised for p in telling):
            telling = telling if all(_same_words(key.cases[p], known.name, seen[p]) for p in telling) else []
        if telling and all(shows(key.cases[p], known.name, seen[p]) for p in telling):
            gap = sum(_gap(key.cases[p], known.name, seen[p]) or 0.0 for p in telling)
            found.append((-len(telling), gap, order, known))
    return min(found, key=lambda entry: entry[:3])[3] if found else None


def _says_little(held: KeyCase) -> bool:
    """Whether an answer to the case is no more than right or wrong: it is held against laws, or is True or False."""
    return not held.case.values or isinstance(held.expected.outputs.get("out"), bool)


def _errs_elsewhere(key: Key, name: str, seen: Mapping[int, Recording]) -> bool:
    """Whether, of several questions of True or False, one that the misconception gets wrong fails where it is right."""
    mistaken = {p: _mistaken(key.cases[p], key.cases[p].wrong(name)) for p in seen}
    blamed = set().union(*mistaken.values())
    return any((_mistaken(key.cases[p], seen[p]) - mistaken[p]) & blamed for p in seen)


def _mistaken(held: KeyCase, recording: Recording) -> set[Any]:
    """The questions, in a dict of answers that are True or False, with the wrong answer."""
    asked, said = held.expected.outputs.get("out"), recording.outputs.get("out")
    if not isinstance(asked, dict) or not isinstance(said, dict):
        return set()
    return {name for name, right in asked.items() if isinstance(right, bool) and said.get(name) is (not right)}


def tells_apart(held: KeyCase, name: str) -> bool:
    """Whether the case fails for the misconception: asked for every wrong answer, found out once."""
    told = _TOLD.setdefault(held, {})
    if name not in told:
        told[name] = difference(held, held.wrong(name)) is not None
    return told[name]


def wavers(held: KeyCase, seen: Recording) -> bool:
    """Whether the same call was answered differently: no misconception that answers the same explains that."""
    laws = (use for use in held.case.laws if use.name == "repeats")
    return any(examined(use, beside_expected(held, seen)) for use in laws)


def shows(held: KeyCase, name: str, seen: Recording) -> bool:
    """Whether `seen` is what the misconception does in this case."""
    wrong = held.wrong(name)
    if wrong.raised is not None or seen.raised is not None:
        return wrong.raised is not None and seen.raised is not None and wrong.raised.name == seen.raised.name
    if bool(wrong.mutated) != bool(seen.mutated):
        return False
    if held.case.values and not _same_values(held, wrong, seen):
        return False
    broken = _broken_laws(held, seen)
    if _broken_laws(held, wrong) != broken:
        return False
    gap = _gap(held, name, seen)
    besides = any(counts(held.case.laws[index], beside_expected(held, seen)) is None for index, _ in broken)
    return gap is None or gap < SAME_FREQUENCIES or besides


def _same_words(held: KeyCase, name: str, seen: Recording) -> bool:
    """Whether both raised with the same message: an error alone is a misconception's only if it says the same."""
    wrong = held.wrong(name)
    return wrong.raised is not None and seen.raised is not None and wrong.raised.message == seen.raised.message


def _same_values(held: KeyCase, wrong: Recording, seen: Recording) -> bool:
    asked, known = held.expected.outputs, wrong.outputs
    outputs = {name: _like(known.get(name), asked.get(name), value) for name, value in seen.outputs.items()}
    seen = replace(seen, outputs=outputs)
    return (
        values_differ(replace(held.case, laws=()), wrong, seen) is None
        and values_differ(replace(held.case, laws=()), seen, wrong) is None
    )


def _like(known: Any, asked: Any, value: Any) -> Any:
    """`value` as the misconception says it where both ways are right: one value as a number, or with its history.

    A tensor may know where it came from (`requires_grad`) though the right one does not: its weights may learn.
    """
    if not isinstance(value, torch.Tensor):
        return value
    if value.dim() == 0 and isinstance(known, int | float):
        return value.item()
    needless = isinstance(asked, torch.Tensor) and not asked.requires_grad
    return value.detach() if needless and isinstance(known, torch.Tensor) and not known.requires_grad else value


def _broken_laws(held: KeyCase, recording: Recording) -> Sequence[tuple[int, bool]]:
    """Which laws are broken, and whether by what came: what cannot be examined shows no more than its kind.

    A law that counts is one of them where no other is broken: of texts that are all the same, how often a token comes
    is luck.
    """
    outputs = beside_expected(held, recording)
    found = [(use, examined(use, outputs)) for use in held.case.laws]
    broken = [(index, sentence is not None) for index, (_, sentence) in enumerate(found) if sentence != ""]
    return [entry for entry in broken if counts(found[entry[0]][0], outputs) is None] or broken


def _gap(held: KeyCase, name: str, seen: Recording) -> float | None:
    """Mean total variation between the misconception's table of draws and the student's; None without such a law."""
    gaps = []
    for use in held.case.laws:
        mine, theirs = counts(use, held.wrong(name).outputs), counts(use, seen.outputs)
        if mine is not None and theirs is not None and mine.shape == theirs.shape:
            both = (mine.sum(-1) > 0) & (theirs.sum(-1) > 0)
            weight = (mine.sum(-1) + theirs.sum(-1)) * both
            rows = (_rates(mine) - _rates(theirs)).abs().sum(-1) / 2
            gaps.append(float((rows * weight).sum() / weight.sum().clamp(min=1)))
    return sum(gaps) / len(gaps) if gaps else None


def _rates(table: torch.Tensor) -> torch.Tensor:
    return table / table.sum(-1, keepdim=True).clamp(min=1)
