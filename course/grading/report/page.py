"""Render the report on a class as one HTML page, from templates beside this module that load no other files."""

from __future__ import annotations

import datetime
import statistics
from pathlib import Path
from typing import Any

from course.grading.classroom.absent import described
from course.grading.classroom.summary import LEGEND, misunderstood, table
from course.grading.course_files.fill_template import filled
from course.grading.gradebook.scores import Scores
from course.grading.report.alike_code import ALIKE, Pair
from course.grading.report.figures import effort, histogram, stacked
from course.grading.report.findings import Findings
from course.grading.report.tampering import Sign


def fill(template: str, **facts: Any) -> str:
    """Return the page that a template of this folder makes of `facts`."""
    return filled(Path(__file__).parent, template, **facts)


SLOWEST = 10
"""The number of slowest submissions in the table."""

LONGEST = 80
"""The most lines of an answer that are shown beside another student's."""

PLAIN = ("⧖", "∞")
"""A sign that many browser fonts lack, and its replacement."""


def render(findings: Findings, made: datetime.datetime, *, names: bool = True) -> str:
    """Return the page, dated `made`; without `names` it shows no single student."""
    said = effort(findings.scored, named=names)
    return fill("page.html.j2", **_facts(findings), names=names, made=f"{made:%d %B %Y, %H:%M}", effort=said)


def _facts(findings: Findings) -> dict[str, Any]:
    scored, shares = findings.scored, findings.shares()
    header, rows = table(findings.topic, scored)
    isolation = sorted({work.isolation for work in scored if work.isolation})
    slowest = sorted(scored, key=lambda work: -work.seconds)[:SLOWEST]
    return {
        "findings": findings,
        "topic": findings.topic,
        "scored": scored,
        "absent": described(findings.absent, findings.extended, [work.student for work in findings.graded]),
        "points": scored[0].scores.points if scored and scored[0].scores else 0,
        "median": statistics.median(shares) if shares else None,
        "mean": statistics.fmean(shares) if shares else None,
        "histogram": histogram(shares),
        "success": [(one, stacked(one)) for one in findings.success()],
        "misunderstandings": misunderstood(scored),
        "slowest": slowest,
        "isolation": isolation,
        "signs": _by_student(findings),
        "pairs": [(pair, _closest(pair, findings)) for pair in findings.likeness.pairs],
        "alike": ALIKE,
        "header": header,
        "rows": [[cell.replace(*PLAIN) for cell in row] for row in rows],
        "legend": ", ".join(LEGEND.replace(*PLAIN).split("   ")),
        "notes": [(work.student, note) for work in findings.graded for note in work.notes],
    }


def _by_student(findings: Findings) -> list[tuple[str, list[tuple[str, str, list[Sign]]]]]:
    """Return each student's signs by exercise, with the points earned; signs of no exercise come last."""
    scores = {work.student: work.scores for work in findings.scored}
    noticed: dict[str, dict[str, list[Sign]]] = {}
    for sign in findings.signs:
        noticed.setdefault(sign.student, {}).setdefault(sign.exercise, []).append(sign)
    return [
        (
            student,
            [(name, _earned(scores.get(student), name), those) for name, those in sorted(signs.items(), key=_last)],
        )
        for student, signs in noticed.items()
    ]


def _last(signs: tuple[str, list[Sign]]) -> bool:
    return not signs[0]


def _earned(scores: Scores | None, exercise: str) -> str:
    earned = scores.cells.get(exercise) if scores is not None else None
    if scores is None or earned is None:
        return ""
    return f"{earned:.4g} of {scores.maxima[exercise]:.4g} points"


def _closest(pair: Pair, findings: Findings) -> tuple[str, str, str]:
    """Return the exercise with the highest similarity weighted by length, and both students' answers."""
    weight = {name: share * len(findings.answers[pair.first][name]) for name, share in pair.by_exercise.items()}
    name = max(weight, key=lambda one: (weight[one], one))
    return name, _cut(findings.answers[pair.first][name]), _cut(findings.answers[pair.second][name])


def _cut(source: str) -> str:
    lines = source.splitlines()
    return "\n".join(lines[:LONGEST] + ["…"] * (len(lines) > LONGEST))
