"""Explain in sentences how the points of an answer follow from its checks."""

from __future__ import annotations

from .verdict import CaseResult, HeldBack, Verdict

MOST_NAMED = 3
"""Number of checks that a sentence names. Further ones are only counted."""


def points(value: float) -> str:
    """Format a number of points."""
    return f"{value:g}"


def held_back(verdict: Verdict, *, naming_hidden: bool = True) -> str:
    """Say which checks pass without earning points, and why: for each reason a sentence or two.

    Without `naming_hidden`, hidden checks are only counted.
    """
    told: list[str] = []
    reasons: tuple[HeldBack, ...] = ("together", "public", "error")
    for why in reasons:
        held = [case for case in verdict.cases if case.held_back == why]
        titles = {case.needs for case in held}
        needed = [case for case in (*verdict.cases, *verdict.unreached) if case.title in titles]
        if held:
            told.append(_held_back(why, held, needed, naming_hidden))
    return " ".join(told)


def _held_back(why: HeldBack, held: list[CaseResult], needed: list[CaseResult], naming_hidden: bool) -> str:
    one = len(held) == 1
    which, passes = _named(held, naming_hidden), "passes" if one else "pass"
    if why == "public":
        return f"{which} {passes}, but public checks earn points only once a hidden check passes."
    if why == "error":
        return (
            f"{which} {'raises' if one else 'raise'} the right error, but {'it earns' if one else 'they earn'} points "
            "only once a check that asks for a value passes."
        )
    once = f"{_named(needed, naming_hidden) or 'another one'} {'pass' if len(needed) > 1 else 'passes'}"
    return (
        f"{which} {passes}, but some wrong answers pass {'it' if one else 'them'}, too. "
        f"{'It earns' if one else 'They earn'} points only once {once}."
    )


def _named(cases: list[CaseResult], naming_hidden: bool) -> str:
    """Return the titles of the first few cases in quotes, and the number of the others."""
    names = [f"'{case.title}'" for case in cases if naming_hidden or case.public][:MOST_NAMED]
    if left := len(cases) - len(names):
        names.append(f"{left} {'other' if names else 'hidden check'}{'s' if left > 1 else ''}")
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def how_points_follow(verdict: Verdict, *, naming_hidden: bool = True) -> str:
    """Say how many checks pass, out of how many, and their points. Empty if no check ran.

    For an answer that keeps its points despite an earlier mistake, these are the points of the checks alone. Without
    `naming_hidden`, no hidden check is named.
    """
    asked = (*verdict.cases, *verdict.unreached)
    if not asked or verdict.kind in ("passed", "missing", "forbidden", "not-graded"):
        return ""
    passing = [case for case in verdict.cases if case.passed]
    alone = held_back(verdict, naming_hidden=naming_hidden)
    told = [
        _how_many(len(passing), len(asked)) if passing or not alone else f"None of {len(asked)} checks earns points.",
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
