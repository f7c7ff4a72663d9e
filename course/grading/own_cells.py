"""Find graded cells that an instructor added to a topic's notebook, in a notebook or in the gradebook.

They have nbgrader's own metadata and are no exercises of the syllabus. nbgrader scores them by its own rules: a test
passes unless it raises an error, and a person gives points for an answer in words.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course.course import Course
from course.grading.cells import SOLUTION_SUFFIX, grade_id
from course.grading.course_folder import released_at
from course.syllabus import Topic

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from course.grading.gradebook.released_notebook import ReleasedNotebook

Test = tuple[str, float]
"""The source of a locked code cell, and its points."""


@dataclass(frozen=True)
class OwnCell:
    """A graded cell that an instructor added. Its kind is `test`, or `question` if a person grades it."""

    name: str
    kind: str
    points: float


def own_cells(cells: Iterable[Mapping[str, Any]], topic: Topic) -> Iterator[OwnCell]:
    """Yield the graded cells of a notebook that are no items of `topic`, in the notebook's order."""
    items = {item.name for item in topic.in_source}
    for cell in cells:
        name = grade_id(cell)
        marks = cell["metadata"]["nbgrader"] if name else {}
        if name and name not in items and (marks.get("grade") or marks.get("task")):
            is_test = cell.get("cell_type") == "code" and not marks.get("solution")
            yield OwnCell(name, "test" if is_test else "question", _number(marks.get("points")))
            items.add(name)  # only the first of copied cells counts


def own_cells_released(root: Path, topic: Topic) -> list[OwnCell]:
    """Return the own cells of the released notebook in the course at `root`; none if it cannot be read."""
    try:
        document = json.loads((root / released_at(topic)).read_text("utf-8"))
        return list(own_cells(document["cells"], topic))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return []


def unanswered(cells: Iterable[Mapping[str, Any]], topic: Topic) -> Iterator[str]:
    """Yield the cell names of unchanged answers to an instructor's own questions and tests."""
    items = {item.name for item in topic.in_source}
    untouched: dict[str, bool] = {}
    for cell in cells:
        name = grade_id(cell)
        is_own = name and name.removesuffix(SOLUTION_SUFFIX) not in items
        if is_own and cell["metadata"]["nbgrader"].get("solution"):
            untouched[name] = untouched.get(name, True) and _is_untouched(cell)  # one changed copy is enough
    return (name for name, left in untouched.items() if left)


def _is_untouched(cell: Mapping[str, Any]) -> bool:
    """Whether an answer is unchanged since the release, according to nbgrader's checksum."""
    marks = cell["metadata"]["nbgrader"]
    source = cell.get("source", "")
    source = source if isinstance(source, str) else "".join(map(str, source))
    graded, locked = marks.get("grade", False), "False"
    hashed = [source, str(cell.get("cell_type")), str(graded), str(marks.get("solution")), locked, grade_id(cell)]
    hashed += [str(_number(marks.get("points")))] if graded else []
    return marks.get("checksum") == hashlib.md5("".join(hashed).encode(), usedforsecurity=False).hexdigest()


def own_tests_in(course: Course, nb: NotebookNode) -> dict[str, Test]:
    """Return the locked code cells of a notebook that the judge does not decide, by name."""
    from course.grading.cells import checks_in

    judged = checks_in(course, nb)
    own = (cell for index, cell in enumerate(nb.cells) if index not in judged and is_locked_code(cell))
    return {grade_id(cell): (_text(cell.source), _number(cell.metadata.nbgrader.get("points"))) for cell in own}


def own_code_in(course: Course, nb: NotebookNode) -> set[int]:
    """Return the indices of the own tests, and of code cells with answers that belong to no exercise of the course."""
    from course.grading.cells import in_course

    tests = own_tests_in(course, nb).keys()
    code = ((index, grade_id(cell)) for index, cell in enumerate(nb.cells) if cell.cell_type == "code")
    return {
        index
        for index, name in code
        if name and (name in tests or not in_course(course, name.removesuffix(SOLUTION_SUFFIX)))
    }


def own_tests_released(course: Course, released: ReleasedNotebook) -> dict[str, Test]:
    """Return the own tests of a released notebook in the gradebook, by name."""
    from course.grading.cells import is_check

    points = {cell.name: cell.max_score for cell in released.grade_cells}
    locked = (cell for cell in released.source_cells if cell.locked and cell.cell_type == "code")
    return {
        cell.name: (_text(cell.source), points.get(cell.name, 0.0))
        for cell in locked
        if not (cell.name in points and is_check(course, cell.name, cell.source))
    }


def unreleased(course: Course, nb: NotebookNode, topic: Topic, released: ReleasedNotebook) -> list[str]:
    """Return the instructor's own cells of a source notebook that differ from the release, or were removed."""
    items = {item.name for item in topic.in_source}
    then: dict[str, object] = {
        cell.name: cell.max_score for cell in (*released.grade_cells, *released.task_cells) if cell.name not in items
    }
    now: dict[str, object] = {cell.name: cell.points for cell in own_cells(nb.cells, topic)}
    then |= own_tests_released(course, released)
    now |= own_tests_in(course, nb)
    return [name for name in {**now, **then} if now.get(name) != then.get(name)]


def is_locked_code(cell: Mapping[str, Any]) -> bool:
    """Whether a cell has code of the instructor that nbgrader restores after a student's edits."""
    marks = cell.get("metadata", {}).get("nbgrader", {})
    locked = bool(marks.get("grade") or marks.get("locked")) and not marks.get("solution")
    return cell.get("cell_type") == "code" and locked and bool(grade_id(cell))


def changed(before: Mapping[str, Test], now: Mapping[str, Test]) -> set[str]:
    """Return the names of tests that are in both mappings but differ."""
    return {name for name in before.keys() & now.keys() if before[name] != now[name]}


def _text(source: str) -> str:
    return source.replace("\r\n", "\n").rstrip()


def _number(points: Any) -> float:
    return float(points) if isinstance(points, int | float) else 0.0
