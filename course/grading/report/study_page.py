"""`course progress --page`: render a self-learner's progress as a page, which says that nobody has certified it."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course.course import Course
from course.files import write_atomically
from course.grading.problem import Problem
from course.grading.report.template import fill
from course.notebook.folder import read_progress
from course.notebook.standing import (
    MARKS,
    Standing,
    date,
    on_path,
    path_chosen_in,
    predictions_made,
    standing_of,
    state_of,
    time_of,
)
from course.syllabus import SOURCE, Item, Topic

TIMES = ("passed_at", "predicted_at", "met_at")
"""The recorded times of exercises, predictions and questions."""


@dataclass(frozen=True)
class Row:
    """An exercise or a written question: its name, its state, its points, and the date of its first pass."""

    name: str
    mark: str
    words: str
    points: str
    passed: str


@dataclass(frozen=True)
class Chapter:
    """A notebook that was begun: its topic, its standing, and rows on its exercises with dates."""

    topic: Topic
    standing: Standing
    times: Sequence[datetime.datetime]
    rows: Sequence[Row]
    predictions: str

    @property
    def share(self) -> int:
        """Return the percentage of the notebook's exercises that pass."""
        return round(100 * self.standing.passed / max(self.standing.of, 1))

    @property
    def days(self) -> str:
        """Return the first and last recorded day, or an empty string if there is none."""
        return _days(self.times)

    @property
    def graded(self) -> str:
        """Return the day of grading, or an empty string if the notebook is not graded or no time is recorded."""
        at = self.standing.grade.at if self.standing.grade else None
        return date(at) if at else ""


def write_page(course: Course, home: Path, to: Path) -> Path:
    """Write the page on the notebooks in `home`, and return its path.

    Raises:
        Problem: nothing was done in `home` yet, or the file cannot be written.
    """
    page = render(course, home, datetime.datetime.now().astimezone())
    try:
        write_atomically(to, page.encode())
    except OSError as error:
        raise Problem(f"{to} cannot be written: {error.strerror}") from error
    return to


def render(course: Course, home: Path, made: datetime.datetime) -> str:
    """Return the page, dated `made`.

    Raises:
        Problem: nothing was done in `home` yet.
    """
    path = path_chosen_in(course.topics, home)
    along = on_path(course.topics, path)
    beside = (topic for topic in course.topics if topic not in along)
    every = {topic: _chapter(course, topic, home) for topic in (*along, *beside)}
    chapters = [chapter for topic, chapter in every.items() if chapter.times or _is_begun(chapter.standing)]
    if not chapters:
        raise Problem(f"nothing is done in {home} yet. Run the check of an exercise first")
    graded = [chapter.standing.grade for chapter in chapters if chapter.standing.grade]
    return fill(
        "study.html.j2",
        title=course.outline.title,
        source=SOURCE,
        path=path,
        chapters=chapters,
        topics=len(along),
        done=sum(chapter.standing.done for chapter in chapters if chapter.topic in along),
        passed=sum(chapter.standing.passed for chapter in chapters),
        score=sum(grade.score for grade in graded),
        points=sum(grade.points for grade in graded),
        days=_days([time for chapter in chapters for time in chapter.times]),
        made=f"{date(made)}, {made:%H:%M}",
    )


def _is_begun(standing: Standing) -> bool:
    return standing.begun or standing.grade is not None


def _chapter(course: Course, topic: Topic, home: Path) -> Chapter:
    known, standing = read_progress(home / topic.folder), standing_of(topic, home)
    names = [*(item.name for item in topic.items), *topic.predictions]
    times = [time_of(known.get(name, {}), kind) for name in names for kind in TIMES]
    times.append(standing.grade.at if standing.grade else None)
    earned = standing.grade.earned if standing.grade else {}
    rows = [_row(course, item, known, earned) for item in topic.items]
    return Chapter(topic, standing, sorted(filter(None, times)), rows, predictions_made(topic, known))


def _row(course: Course, item: Item, known: Mapping[str, Mapping[str, Any]], earned: Mapping[str, float]) -> Row:
    state, words = state_of(item, known, by_person=not course.is_original)
    passed, points = time_of(known.get(item.name, {}), "passed_at"), earned.get(item.name)
    return Row(
        item.name,
        MARKS[state],
        words,
        "" if points is None else f"{points:.4g} of {item.points:g}",
        f"{passed.day} {passed:%b %Y}" if passed else "",
    )


def _days(times: Sequence[datetime.datetime]) -> str:
    if not times:
        return ""
    first, last = date(min(times)), date(max(times))
    return first if first == last else f"{first} to {last}"
