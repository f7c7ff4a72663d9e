"""The final grades in the report on a term: a table of how each came about, and the rule in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from markupsafe import Markup

from course.grading.classroom.final_grades import FinalGrades
from course.grading.gradebook.final_grade import FinalGrade, Part, half_up
from course.grading.report.figures import histogram
from course.outline import Final

ROUNDING = "Nothing is rounded before the end. Then the grade is rounded to {places}, and a half is rounded up."
"""The rule of rounding, which the documentation has, too."""

WORDS = {"missing": "missing", "excused": "excused", "ungraded": "not graded", "open": "–"}
"""What a cell says that has no share, or 0 for missing work."""


@dataclass(frozen=True)
class Row:
    """A student's line: cells of text and CSS class, then the mean, the extra credit and the grade as text."""

    student: str
    cells: tuple[tuple[str, str], ...]
    mean: str
    extra: str
    grade: str
    waits: bool


@dataclass(frozen=True)
class FinalSection:
    """The final grades as the page shows them: topics with their weights in percent, rows, and sentences below."""

    columns: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    sentences: tuple[str, ...]
    picture: Markup
    has_extra: bool

    @classmethod
    def of(cls, final: FinalGrades) -> FinalSection:
        """Return the section for a class."""
        rule = final.rule
        total = sum(weight for name, weight in final.weights.items() if name not in rule.extra_credit)
        columns = tuple((name, _percent(weight / total if total else weight)) for name, weight in final.weights.items())
        given = [float(one.grade) / 100 for one in final.grades.values() if one.grade is not None]
        return cls(
            columns,
            tuple(_row(one) for one in final.grades.values()),
            tuple(said_of(rule)),
            histogram(given, "final grade"),
            bool(rule.extra_credit & final.weights.keys()),
        )


def _row(one: FinalGrade) -> Row:
    cells = tuple(map(_cell, one.parts))
    if one.grade is None:
        return Row(one.student, cells, "–", "–", "–", one.waits)
    return Row(one.student, cells, _percent(one.mean), _percent(one.extra), f"{one.grade}", one.waits)


def _cell(part: Part) -> tuple[str, str]:
    if part.state in WORDS:
        return WORDS[part.state], "word"
    waits = " *" if part.waits else ""
    return f"{'+ ' if part.state == 'extra' else ''}{_percent(part.share)}{waits}", part.state


def _percent(share: Fraction | None) -> str:
    return f"{half_up(100 * (share or Fraction()), 1)}"


def said_of(rule: Final) -> Iterator[str]:
    """Yield the sentences on how a final grade follows from the numbers in its row."""
    yield "A number is the share of the points in percent, after the late penalty."
    weight = "the weight that course.toml gives it" if rule.weights else "a weight of its points"
    yield f"The mean counts each topic with {weight}."
    yield "Topics that are excused, not graded, or not due yet (–) do not count."
    if rule.drop_lowest:
        many = "lowest share" if rule.drop_lowest == 1 else f"{rule.drop_lowest} lowest shares"
        yield f"The {many} of each student {'is' if rule.drop_lowest == 1 else 'are'} struck out and not counted."
    if rule.never_dropped:
        yield f"{_listed(sorted(rule.never_dropped))} always counts."
    if rule.extra_credit:
        named = _listed(sorted(rule.extra_credit))
        yield f"Extra credit ({named}) is not asked for, so it never lowers a grade."
        yield "A topic of it adds its share of the weight in its column, and an exercise adds its points to its topic."
    yield f"The final grade is at most {rule.cap}."
    places = ("a whole number", "one decimal", "two decimals", "three decimals")[rule.decimals]
    yield ROUNDING.format(places=places)


def _listed(names: Sequence[str]) -> str:
    *others, last = (f"`{name}`" for name in names)
    return f"{', '.join(others)} and {last}" if others else last
