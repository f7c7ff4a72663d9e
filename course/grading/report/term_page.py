"""Render the report on a term as one HTML page, by default without names."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from course.grading.classroom.final_grades import FinalGrades
from course.grading.report.figures import medians
from course.grading.report.final_section import FinalSection
from course.grading.report.item_statistics import ENOUGH, statistics_of, worst
from course.grading.report.over_the_term import FALL, IN_A_ROW, MISSED, falling_behind, returning
from course.grading.report.page import fill
from course.grading.report.term import Taught


def render(
    term: Sequence[Taught], made: datetime.datetime, final: FinalGrades | None = None, *, names: bool = False
) -> str:
    """Return the page, dated `made`; `names` shows each final grade, who falls behind and who repeats a mistake."""
    behind, items = falling_behind(term), statistics_of(term)
    decided = [(taught.topic.folder[:2], list(taught.shares().values())) for taught in term if taught.shares()]
    return fill(
        "term.html.j2",
        made=f"{made:%d %B %Y, %H:%M}",
        names=names,
        term=term,
        final=FinalSection.of(final) if final else None,
        students=len({student for taught in term for student in (*taught.submitted, *taught.absent)}),
        picture=medians(decided) if decided else "",
        behind=behind,
        missed=sum(bool(one.missed) for one in behind),
        fell=sum(bool(one.fell) for one in behind),
        limits={"missed": MISSED, "in_a_row": IN_A_ROW, "fall": FALL, "enough": ENOUGH},
        returning=returning(term),
        items=items,
        worst=worst(items),
    )
