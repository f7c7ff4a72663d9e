"""Run a student's answer on the cases of an exercise, compare its outputs, diagnose mistakes and decide the verdict."""

from importlib import import_module
from typing import TYPE_CHECKING

from .verdict import CaseResult, Verdict

if TYPE_CHECKING:
    from .judging import Unanswered, judge
    from .session import Session

__all__ = ["CaseResult", "Session", "Unanswered", "Verdict", "judge"]

# Importing a verdict needs no torch. Judging does, so its modules are imported at first use.
_HOMES = {"Session": "session", "Unanswered": "judging", "judge": "judging"}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
