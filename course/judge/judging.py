"""Judge one exercise: run its cases, compare, diagnose and decide the verdict."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Sequence
from dataclasses import replace

from ..exercise.key import Key
from ..exercise.recording import Recording
from ..exercise.script import Case, Script
from ..exercise.values import Malformed
from ..exercise.watch import forbidden_in_source
from .compare import difference, is_too_large, what_was_measured
from .describe import what_came
from .diagnose import recognise
from .difference import Difference
from .explain_values import explained, is_unconfirmed
from .verdict import CaseResult, HeldBack, Kind, Verdict

Respond = Callable[[Script], Recording]

ALONE: dict[HeldBack, str] = {
    "public": "passes, but public checks earn points only once a hidden check passes",
    "error": "raises the right error, but earns points only once a check that asks for a value passes",
}
"""Messages for cases that pass and earn nothing, by reason."""


class Unanswered(Exception):
    """The kernel sent no answer. `kind` is the kind of the resulting verdict."""

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(message)
        self.kind: Kind = kind


def judge(key: Key, respond: Respond, points: float, source: str = "", *, describing: bool = False) -> Verdict:
    """Return the verdict on an answer whose scripts `respond` runs. `source` is its cell, searched for forbidden calls.

    With `describing`, each case also records what the answer gave, for the instructor's page only.
    """
    started = time.perf_counter()
    used = forbidden_in_source(source, key.forbidden)
    if used:
        return _forbidden(key, used, points)
    seen: dict[int, Recording] = {}
    found: list[Difference | None] = []
    beside: list[tuple[str, str, str]] = []
    fault: Unanswered | None = None
    recording: Recording | None = None
    for position, (key_case, script) in enumerate(zip(key.cases, key.scripts, strict=True)):
        try:
            if recording is None or not key_case.case.again:
                recording = respond(script)
        except Unanswered as unanswered:
            fault = unanswered
            break
        except Malformed as malformed:
            fault = Unanswered("error", f"the answer sent back something unreadable: {malformed}")
            break
        if recording.watched:
            return _forbidden(key, recording.watched, points)
        found.append(gap := difference(key_case, recording, key.signature))
        came = what_came(key_case, recording, gap) if describing else ("", "")
        beside.append((what_was_measured(key_case, recording), *came))
        if not is_too_large(key_case, recording):
            seen[position] = recording
    verdict = _decide(key, explained(key, found, seen), seen, fault, points)
    cases = tuple(
        replace(case, measured=measured, got=got, right=right)
        for case, (measured, got, right) in zip(verdict.cases, beside, strict=True)
    )
    return replace(verdict, cases=cases, seconds=time.perf_counter() - started)


def _decide(
    key: Key, found: Sequence[Difference | None], seen: dict[int, Recording], fault: Unanswered | None, points: float
) -> Verdict:
    results, unasked = _results(key, found), key.cases[len(found) :]
    total = sum(key_case.case.weight for key_case in key.cases)
    earned = sum(result.weight for result in results if result.passed)
    score = min(points, round(points * earned / total, 2)) if total else 0.0
    gaps = [gap for gap in found if gap is not None]
    if fault is not None:
        left = tuple(
            CaseResult(key_case.case.title, False, key_case.case.public, key_case.case.weight) for key_case in unasked
        )
        return Verdict(key.name, fault.kind, score, points, str(fault), cases=results, unreached=left)
    if not gaps:
        return Verdict(key.name, "passed", points, points, cases=results)
    score = max(0.0, min(score, round(points - 0.01, 2)))
    diagnosis = recognise(key, seen)
    known = diagnosis.known
    first = gaps[0]
    return Verdict(
        key.name,
        _kind(gaps, score),
        score,
        points,
        first.message,
        misconception=known.name if known else "",
        hint=diagnosis.hint,
        convention=known.convention if known else "",
        unconfirmed=diagnosis.unconfirmed or (known is None and is_unconfirmed(key, found)),
        cases=results,
    )


def _results(key: Key, found: Sequence[Difference | None]) -> tuple[CaseResult, ...]:
    """Return the result of each case that ran. A case that an empty answer would pass earns nothing by itself.

    Checked are first cases that count only together with others, then public ones (a table of values passes those),
    then cases that ask for an error.
    """
    asked = [key_case.case for key_case in key.cases]
    came = list(zip(asked, found, strict=False))
    failed = {case.title for case in asked} - {case.title for case, gap in came if gap is None}
    results = [_result(case, gap.message if gap else "", failed) for case, gap in came]
    reasons: tuple[tuple[HeldBack, Callable[[Case], bool], Callable[[Case], bool]], ...] = (
        ("public", _is_secret, _is_public),
        ("error", _has_value, _is_error),
    )
    for reason, proves, leans in reasons:
        proofs = [result.passed for case, result in zip(asked, results, strict=False) if proves(case)]
        if proofs and not any(proofs):
            results = [
                _held_back(result, reason, ALONE[reason]) if leans(case) else result
                for case, result in zip(asked, results, strict=False)
            ]
    return tuple(results)


def _result(case: Case, why: str, failed: Container[str]) -> CaseResult:
    """Return a case's result. A case that passes is held back if a case in its `needs` fails."""
    result = CaseResult(case.title, not why, case.public, case.weight, why)
    missed = next((title for title in case.needs if title in failed), "")
    together = f"passes, but it earns points only together with {missed!r}, which fails"
    return _held_back(result, "together", together, missed) if missed else result


def _held_back(result: CaseResult, reason: HeldBack, message: str, needs: str = "") -> CaseResult:
    """Return a passing result marked as one that earns nothing, and any other unchanged."""
    held = replace(result, passed=False, held_back=reason, message=message, needs=needs)
    return held if result.passed else result


def _has_value(case: Case) -> bool:
    return not case.raises


def _is_error(case: Case) -> bool:
    return bool(case.raises)


def _is_secret(case: Case) -> bool:
    return not case.public and not case.raises


def _is_public(case: Case) -> bool:
    return case.public and not case.raises


def _kind(gaps: Sequence[Difference], score: float) -> Kind:
    kinds = {gap.kind for gap in gaps}
    if kinds == {"missing"} and not score:
        return "missing"
    if "memory" in kinds:
        return "memory"
    if score > 0:
        return "partial"
    return "error" if kinds == {"raised"} else "wrong"


def _forbidden(key: Key, used: Sequence[str], points: float) -> Verdict:
    calls = ", ".join(f"`{name}`" for name in used[:4])
    message = f"This exercise does not allow {calls}. Build your answer from simpler operations"
    return Verdict.without_points(key.name, "forbidden", points, message)
