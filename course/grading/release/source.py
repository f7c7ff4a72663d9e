"""Build a topic's notebook from its source, `solutions/03_rnn.py`, and write edits in it back to the source.

A source is a jupytext percent file whose graded cells carry one short word each:

    # %% solution="rnn_cell"                    the answer, between ### BEGIN SOLUTION and ### END SOLUTION
    # %% check="rnn_cell"                       the one line that checks it
    # %% [markdown] question="rnn_question"     the model answer of the written question

A graded cell that is no exercise of the topic, an instructor's own, carries nbgrader's marks instead:

    # %% nbgrader={"grade_id": "mine", "grade": true, "points": 2}

Building turns these into nbgrader's own metadata, with the points of the syllabus, puts badges and set-up at the top,
and gives every cell a fixed id, so that the same source always makes the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from course import syllabus
from course.course import Course, find_course
from course.files import write_atomically
from course.grading.course_files import setup_cell
from course.grading.course_files.cells import BEGIN, SOLUTION_SUFFIX, grade_id
from course.grading.course_files.course_folder import demand_course, notebook_path, released_at, source_path
from course.problem import Problem
from course.syllabus import Topic

if TYPE_CHECKING:
    from nbformat import NotebookNode

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
ROLES = ("solution", "check", "question")


def refresh(course: Course, topics: Iterable[Topic] | None = None) -> list[Path]:
    """Build the notebooks that are missing or older than their sources; if all are fresh, this costs one stat each.

    The `topics` are by default all of the course. Topics without a source are skipped.

    Raises:
        Problem: `build` refuses a source, or a notebook was edited since it was built and is kept. All others are built
            before this is raised.
    """
    written, problems = [], []
    for topic in course.topics if topics is None else topics:
        source, notebook = source_path(course.root, topic), notebook_path(course.root, topic)
        if not source.is_file() or not _is_stale(course, notebook, source):
            continue
        try:
            _refuse_if_edited(notebook, source)
            _write_built(build(course, source, topic), notebook)
        except Problem as problem:
            problems.append(str(problem))
        else:
            written.append(notebook)
    if problems:
        raise Problem("; ".join(problems))
    return written


def current(course: Course, topic: Topic) -> NotebookNode | None:
    """Return the topic's notebook as it would be released now, or None if `course release` would refuse its source."""
    import nbformat

    source, notebook = source_path(course.root, topic), notebook_path(course.root, topic)
    try:
        if source.is_file() and _is_stale(course, notebook, source):
            _refuse_if_edited(notebook, source)
            return build(course, source, topic)
        return nbformat.read(notebook, as_version=4)
    except (Problem, OSError, ValueError, KeyError):
        return None


def build(course: Course, source: Path, topic: Topic) -> NotebookNode:
    """Return the nbgrader source notebook of `topic`, with solutions; the same source always gives the same bytes.

    Raises:
        Problem: a cell's short metadata names no item of the topic, or stands on the wrong kind of cell.
    """
    return _build_text(course, source.read_text("utf-8"), source.name, topic)


def _build_text(course: Course, text: str, name: str, topic: Topic) -> NotebookNode:
    """Return the notebook of a source with the file name `name` and the contents `text`."""
    import jupytext

    notebook = jupytext.reads(text, fmt="py:percent")
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = {"kernelspec": dict(KERNEL), "language_info": {"name": "python"}}
    seen: Counter[str] = Counter()
    for cell in notebook.cells:
        cell.metadata.pop("lines_to_next_cell", None)
        try:
            _expand(cell, topic)
        except Problem as problem:
            raise Problem(f"{name}: {problem}") from None
        seen[cell.source] += 1
        cell.id = cell_id(cell, topic, seen[cell.source])
    if notebook.cells:
        setup_cell.put(notebook, released_at(topic), course.is_original)
    return notebook


def cell_id(cell: NotebookNode, topic: Topic, occurrence: int) -> str:
    """Return the cell's `grade_id`, or a hash of topic, source and `occurrence`, the source's count so far."""
    name = grade_id(cell)
    if re.fullmatch(r"[\w-]{1,64}", name, re.ASCII):  # the format's rule for ids
        return name
    key = "\0".join((topic.folder, cell.cell_type, cell.source, str(occurrence)))
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def contract(notebook: NotebookNode, exercises: Collection[str]) -> str:
    """Return the source text of a built notebook, without outputs: the inverse of `build`.

    Args:
        notebook: the built notebook, which may have been edited.
        exercises: the topic's items; other graded cells keep nbgrader's metadata.
    """
    import jupytext
    import nbformat

    plain = nbformat.from_dict(notebook)
    setup_cell.take_away(plain)
    plain.metadata = {"jupytext": {"notebook_metadata_filter": "-all"}}
    for cell in plain.cells:
        marks = cell.metadata.pop("nbgrader", None)
        cell.metadata = {key: cell.metadata[key] for key in sorted(cell.metadata) if key == "tags"}
        if marks and marks.get("grade_id"):
            cell.metadata.update(_short(marks, cell.cell_type, exercises))
    return jupytext.writes(plain, fmt="py:percent")


def update_source(notebook: Path) -> Update:
    """Write the edits in a notebook of `solutions/` back into the `.py` that it was built from.

    Pictures that were pasted into it become files beside it.

    Raises:
        Problem: the file is no notebook, not the built one, or has lost its solutions; or its source is missing, or the
            new source could not be built. Nothing is written then.
    """
    import nbformat

    from course.grading.release.pictures import take_out

    source, course = _built_from(notebook)
    try:
        edited = nbformat.read(notebook, as_version=4)
    except (nbformat.reader.NotJSONError, nbformat.ValidationError) as error:
        raise Problem(f"{notebook} cannot be read as a notebook") from error
    text = source.read_text("utf-8")
    if BEGIN in text and not any(BEGIN in cell.source for cell in edited.cells):
        raise Problem(
            f"{notebook} holds no {BEGIN}, but {source} does. Put the solutions back, or delete the notebook to have "
            "it built again"
        )
    digest = digest_of(edited)
    topic = course.topic_in(notebook.resolve().stem)
    pictures = take_out(edited, notebook.resolve().parent)
    marked = re.findall(rf'^# %%.* (?:{"|".join(ROLES)})="(\w+)"', text, re.M)
    items = {item.name: item.points for item in topic.in_source} if topic else {}
    contracted = contract(edited, {*marked, *items})
    if topic:
        _build_text(course, contracted, source.name, topic)
    for path, content in pictures.items():
        write_atomically(path, content, by_way_of=source.parent)
    _replace(source, contracted)
    _record(notebook.resolve(), [digest])
    return Update(source, tuple(pictures), _other_points(course, edited, items))


class Update(NamedTuple):
    """The files written from an edited notebook, and notes on edits that cannot be saved in its source."""

    source: Path
    pictures: tuple[Path, ...]
    notes: tuple[str, ...]


def _other_points(course: Course, notebook: NotebookNode, items: Mapping[str, float]) -> tuple[str, ...]:
    """Return a note for each exercise whose points in a notebook differ from the course's."""
    given = {grade_id(cell): cell.metadata.nbgrader.get("points") for cell in notebook.cells if grade_id(cell)}
    where = "course/syllabus.py" if course.is_original else "course.toml"
    return tuple(
        f"{name} stays at {points} points. Change them in {where}, not in the notebook"
        for name, points in items.items()
        if name in given and given[name] != points
    )


def _built_from(notebook: Path) -> tuple[Path, Course]:
    """Return the source and the course of a notebook that lies where `refresh` builds it.

    Raises:
        Problem: it is any other file.
    """
    path = notebook.resolve()
    if path.suffix != ".ipynb" or not path.is_file():
        raise Problem(f"{notebook} is not a notebook")
    course = find_course(path.parent)
    root = demand_course(course)
    if path != root / "solutions" / path.stem / path.name:
        raise Problem(f"{notebook} was not built from a source. Name a notebook such as solutions/03_rnn/03_rnn.ipynb")
    sources = (root / "solutions" / f"{path.stem}.py", root / "exercises" / path.stem / "notebook.py")
    for source in sources:
        if source.is_file():
            return source, course
    raise Problem(f"{notebook} was not built from a source, because there is no {' and no '.join(map(str, sources))}")


def write(notebook: NotebookNode, path: Path) -> None:
    """Write `notebook` atomically; its folder is made if missing."""
    import nbformat

    _replace(path, nbformat.writes(notebook, version=nbformat.NO_CONVERT) + "\n")


def _replace(path: Path, text: str) -> None:
    # The temporary file lies outside the assignment's folder, because nbgrader copies every file in that folder.
    write_atomically(path, text.encode(), by_way_of=path.parent.parent)


def _write_built(notebook: NotebookNode, path: Path) -> None:
    """Write a notebook just built, and record its digest, which shows later edits."""
    digest = digest_of(notebook)
    _record(path, [*_recorded(path), digest])  # both, in case this is interrupted
    write(notebook, path)
    _record(path, [digest])


def _refuse_if_edited(notebook: Path, source: Path) -> None:
    """Raise `Problem` if the notebook was edited after it was built; without a record, nothing is raised."""
    import nbformat

    known = _recorded(notebook)
    if not known or not notebook.is_file():
        return
    try:
        edited = digest_of(nbformat.read(notebook, as_version=4)) not in known
    except (nbformat.reader.NotJSONError, nbformat.ValidationError):
        edited = True
    if edited:
        command = f"course source {shlex.quote(str(notebook))}"
        raise Problem(
            f"{notebook} was edited after it was built, so it stays as it is. Run `{command}` to save the edits in "
            f"{source}, or delete the notebook to drop them"
        )


def digest_of(notebook: NotebookNode) -> str:
    """Return a hash of what a person edits (cells' types, texts, tags and marks), without a run's results."""
    kept = ("nbgrader", "tags")
    cells = [
        (cell.cell_type, cell.source, {key: cell.metadata[key] for key in kept if key in cell.metadata})
        + ((cell.attachments,) if cell.get("attachments") else ())
        for cell in notebook.cells
    ]
    return hashlib.sha256(json.dumps(cells, sort_keys=True).encode()).hexdigest()


def _record_path(notebook: Path) -> Path:
    """Return the file for a built notebook's digest, in a folder that git and nbgrader ignore."""
    return notebook.parent.parent / ".course" / f"{notebook.stem}.built"


def _recorded(notebook: Path) -> list[str]:
    """Return the digests of the unedited notebook, or an empty list if none is recorded."""
    try:
        return _record_path(notebook).read_text("utf-8").split()
    except FileNotFoundError:
        return []


def _record(notebook: Path, digests: list[str]) -> None:
    _replace(_record_path(notebook), "".join(f"{digest}\n" for digest in digests))


def _is_stale(course: Course, notebook: Path, source: Path) -> bool:
    outline = [course.outline.path] if course.outline.path else []
    made_from = (source, Path(syllabus.__file__), Path(setup_cell.__file__), Path(__file__), *outline)
    try:
        built = notebook.stat().st_mtime_ns
    except FileNotFoundError:
        return True
    ahead = built > time.time_ns()  # the clock was wrong, so newer edits may look older
    return ahead or built < max(path.stat().st_mtime_ns for path in made_from)


def _expand(cell: NotebookNode, topic: Topic) -> None:
    """Replace the cell's short metadata, if any, by nbgrader's metadata of schema 3."""
    if wrong := cell.metadata.get("incorrectly_encoded_metadata"):
        raise Problem(f"a cell's marks cannot be read ({wrong}). Write them as JSON")
    if isinstance(marks := cell.metadata.get("nbgrader"), dict):
        cell.metadata["nbgrader"] = _completed(marks)
    roles = [role for role in ROLES if role in cell.metadata]
    if not roles:
        return
    if len(roles) > 1:
        raise Problem(f"one cell is marked as {' and '.join(roles)}")
    (role,) = roles
    name = cell.metadata.pop(role)
    items = {item.name: item for item in topic.in_source}
    if name not in items:
        raise Problem(
            f"{role}={name!r} names no exercise of {topic.folder}, which has {', '.join(items)}. A graded cell that is "
            "none of them needs nbgrader's marks, as docs/own-exercises.md says"
        )
    if (role == "question") != (items[name].kind == "question"):
        raise Problem(f"{name!r} is a{'n' * (items[name].kind == 'exercise')} {items[name].kind}, no {role} cell")
    if cell.cell_type != ("markdown" if role == "question" else "code"):
        raise Problem(f"{role}={name!r} stands on a {cell.cell_type} cell")
    cell.metadata["nbgrader"] = _marks(role, name, items[name].points)


def _marks(role: str, name: str, points: float) -> dict[str, Any]:
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


DEFAULTS = {"grade": False, "locked": False, "schema_version": 3, "solution": False, "task": False}
"""The values of nbgrader's metadata that a source may omit; a test is locked."""


def _completed(marks: Mapping[str, Any]) -> dict[str, Any]:
    """Return an instructor's own metadata, completed with the fields that nbgrader requires."""
    is_test = bool(marks.get("grade")) and not marks.get("solution")
    return {**DEFAULTS, "locked": is_test or bool(marks.get("task")), **marks}


def _short(marks: Mapping[str, Any], cell_type: str, exercises: Collection[str]) -> dict[str, Any]:
    """Return the metadata of a marked cell in a source: one word for an exercise, else nbgrader's metadata."""
    role = ("question" if marks.get("solution") else "check") if marks.get("grade") else "solution"
    name = marks["grade_id"] if marks.get("grade") else marks["grade_id"].removesuffix(SOLUTION_SUFFIX)
    usual = _marks(role, name, 0)
    flags = ("grade", "grade_id", "solution", "task")
    is_usual = all((marks.get(flag) or False) == usual[flag] for flag in flags)
    if is_usual and name in exercises and cell_type == ("markdown" if role == "question" else "code"):
        return {role: name}
    beside = {key: marks[key] for key in sorted(marks) if key not in ("grade_id", "checksum", "cell_type")}
    kept = {"grade_id": marks["grade_id"], **beside}
    for key in DEFAULTS:
        rest = {other: value for other, value in kept.items() if other != key}
        if key in kept and _completed(rest)[key] == kept[key]:
            kept = rest
    return {"nbgrader": kept}
