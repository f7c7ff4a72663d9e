"""Explain in sentences how the points of an answer follow from its checks."""

from __future__ import annotations

from .verdict import CaseResult, HeldBack, Verdict


def points(value: float) -> str:
    """Format a number of points."""
    return f"{value:g}"


def held_back(verdict: Verdict, asked: int = 0) -> str:
    """Say which checks pass without earning points, and why, in one sentence for each reason.

    If `asked` is given, the first sentence counts the checks out of so many.
    """
    told: list[str] = []
    reasons: tuple[HeldBack, ...] = ("together", "public", "error")
    for why in reasons:
        count = sum(case.held_back == why for case in verdict.cases)
        if count:
            told.append(_held_back(why, count, asked if not told else 0))
    return " ".join(told)


def _held_back(why: HeldBack, count: int, asked: int) -> str:
    which = f"{count} of {asked} checks" if asked else "One more" if count == 1 else f"{count} more"
    one = count == 1
    if why == "public":
        return f"{which} {'passes' if one else 'pass'}, but public checks earn points only once a hidden check passes."
    earns = "it earns" if one else "they earn"
    if why == "error":
        return (
            f"{which} {'raises' if one else 'raise'} the right error, but {earns} points only once a check "
            "that asks for a value passes."
        )
    return f"{which} {'passes' if one else 'pass'}, but {earns} points only together with one that fails."


def how_points_follow(verdict: Verdict) -> str:
    """Say how many checks pass, out of how many, and their points. Empty if no check ran.

    For an answer that keeps its points despite an earlier mistake, these are the points of the checks alone.
    """
    asked = (*verdict.cases, *verdict.unreached)
    if not asked or verdict.kind in ("passed", "missing", "forbidden", "not-graded"):
        return ""
    passing = [case for case in verdict.cases if case.passed]
    alone = held_back(verdict, 0 if passing else len(asked))
    told = [
        _how_many(len(passing), len(asked)) if passing or not alone else "",
        alone,
        f"{len(verdict.unreached)} did not run." if verdict.unreached else "",
        _sum(verdict, passing, asked) if passing and verdict.points else "",
    ]
    return " ".join(filter(None, told))


def _how_many(passing: int, asked: int) -> str:
    if asked == 1:
        return f"The only check {'passes' if passing else 'fails'}."
    return f"{passing or 'None'} of {asked} checks {'passes' if passing < 2 else 'pass'}."


def _sum(verdict: Verdict, passing: list[CaseResult], asked: tuple[CaseResult, ...]) -> str:
    """Return the calculation of the points, with equal or different weights of the checks."""
    part, whole = float(len(passing)), float(len(asked))
    weights = [case.weight for case in asked]
    if len(set(weights)) == 1:
        said = "All checks weigh the same"
    else:
        part, whole = sum(case.weight for case in passing), sum(weights)
        what = "the one that passes weighs" if len(passing) == 1 else f"the {len(passing)} that pass weigh"
        said = f"Some checks weigh more than others, and {what} {part:g} of {whole:g}"
    exact = verdict.points * part / whole if whole else 0.0
    sign = "=" if abs(exact - verdict.score) < 1e-9 else "≈"
    return f"{said}: {points(verdict.points)} points × {part:g}/{whole:g} {sign} {points(verdict.score)}."
