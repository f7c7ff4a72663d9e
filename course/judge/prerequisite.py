"""Find the earlier exercise whose failure causes a later answer to fail.

If the earlier answer shows a known misconception, the judge can tell whether the later answer is otherwise right. It
runs the reference of the later exercise with the mistaken earlier answer, and compares.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Mapping
from dataclasses import replace
from functools import cache
from importlib.util import find_spec, module_from_spec
from types import MappingProxyType
from typing import Any

from ..exercise import Exercise
from ..exercise.key import Key, KeyCase, KeyMisconception, Wrong
from ..exercise.runner import run
from ..source import is_stub, parsed
from .diagnose import says_nothing
from .judging import judge
from .verdict import Verdict

CORRECT_OTHERWISE = "right but for its prerequisite"
"""Name in a key of the pseudo-misconception "right, except for the earlier answer it calls"."""


def failing_prerequisite(
    name: str, source: str, earlier: Mapping[str, Verdict], written: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Return the failing exercise that the answer to `name` depends on, or an empty string.

    The answer's `source` may call it through other names of the notebook, whose text `written` holds. If that exercise
    depends on another failing one, return the first of the chain, because the others may otherwise be right.
    """
    called = _called_in_the_end(source, {name, *earlier}, written) - {name}
    for other, verdict in earlier.items():
        first = verdict.rests_on or other
        if other in called and _fails(verdict) and first in earlier and _fails(earlier[first]):
            return first
    return ""


def knowing_prerequisite(key: Key, exercise: Exercise, prerequisite: Exercise, mistake: str) -> Key:
    """Return `key` with one more known answer: the reference with the `mistake` in the prerequisite it calls.

    That answer is listed first. It wins over an own misconception of the exercise that looks the same.
    """
    wrong = {known.name: known.wrong for known in prerequisite.misconceptions}.get(mistake)
    answer = wrong and answer_with(exercise.reference, prerequisite.reference, wrong)
    if answer is None:
        return key
    cases: list[KeyCase] = []
    for key_case in key.cases:
        wrong = cases[-1].wrong if cases and key_case.case.again else _wrong_too(key_case, answer)
        cases.append(replace(key_case, wrong=wrong))
    return replace(
        key, cases=tuple(cases), misconceptions=(KeyMisconception(CORRECT_OTHERWISE, ""), *key.misconceptions)
    )


@cache
def answer_with(reference: Callable[..., Any], called: Any, wrong: Any) -> Callable[..., Any] | None:
    """Return the reference from a copy of its module in which it calls `wrong` instead, or None for another module.

    The module is copied because other judges in this process use the original.
    """
    home = reference.__module__
    spec = find_spec(home) if home == called.__module__ else None
    if spec is None or spec.loader is None:
        return None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    setattr(module, called.__name__, wrong)
    return getattr(module, reference.__name__, None)


def with_prerequisite(verdict: Verdict, prerequisite: str, key: Key, source: str = "") -> Verdict:
    """Return `verdict` with, if it fails, its `prerequisite` and whether the answer is right except for that.

    `cannot_tell` is set if the answer's `source` is written and not confirmed as otherwise right. The judge cannot
    simulate a mistake without a name, and the effect of a known one depends on how an answer calls it.
    """
    follows = verdict.misconception == CORRECT_OTHERWISE
    if follows:
        verdict = replace(verdict, misconception="")
    if not prerequisite or verdict.kind in ("passed", "forbidden", "not-graded"):
        return verdict
    right = follows and _explains_all(key, verdict)
    untold = not is_stub(source) and not (right and _shows_values(key, verdict))
    return replace(verdict, rests_on=prerequisite, correct_given_prerequisite=right, cannot_tell=untold)


def _explains_all(key: Key, verdict: Verdict) -> bool:
    """Return whether the reference with the mistaken prerequisite fails the same cases, and one of them by a value.

    An answer that only calls a function which raises an error raises the same error, so errors alone prove nothing.
    """
    said = (key_case.wrong(CORRECT_OTHERWISE) for key_case in key.cases if not key_case.case.again)
    other = judge(key, lambda _: next(said), verdict.points)
    pairs = list(zip(key.cases, verdict.cases, other.cases, strict=True))
    shown = any(key_case.wrong(CORRECT_OTHERWISE).raised is None for key_case, case, _ in pairs if not case.passed)
    return shown and all(case.passed == follows.passed for _, case, follows in pairs)


def _shows_values(key: Key, verdict: Verdict) -> bool:
    """Return whether the reference with the mistaken prerequisite fails by a value, and some value is finite.

    Many different mistakes break laws or produce infinities and NaN.
    """
    compared = [
        key_case for key_case in key.cases if key_case.case.values and key_case.wrong(CORRECT_OTHERWISE).raised is None
    ]
    failed = {case.title for case in verdict.cases if not case.passed}
    by_value = any(key_case.case.title in failed for key_case in compared)
    return by_value and not all(says_nothing(key_case.wrong(CORRECT_OTHERWISE)) for key_case in compared)


def _called_in_the_end(source: str, exercises: Container[str], written: Mapping[str, str]) -> set[str]:
    """Return the names that a text uses, directly or through other definitions. Texts of `exercises` are not read."""
    called: set[str] = set()
    unread = [source]
    while unread:
        new = _called(unread.pop()) - called
        called |= new
        unread += [written[name] for name in new if name in written and name not in exercises]
    return called


def _called(source: str) -> set[str]:
    """Return the names that a cell uses and does not define."""
    used: dict[bool, set[str]] = {True: set(), False: set()}
    for node in ast.walk(parsed(source) or ast.Module([], [])):
        if isinstance(node, ast.Name):
            used[isinstance(node.ctx, ast.Load)].add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            used[False].add(node.name)
        elif isinstance(node, ast.arg):
            used[False].add(node.arg)
    return used[True] - used[False]


def _fails(verdict: Verdict) -> bool:
    return verdict.kind not in ("passed", "not-graded")


def _wrong_too(key_case: KeyCase, answer: Callable[..., Any]) -> Wrong:
    """Return `key_case.wrong` extended by the recording of `answer`."""
    follows = cache(lambda: run(key_case.case.script(), answer))
    return lambda name: follows() if name == CORRECT_OTHERWISE else key_case.wrong(name)
