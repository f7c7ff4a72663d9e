"""Read a student's progress from `.course/`, for `progress()`, the map and `course progress`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeGuard

from ..study_paths import StudyPath, paths_through
from ..syllabus import Item, Topic, Unknown
from .folder import chosen_path, read_grades, read_progress

NOT_HERE = "not handed out yet"
"""Text for a topic whose notebook is not there."""

MARKS = {"passed": "✓", "none": "○", "open": "✗"}
"""The sign of each state of an exercise."""


@dataclass(frozen=True)
class Grade:
    """A notebook's grade from `course grade`. `at` is None without a stored time. `earned` holds each exercise."""

    score: float
    points: float
    at: datetime | None
    earned: Mapping[str, float]

    def words(self) -> str:
        """Return the score in a few words."""
        return f"{self.score:.4g} of {self.points:.4g} points"


@dataclass(frozen=True)
class Standing:
    """The progress in a notebook: `passed` of `of` exercises pass, and `at` is the first that does not.

    `here` is false if the notebook has not been released.
    """

    passed: int
    of: int
    begun: bool = False
    at: str = ""
    here: bool = True
    grade: Grade | None = None

    @property
    def done(self) -> bool:
        """Return whether there are exercises and all of them pass."""
        return 0 < self.of == self.passed

    def words(self) -> str:
        """Return the progress in a few words, with the score of `course grade` if there is one."""
        if self.done:
            said = f"all {self.of} pass"
        elif self.begun:
            said = f"{self.passed} of {self.of} pass"
        else:
            said = "not begun" if self.here else NOT_HERE
        return f"{said}, {self.grade.words()}" if self.grade else said


def notebook_of(topic: Topic, home: Path = Path()) -> Path:
    """Return the path of a topic's notebook, relative to `home`, the folder of the course's map."""
    return home / topic.folder / f"{topic.folder}.ipynb"


def standing_of(topic: Topic, home: Path = Path()) -> Standing:
    """Return the progress in a topic's notebook, from the notes beside it."""
    known = read_progress(home / topic.folder)
    left = [item.name for item in topic.judged if state_of(item, known)[0] != "passed"]
    begun = any("kind" in known.get(item.name, {}) for item in topic.judged)
    here, grade = notebook_of(topic, home).is_file(), grade_of(topic, home / topic.folder)
    return Standing(len(topic.judged) - len(left), len(topic.judged), begun, left[0] if left else "", here, grade)


def state_of(item: Item, known: Mapping[str, Mapping[str, Any]], *, by_person: bool = False) -> tuple[str, str]:
    """Return the one of `MARKS` that applies to an exercise or question, and its state in words.

    Args:
        by_person: whether a person reads the written questions, as in an instructor's course.
    """
    facts = known.get(item.name, {})
    if item.kind == "question":
        return _state_of_question(facts, by_person)
    if "kind" not in facts:
        return "none", "not checked yet"
    if facts["kind"] == "passed":
        return "passed", f"passes, {said}" if (said := explained(facts)) else "public checks pass"
    if facts["kind"] == "missing":
        return "none", "not answered yet"
    return "open", f"{facts.get('passed', 0)} of {facts.get('of', '?')} public checks pass"


def explained(facts: Mapping[str, Any]) -> str:
    """Return how many questions about the code of an exercise were answered rightly, in words, or nothing."""
    right, of = facts.get("explained"), facts.get("questions")
    return f"{right} of {of} explained" if isinstance(right, int) and isinstance(of, int) else ""


def _state_of_question(facts: Mapping[str, Any], by_person: bool) -> tuple[str, str]:
    met, of = facts.get("met"), facts.get("criteria")
    if isinstance(met, str) and isinstance(of, int):
        return "none", f"meets {len(met)} of {of} criteria, self-marked"
    return "none", "read by a person" if by_person else "yours to mark, by rubric"


def grade_of(topic: Topic, folder: Path) -> Grade | None:
    """Return the grade of the topic's notebook in `folder`, or None without a readable one."""
    kept = read_grades(folder).get(topic.folder, {})
    score, points, earned = kept.get("score"), kept.get("points"), kept.get("earned")
    if not _is_number(score) or not _is_number(points):
        return None
    each = earned.items() if isinstance(earned, dict) else ()
    return Grade(score, points, time_of(kept, "at"), {name: of for name, of in each if _is_number(of)})


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def time_of(facts: Mapping[str, Any], name: str) -> datetime | None:
    """Return the time stored under a name, or None if an earlier version stored none or it has no time zone."""
    try:
        found = datetime.fromisoformat(facts[name])
    except (KeyError, TypeError, ValueError):
        return None
    return found if found.tzinfo else None


def date(time: datetime) -> str:
    """Return a date in words: `5 December 2026`."""
    return f"{time.day} {time:%B %Y}"


def predictions_made(topic: Topic, known: Mapping[str, Mapping[str, Any]]) -> str:
    """Return how many predictions of the topic were made, in a few words, or nothing if it has none."""
    made = sum(bool(choice_in(known.get(name, {}))) for name in topic.predictions)
    return f"{made} of {len(topic.predictions)} predictions made" if topic.predictions else ""


def choice_in(facts: Mapping[str, Any]) -> str:
    """Return the letter of the first choice for a prediction, or an empty string."""
    chosen = facts.get("predicted", "")
    return chosen if isinstance(chosen, str) and len(chosen) == 1 else ""


def path_called(topics: Sequence[Topic], name: str) -> StudyPath | None:
    """Return the path through a course's topics of a name, or None for an empty name.

    Raises:
        Unknown: this course has no such path.
    """
    paths = {path.name: path for path in paths_through(topics)}
    if name and name not in paths:
        there = f"Its paths are {', '.join(map(repr, paths))}" if paths else "It leaves topics out, so it has no paths"
        raise Unknown(f"this course has no path {name!r}. {there}")
    return paths.get(name)


def path_chosen_in(topics: Sequence[Topic], home: Path) -> StudyPath | None:
    """Return the path that was chosen for the map in `home`, or None if there is none in this course."""
    return next((path for path in paths_through(topics) if path.name == chosen_path(home)), None)


def on_path(topics: Sequence[Topic], path: StudyPath | None) -> list[Topic]:
    """Return the topics of a path in its order, or all topics without a path."""
    if path is None:
        return list(topics)
    return sorted(filter(path.holds, topics), key=lambda topic: path.folders.index(topic.folder))


def goes_on(topics: Sequence[Topic], standings: Mapping[str, Standing]) -> Topic | None:
    """Return the notebook to open next: the last one begun but not done, else the first not done. It must be here."""
    open_ = [topic for topic in topics if standings[topic.name].here and not standings[topic.name].done]
    begun = [topic for topic in open_ if standings[topic.name].begun]
    return next(iter(begun[-1:] or open_), None)


def next_after(topics: Sequence[Topic], topic: Topic, path: StudyPath | None) -> Topic | None:
    """Return the next of a course's topics on the path, or in the course without a path. None after the last.

    For a topic that is not on the path, return the first of the path's topics behind it.
    """
    along = on_path(topics, path)
    if topic in along:
        return next(iter(along[along.index(topic) + 1 :]), None)
    return next((other for other in along if other.folder > topic.folder), None)
