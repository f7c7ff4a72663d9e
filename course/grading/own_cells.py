"""Graded cells that an instructor added to a topic's notebook, with nbgrader's own marks.

They are no exercises of the syllabus, and nbgrader scores them by its own rules: a test by whether it raises an error,
an answer in words by the points that a person gives. Here they are found, in a notebook or in the gradebook.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course.grading.cells import SOLUTION_SUFFIX, grade_id
from course.grading.course_folder import released_at
from course.syllabus import Topic

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from course.grading.gradebook.released_notebook import ReleasedNotebook

Test = tuple[str, float]
"""The source of a locked code cell, and the points it gives."""


@dataclass(frozen=True)
class OwnCell:
    """A graded cell of an instructor's own. Its kind is `test`, or `question` where a person grades it."""

    name: str
    kind: str
    points: float


def own_cells(cells: Iterable[Mapping[str, Any]], topic: Topic) -> Iterator[OwnCell]:
    """The graded cells of a notebook that are no items of `topic`, in the notebook's order."""
    items = {item.name for item in topic.in_source}
    for cell in cells:
        name = grade_id(cell)
        marks = cell["metadata"]["nbgrader"] if name else {}
        if name and name not in items and (marks.get("grade") or marks.get("task")):
            is_test = cell.get("cell_type") == "code" and not marks.get("solution")
            yield OwnCell(name, "test" if is_test else "question", _number(marks.get("points")))
            items.add(name)  # of copies, one counts


def own_cells_released(root: Path, topic: Topic) -> list[OwnCell]:
    """Those of the notebook that was released in the course at `root`; none where it cannot be read."""
    try:
        document = json.loads((root / released_at(topic)).read_text("utf-8"))
        return list(own_cells(document["cells"], topic))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return []


def unanswered(cells: Iterable[Mapping[str, Any]], topic: Topic) -> Iterator[str]:
    """The answers to an instructor's own questions and tests that are as they were given out, by the cell's name."""
    items = {item.name for item in topic.in_source}
    untouched: dict[str, bool] = {}
    for cell in cells:
        name = grade_id(cell)
        is_own = name and name.removesuffix(SOLUTION_SUFFIX) not in items
        if is_own and cell["metadata"]["nbgrader"].get("solution"):
            untouched[name] = untouched.get(name, True) and _is_untouched(cell)  # of copies, one is enough
    return (name for name, left in untouched.items() if left)


def _is_untouched(cell: Mapping[str, Any]) -> bool:
    """Whether an answer is the one that was given out, by the checksum that nbgrader put there."""
    marks = cell["metadata"]["nbgrader"]
    source = cell.get("source", "")
    source = source if isinstance(source, str) else "".join(map(str, source))
    graded, locked = marks.get("grade", False), "False"
    hashed = [source, str(cell.get("cell_type")), str(graded), str(marks.get("solution")), locked, grade_id(cell)]
    hashed += [str(_number(marks.get("points")))] if graded else []
    return marks.get("checksum") == hashlib.md5("".join(hashed).encode(), usedforsecurity=False).hexdigest()


def own_tests_in(nb: NotebookNode) -> dict[str, Test]:
    """The locked code cells of a notebook that the judge does not decide, by name."""
    from course.grading.cells import checks_in

    judged = checks_in(nb)
    own = (cell for index, cell in enumerate(nb.cells) if index not in judged and is_locked_code(cell))
    return {grade_id(cell): (_text(cell.source), _number(cell.metadata.nbgrader.get("points"))) for cell in own}


def own_code_in(nb: NotebookNode) -> set[int]:
    """The indices of those, and of the code cells in which students answer what is no exercise of the course."""
    from course.grading.cells import in_syllabus

    tests = own_tests_in(nb).keys()
    code = ((index, grade_id(cell)) for index, cell in enumerate(nb.cells) if cell.cell_type == "code")
    return {
        index for index, name in code if name and (name in tests or not in_syllabus(name.removesuffix(SOLUTION_SUFFIX)))
    }


def own_tests_released(released: ReleasedNotebook) -> dict[str, Test]:
    """The same of a notebook as the gradebook has it."""
    from course.grading.cells import is_check

    points = {cell.name: cell.max_score for cell in released.grade_cells}
    locked = (cell for cell in released.source_cells if cell.locked and cell.cell_type == "code")
    return {
        cell.name: (_text(cell.source), points.get(cell.name, 0.0))
        for cell in locked
        if not (cell.name in points and is_check(cell.name, cell.source))
    }


def unreleased(nb: NotebookNode, topic: Topic, released: ReleasedNotebook) -> list[str]:
    """The instructor's own cells of a source notebook that were not released as they are now, or are gone from it."""
    items = {item.name for item in topic.in_source}
    then: dict[str, object] = {
        cell.name: cell.max_score for cell in (*released.grade_cells, *released.task_cells) if cell.name not in items
    }
    now: dict[str, object] = {cell.name: cell.points for cell in own_cells(nb.cells, topic)}
    then |= own_tests_released(released)
    now |= own_tests_in(nb)
    return [name for name in {**now, **then} if now.get(name) != then.get(name)]


def is_locked_code(cell: Mapping[str, Any]) -> bool:
    """Whether a cell's code is the instructor's, whatever a student makes of it: nbgrader restores it."""
    marks = cell.get("metadata", {}).get("nbgrader", {})
    locked = bool(marks.get("grade") or marks.get("locked")) and not marks.get("solution")
    return cell.get("cell_type") == "code" and locked and bool(grade_id(cell))


def changed(before: Mapping[str, Test], now: Mapping[str, Test]) -> set[str]:
    """The tests that both have, and not the same."""
    return {name for name in before.keys() & now.keys() if before[name] != now[name]}


def _text(source: str) -> str:
    return source.replace("\r\n", "\n").rstrip()


def _number(points: Any) -> float:
    return float(points) if isinstance(points, int | float) else 0.0
