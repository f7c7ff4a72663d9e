"""The judge: the trusted side. It asks an answer for outputs, compares, diagnoses and decides."""

from .judging import Unanswered, judge
from .verdict import CaseResult, Verdict

__all__ = ["CaseResult", "Session", "Unanswered", "Verdict", "judge"]


def __getattr__(name: str) -> object:
    if name == "Session":
        from .session import Session

        return Session
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
