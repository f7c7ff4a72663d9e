"""Render a verdict as HTML for a notebook (light and dark mode) and as plain text for a terminal."""

from __future__ import annotations

import re
from html import escape

from .points import held_back, how_points_follow, points
from .verdict import CaseResult, Kind, Verdict

PUBLIC_NOTE = "These are the public checks. The hidden ones run at grading."
_COLOURS: dict[str, str] = {"good": "#2e9e5b", "part": "#c98a00", "bad": "#d1493f", "quiet": "#7a7f87"}
_TONES: dict[Kind, str] = {
    "passed": "good",
    "partial": "part",
    "wrong": "bad",
    "error": "bad",
    "forbidden": "bad",
    "time": "bad",
    "memory": "bad",
    "missing": "quiet",
    "not-graded": "quiet",
}
_MARKS = {"good": "✓", "part": "◐", "bad": "✗", "quiet": "○"}
_STRESS = re.compile(r"(?<![\w*])\*(\w[\w ]*)\*(?!\*)")

UNCONFIRMED = "The hidden checks do not confirm all that `check` said about this answer."

ALL_PASS = {0: "", 1: ", the only check passes"}
"""Text after the points of a right answer with at most one check."""

MOST_CASES = 12
"""Number of failed cases that are listed. Further ones are only counted."""


def headline(verdict: Verdict, *, public: bool = False) -> str:
    """Return the result in a few words, with points at grading and the number of checks in a notebook."""
    ran = len(verdict.cases)
    passed = sum(case.passed for case in verdict.cases)
    tally = f"{passed} of {ran} {'public ' if public else ''}checks pass"
    if not public:
        tally = "optional"
    if not public and verdict.points:
        tally = f"{points(verdict.earned)} of {points(verdict.points)} points{' so far' if verdict.by_hand else ''}"
    words: dict[Kind, str] = {
        "passed": f"all {ran} public checks pass"
        if public and ran > 1
        else "the public check passes"
        if public
        else f"{tally}{ALL_PASS.get(ran, f', all {ran} checks pass')}",
        "partial": tally,
        "wrong": tally if ran else "not right yet",
        "error": "your code raised an error" if public else f"your code raised an error, {tally}",
        "forbidden": "your code uses a forbidden call" if public else f"your code uses a forbidden call, {tally}",
        "time": f"out of time, {tally}",
        "memory": f"out of memory, {tally}",
        "missing": "nothing to check yet" if public else f"no answer, {tally}",
        "not-graded": "not graded yet, because the grading machine failed",
    }
    return words[verdict.kind]


def text(verdict: Verdict, *, public: bool = False, note: str = "") -> str:
    """Return the report for a terminal."""
    mark = _MARKS[_TONES[verdict.kind]]
    lines = [f"{mark} {verdict.exercise}: {headline(verdict, public=public)}"]
    if not public and (sums := how_points_follow(verdict)):
        lines.append(f"  {sums}")
    shown = _to_show(verdict)
    lines += [f"  ✗ {case.title}: {case.message}" for case in shown]
    lines += [f"  {line}" for line in [*_further(verdict, shown, public=public), *measured(verdict), *verdict.notes]]
    lines += [f"  Look here: {hint}" for hint in where_to_look(verdict)]
    if note or public:
        lines.append(f"  {note or PUBLIC_NOTE}")
    return "\n".join(lines)


def html(verdict: Verdict, *, public: bool = False, note: str = "") -> str:
    """Return the report for a notebook as one self-contained HTML fragment. Text from the student is escaped."""
    tone = _TONES[verdict.kind]
    colour = _COLOURS[tone]
    head = (
        f'<div style="font-weight:600"><span style="color:{colour}" aria-hidden="true">{_MARKS[tone]}</span> '
        f'<code style="background:none;color:inherit">{escape(verdict.exercise)}</code>'
        f'<span style="font-weight:400"> &middot; {escape(headline(verdict, public=public))}</span></div>'
    )
    shown = _to_show(verdict)
    rows = "".join(_row(case) for case in shown)
    sums = "" if public else how_points_follow(verdict)
    body = f'<div style="margin-top:6px">{sentence(sums)}</div>' if sums else ""
    body += f'<ul style="margin:6px 0 0;padding-left:1.3em">{rows}</ul>' if rows else ""
    body += "".join(
        f'<div style="margin-top:6px">{sentence(line)}</div>'
        for line in [*_further(verdict, shown, public=public), *measured(verdict), *verdict.notes]
    )
    body += "".join(
        f'<div style="margin-top:8px;padding:8px 10px;border-radius:4px;background:rgba(128,128,128,.14)">'
        f'<span style="font-weight:600">Look here.</span> {sentence(hint)}</div>'
        for hint in where_to_look(verdict)
    )
    foot = note or (PUBLIC_NOTE if public else "")
    if foot:
        body += f'<div style="margin-top:6px;opacity:.72;font-size:.9em">{escape(foot)}</div>'
    return (
        f'<div role="status" style="border-left:4px solid {colour};padding:6px 12px;margin:4px 0;max-width:52em;'
        f'line-height:1.45;color:inherit;font-family:system-ui,sans-serif;font-size:14px">{head}{body}</div>'
    )


def measured(verdict: Verdict) -> list[str]:
    """Return what the public cases of a training task measured, with their bars."""
    return list(dict.fromkeys(case.measured for case in verdict.cases if case.measured))


def where_to_look(verdict: Verdict) -> list[str]:
    """Return hints for a failing answer: the prerequisite to fix first, and the hint of its misconception."""
    return [hint for hint in (_ground(verdict) if verdict.rests_on else "", verdict.hint) if hint]


def _ground(verdict: Verdict) -> str:
    """Say how a failing answer depends on its prerequisite, and what happens to its points."""
    if verdict.by_hand:
        fails = f"It uses your `{verdict.rests_on}`, which fails."
        return f"{fails} Your instructor decides whether this solution is right except for that."
    if verdict.correct_given_prerequisite:
        right = f"This solution is right except for your `{verdict.rests_on}` above."
        other = points(round(verdict.points - verdict.score, 2))
        follows = f"So you get the other {other} points back." if verdict.keeps else f"It loses {other} points."
        return f"{right} {follows}"
    if verdict.kind == "missing":
        return f"It uses `{verdict.rests_on}`, which is not written yet. Write that first, and check again."
    return f"It uses your `{verdict.rests_on}`, which fails too. Fix that first, and check again."


def _to_show(verdict: Verdict) -> list[CaseResult]:
    """Return the failed cases to list: one for each message, ignoring numbers in it."""
    if verdict.kind in ("missing", "forbidden", "not-graded"):
        return []
    by_message: dict[str, CaseResult] = {}
    for case in _failed(verdict):
        by_message.setdefault(re.sub(r"\d+", "", case.message), case)
    return list(by_message.values())[:MOST_CASES]


def _failed(verdict: Verdict) -> list[CaseResult]:
    """Return the cases that fail, without those that pass but are held back."""
    return [case for case in verdict.cases if not case.passed and not case.held_back]


def _further(verdict: Verdict, shown: list[CaseResult], *, public: bool) -> list[str]:
    lines = []
    if verdict.convention:
        lines.append(f"This computation is correct under another convention: {verdict.convention}.")
    told = any(case.message == verdict.message for case in shown)
    if verdict.message and not told and verdict.kind != "passed":
        lines.append(verdict.message)
    if verdict.unconfirmed:
        lines.append(UNCONFIRMED)
    return [*lines, *_unlisted(verdict, shown, public=public)]


def _unlisted(verdict: Verdict, shown: list[CaseResult], *, public: bool) -> list[str]:
    """Say how many more cases fail than `shown` and, in a notebook, which ones pass without counting."""
    failed = len(_failed(verdict))
    more = f"{failed} checks fail. Those with the same message are shown once." if shown and failed > len(shown) else ""
    words = [more, held_back(verdict) if public and shown else ""]
    return [f"({' '.join(filter(None, words))})"] if any(words) else []


def _row(case: CaseResult) -> str:
    return f"<li><b>{escape(case.title)}</b>: {sentence(case.message)}</li>"


def sentence(plain: str) -> str:
    """Convert a sentence to HTML: escaped, with `code` and *emphasis*."""
    parts = escape(plain).split("`")
    if len(parts) % 2 == 0:
        return escape(plain)
    return "".join(
        f'<code style="background:rgba(128,128,128,.18);color:inherit;padding:0 3px;border-radius:3px">{part}</code>'
        if index % 2
        else _STRESS.sub(r"<em>\1</em>", part)
        for index, part in enumerate(parts)
    )
