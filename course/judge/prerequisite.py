"""Where a failure begins: in an earlier answer that this one calls, and that fails itself.

Where it is known what mistake that one shows, it can be told, too, whether the later answer is right but for that: the
reference is asked what it would answer if it called the mistaken one.
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
from ..exercise.key import Key, KeyCase, Known, Wrong
from ..exercise.runner import run
from ..source import is_stub, parsed
from .diagnose import says_nothing
from .judging import judge
from .verdict import Verdict

CORRECT_OTHERWISE = "right but for its prerequisite"
"""What a key calls the answer that is right but for the earlier one it calls."""


def failing_prerequisite(
    name: str, source: str, earlier: Mapping[str, Verdict], written: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Return the exercise that the answer to `name` rests on: one that it uses, and that fails; empty for none.

    Its `source` may use it through other names of the notebook, whose text `written` holds. What it uses may rest on
    another exercise. Return the one where it begins, as the others may well be right but for that.
    """
    called = _called_in_the_end(source, {name, *earlier}, written) - {name}
    for other, verdict in earlier.items():
        first = verdict.rests_on or other
        if other in called and _fails(verdict) and first in earlier and _fails(earlier[first]):
            return first
    return ""


def knowing_prerequisite(key: Key, exercise: Exercise, prerequisite: Exercise, mistake: str) -> Key:
    """`key` that also knows the answer which is right but for the `mistake` in what it calls.

    It comes first: where a mistake of the exercise's own would look the same, the one that was seen explains it.
    """
    wrong = {known.name: known.wrong for known in prerequisite.misconceptions}.get(mistake)
    answer = wrong and answer_with(exercise.reference, prerequisite.reference, wrong)
    if answer is None:
        return key
    cases: list[KeyCase] = []
    for key_case in key.cases:
        wrong = cases[-1].wrong if cases and key_case.case.again else _wrong_too(key_case, answer)
        cases.append(replace(key_case, wrong=wrong))
    return replace(key, cases=tuple(cases), misconceptions=(Known(CORRECT_OTHERWISE, ""), *key.misconceptions))


@cache
def answer_with(reference: Callable[..., Any], called: Any, wrong: Any) -> Callable[..., Any] | None:
    """The reference in a copy of its module in which `wrong` stands for what it calls; None where that is elsewhere.

    A copy, as other judges in this process go on asking the module itself.
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
    """`verdict`, and where it fails, the exercise it rests on, `prerequisite`, and whether it is right but for that.

    The judge cannot tell where the answer's `source` is written and not seen to be right but for that. It knows nothing
    of a mistake without a name, and what a known one comes to depends on how an answer calls it.
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
    """Whether the answer that is right but for its prerequisite fails in the same cases, and in one by a value.

    Whoever does no more than call what raises an error raises it, too.
    """
    said = (key_case.wrong(CORRECT_OTHERWISE) for key_case in key.cases if not key_case.case.again)
    other = judge(key, lambda _: next(said), verdict.points)
    pairs = list(zip(key.cases, verdict.cases, other.cases, strict=True))
    shown = any(key_case.wrong(CORRECT_OTHERWISE).raised is None for key_case, case, _ in pairs if not case.passed)
    return shown and all(case.passed == follows.passed for _, case, follows in pairs)


def _shows_values(key: Key, verdict: Verdict) -> bool:
    """Whether the answer that is right but for its prerequisite fails by a value, and gives some that say anything.

    Laws can be broken by many a mistake, and what is infinite or NaN comes of many.
    """
    compared = [
        key_case for key_case in key.cases if key_case.case.values and key_case.wrong(CORRECT_OTHERWISE).raised is None
    ]
    failed = {case.title for case in verdict.cases if not case.passed}
    by_value = any(key_case.case.title in failed for key_case in compared)
    return by_value and not all(says_nothing(key_case.wrong(CORRECT_OTHERWISE)) for key_case in compared)


def _called_in_the_end(source: str, exercises: Container[str], written: Mapping[str, str]) -> set[str]:
    """Return the names that a text uses, and those that their own texts use. Texts of `exercises` are not read."""
    called: set[str] = set()
    unread = [source]
    while unread:
        new = _called(unread.pop()) - called
        called |= new
        unread += [written[name] for name in new if name in written and name not in exercises]
    return called


def _called(source: str) -> set[str]:
    """Return the names that a cell makes use of and does not define."""
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
    """`key_case.wrong`, which knows what `answer` does, too."""
    follows = cache(lambda: run(key_case.case.script(), answer))
    return lambda name: follows() if name == CORRECT_OTHERWISE else key_case.wrong(name)
