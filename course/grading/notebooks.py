"""From a topic's source, `solutions/03_rnn.py`, to the notebook nbgrader releases and grades by, and back.

A source is a jupytext percent file whose graded cells carry one short word each:

    # %% solution="rnn_cell"                    the answer, between ### BEGIN SOLUTION and ### END SOLUTION
    # %% check="rnn_cell"                       the one line that checks it
    # %% [markdown] question="rnn_question"     the model answer of the written question

Building spells these out as nbgrader's own metadata, with the points the syllabus gives, puts badges and set-up at the
top, and names every cell so that the same source always makes the same bytes.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import course.syllabus
from course.grading import opening
from course.grading.problem import Problem
from course.syllabus import OUTLINE, TOPICS, Topic

if TYPE_CHECKING:
    from nbformat import NotebookNode

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
ROLES = ("solution", "check", "question")
SOLUTION_SUFFIX = "-solution"


def source_path(root: Path, topic: Topic) -> Path:
    """Where the topic is written by hand, e.g. `solutions/03_rnn.py`; an instructor's own topics have a folder."""
    if topic.own:
        return root / "exercises" / topic.folder / "notebook.py"
    return root / "solutions" / f"{topic.folder}.py"


def notebook_path(root: Path, topic: Topic) -> Path:
    """Where nbgrader reads the built notebook, e.g. `solutions/03_rnn/03_rnn.ipynb`."""
    return root / "solutions" / topic.folder / f"{topic.folder}.ipynb"


def refresh(root: Path, topics: tuple[Topic, ...] = TOPICS) -> list[Path]:
    """Build the notebooks that are missing or older than what they are made from; a stat each when all are fresh.

    Topics without a source are passed over. Raises `Problem` as `build` does.
    """
    written = []
    for topic in topics:
        source, notebook = source_path(root, topic), notebook_path(root, topic)
        if source.is_file() and _is_stale(notebook, source):
            write(build(source, topic), notebook)
            written.append(notebook)
    return written


def build(source: Path, topic: Topic) -> NotebookNode:
    """The nbgrader source notebook of `topic`, solutions included, with the same bytes for the same source.

    Raises:
        Problem: a cell's short metadata names no item of the topic, or stands on the wrong kind of cell.
    """
    import jupytext

    notebook = jupytext.reads(source.read_text("utf-8"), fmt="py:percent")
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = {"kernelspec": dict(KERNEL), "language_info": {"name": "python"}}
    seen: Counter[str] = Counter()
    for cell in notebook.cells:
        cell.metadata.pop("lines_to_next_cell", None)
        try:
            _expand(cell, topic)
        except Problem as problem:
            raise Problem(f"{source.name}: {problem}") from None
        seen[cell.source] += 1
        cell.id = cell_id(cell, topic, seen[cell.source])
    if notebook.cells:
        opening.put(notebook, opening.released_at(topic))
    return notebook


def cell_id(cell: NotebookNode, topic: Topic, occurrence: int) -> str:
    """The cell's `grade_id`, or a hash of topic, source and how often that source has occurred so far."""
    grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
    if grade_id:
        return grade_id
    key = "\0".join((topic.folder, cell.cell_type, cell.source, str(occurrence)))
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def contract(notebook: NotebookNode) -> str:
    """The source text of a built notebook: the inverse of `build`, outputs dropped."""
    import jupytext
    import nbformat

    plain = nbformat.from_dict(notebook)
    opening.take_away(plain)
    plain.metadata = {"jupytext": {"notebook_metadata_filter": "-all"}}
    for cell in plain.cells:
        marks = cell.metadata.pop("nbgrader", None)
        cell.metadata = {key: cell.metadata[key] for key in sorted(cell.metadata) if key == "tags"}
        if marks and marks.get("grade_id"):
            role, name = _role(marks)
            cell.metadata[role] = name
    return jupytext.writes(plain, fmt="py:percent")


def update_source(notebook: Path) -> Path:
    """Write what was edited in a notebook of `solutions/` back into the `.py` it was built from.

    Raises:
        Problem: the file is no notebook, or no source stands where it would have been built from.
    """
    import nbformat

    built = notebook.resolve().parent
    source = built.with_suffix(".py")
    if not source.is_file():
        source = built.parents[1] / "exercises" / built.name / "notebook.py"
    if notebook.suffix != ".ipynb" or not notebook.is_file():
        raise Problem(f"{notebook} is not a notebook")
    if not source.is_file():
        raise Problem(f"{notebook} was not built from a source: there is no {built.with_suffix('.py')}")
    try:
        edited = nbformat.read(notebook, as_version=4)
    except (nbformat.reader.NotJSONError, nbformat.ValidationError) as error:
        raise Problem(f"{notebook} cannot be read as a notebook") from error
    _replace(source, contract(edited))
    return source


def write(notebook: NotebookNode, path: Path) -> None:
    """Write `notebook` in one step, so that nobody ever reads half of it; its folder is made when missing."""
    import nbformat

    path.parent.mkdir(parents=True, exist_ok=True)
    _replace(path, nbformat.writes(notebook, version=nbformat.NO_CONVERT) + "\n")


def _replace(path: Path, text: str) -> None:
    # Beside the assignment's folder, never inside: nbgrader copies whatever it finds there.
    temporary = path.parent.parent / f".{path.name}.{os.getpid()}"
    temporary.write_text(text, "utf-8")
    temporary.replace(path)


def _is_stale(notebook: Path, source: Path) -> bool:
    course_own = [OUTLINE.path] if OUTLINE else []
    made_from = (source, Path(course.syllabus.__file__), Path(opening.__file__), Path(__file__), *course_own)
    try:
        built = notebook.stat().st_mtime_ns
    except FileNotFoundError:
        return True
    return built < max(path.stat().st_mtime_ns for path in made_from)


def _expand(cell: NotebookNode, topic: Topic) -> None:
    """Replace the cell's short metadata, if any, by nbgrader's, schema 3."""
    roles = [role for role in ROLES if role in cell.metadata]
    if not roles:
        return
    if len(roles) > 1:
        raise Problem(f"one cell is marked as {' and '.join(roles)}")
    (role,) = roles
    name = cell.metadata.pop(role)
    items = {item.name: item for item in topic.items}
    if name not in items:
        raise Problem(f"{role}={name!r} is no item of {topic.folder} in {_where(topic)}")
    if (role == "question") != (items[name].kind == "question"):
        raise Problem(f"{name!r} is a{'n' * (items[name].kind == 'exercise')} {items[name].kind}, no {role} cell")
    if cell.cell_type != ("markdown" if role == "question" else "code"):
        raise Problem(f"{role}={name!r} stands on a {cell.cell_type} cell")
    cell.metadata["nbgrader"] = _marks(role, name, items[name].points)


def _marks(role: str, name: str, points: int) -> dict[str, Any]:
    graded = role != "solution"
    marks = {
        "grade": graded,
        "grade_id": name if graded else name + SOLUTION_SUFFIX,
        "locked": role == "check",
        "schema_version": 3,
        "solution": role != "check",
        "task": False,
    }
    return {**marks, "points": points} if graded else marks


def _where(topic: Topic) -> str:
    """Where a topic's items are listed."""
    return "course.toml" if topic.own else "course/syllabus.py"


def _role(marks: dict[str, Any]) -> tuple[str, str]:
    if not marks["grade"]:
        return "solution", marks["grade_id"].removesuffix(SOLUTION_SUFFIX)
    return ("question" if marks["solution"] else "check"), marks["grade_id"]
