"""The ground of an answer: the earlier answers it calls. Where one of those fails, that is where to begin."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from ..source import parsed
from .verdict import Verdict


def grounded(verdict: Verdict, source: str, earlier: Mapping[str, Verdict]) -> Verdict:
    """`verdict`, and where it fails, the answer it rests on: one that its `source` calls, and that fails itself.

    That may rest on another one. Told is the one where it begins, as the others may well be right but for that.
    """
    if verdict.kind in ("passed", "forbidden", "not-graded"):
        return verdict
    called = _called(source)
    for name, before in earlier.items():
        first = before.rests_on or name
        if (
            name in called
            and name != verdict.exercise
            and _fails(before)
            and first in earlier
            and _fails(earlier[first])
        ):
            return replace(verdict, rests_on=first)
    return verdict


def _fails(verdict: Verdict) -> bool:
    return verdict.kind not in ("passed", "not-graded")


def _called(source: str) -> set[str]:
    """The names that a cell makes use of and does not define."""
    used: dict[bool, set[str]] = {True: set(), False: set()}
    for node in ast.walk(parsed(source) or ast.Module([], [])):
        if isinstance(node, ast.Name):
            used[isinstance(node.ctx, ast.Load)].add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            used[False].add(node.name)
    return used[True] - used[False]
