"""Examine a submission before nbgrader reads it or any of it runs, and describe its faults in one or two sentences."""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from course.course import Course
from course.grading.cells import SOLUTION_SUFFIX, grade_id
from course.grading.intake.answers_elsewhere import shadowed
from course.grading.intake.arrival_time import ARRIVAL, refuse_timestamp
from course.grading.intake.copied_cells import notes_on_copies
from course.grading.intake.mending import drop_foreign_fields, read_mended
from course.grading.intake.other_notebooks import notes_on_others
from course.grading.intake.untrusted import (
    LARGEST,
    everything,
    is_misnamed_notebook,
    is_of_a_system,
    printable,
    refuse_folder,
    refuse_shared,
)
from course.grading.problem import Problem
from course.source import parsed
from course.syllabus import Topic


def examine(course: Course, folder: Path, name: str, largest: int = LARGEST) -> list[str]:
    """Check the submission in `folder`, whose notebook should be `name`.ipynb, and return notes for its report.

    Raises:
        Problem: the submission cannot be graded; `arrival_time.Undated` if only its time stamp is wrong.
    """
    refuse_shared(folder)
    refuse_folder(folder, largest)
    path = _find(folder, name)
    try:
        document, mended = _read(path)
    except Problem as problem:
        raise Problem(f"{problem}{_or_another(path)}") from None
    _refuse_another_topics(course, document, name)
    refuse_timestamp(folder)
    return [*mended, *_notes(document), *notes_on_work(path, document)]


def notes_on_work(path: Path, document: dict[str, Any]) -> list[str]:
    """Return notes on which cells and files of the notebook at `path` are graded, if several are candidates."""
    cells = document["cells"]
    return [*notes_on_copies(cells), *shadowed(cells), *notes_on_others(path, cells)]


def _refuse_another_topics(course: Course, document: dict[str, Any], name: str) -> None:
    """Refuse a notebook whose graded cells all belong to other topics."""
    topics = _topics_by_item(course)
    names = [grade_id(cell).removesuffix(SOLUTION_SUFFIX) for cell in document["cells"]]
    found = {topics[item].folder for item in names if item in topics}
    if found and name not in found and course.topic_in(name) is not None:
        raise Problem(f"{name}.ipynb is the notebook of {', '.join(sorted(found))}. The right one is needed")


def _find(folder: Path, name: str) -> Path:
    path = folder / f"{name}.ipynb"
    if path.is_file():
        return path
    missing = f"{name}.ipynb is missing"
    files = [other for other in everything(folder) if not other.is_dir()]
    hidden = [other for other in files if re.search(r"/\.", f"/{other.relative_to(folder).as_posix()}")]
    there = [other for other in files if other not in hidden and not is_of_a_system(other.relative_to(folder))]
    notebooks = [other for other in there if other.suffix == ".ipynb" or is_misnamed_notebook(other)]
    if beside := [other.name for other in notebooks if other.parent == folder]:
        raise Problem(
            f"{missing}, but the folder contains {_some(beside)}. If that is the submission, rename it to {name}.ipynb"
        )
    if below := [str(other.relative_to(folder)) for other in notebooks]:
        raise Problem(f"{missing}, but there is {_some(below)}. If that is the submission, move it up")
    if packed := [other.name for other in there if other.suffix in (".zip", ".gz", ".tar", ".7z", ".rar")]:
        raise Problem(f"{missing}, but the folder contains {_some(packed)}. Unpack it")
    if others := [other.name for other in there if other.name != ARRIVAL]:
        raise Problem(f"{missing}, and the folder contains {_some(others)}. The notebook is needed")
    raise Problem(f"{missing}, because the folder is empty. The notebook is needed")


def _or_another(path: Path) -> str:
    """Return a sentence about other notebooks beside `path`, which cannot be read, or ""."""
    beside = sorted(other.name for other in path.parent.glob("*.ipynb") if other != path and other.name[0] != ".")
    if not beside:
        return ""
    return f". The folder also contains {_some(beside)}. If that is the submission, rename it to {path.name}"


def _some(names: Sequence[str]) -> str:
    """Return the first names out of a submission, for a sentence."""
    return ", ".join(f"{printable(name):.60}" for name in names[:3]) + (" and others" if len(names) > 3 else "")


def read_document(path: Path) -> dict[str, Any]:
    """Return a notebook's JSON document, repaired without changing the student's code or text.

    Raises:
        Problem: the file is no notebook, or one in a format that is not graded.
    """
    return _read(path)[0]


def _read(path: Path) -> tuple[dict[str, Any], list[str]]:
    """Return a notebook's JSON document, repaired, and notes on the repairs.

    Raises:
        Problem: see `read_document`.
    """
    document, notes = read_mended(path.read_bytes(), path.name)
    _refuse(path, _fault(document))
    return document, notes


def topic_of(course: Course, cells: Sequence[dict[str, Any]], path: Path) -> Topic:
    """Return the topic that most graded cells belong to, or else the topic that the notebook at `path` is named after.

    Raises:
        Problem: the notebook belongs to no topic.
    """
    topics = _topics_by_item(course)
    votes = Counter(topics[name].name for cell in cells if (name := grade_id(cell)) in topics)
    try:
        return course.find_topic(votes.most_common(1)[0][0] if votes else path.stem)
    except KeyError:
        raise Problem(f"{path} holds no exercise of the course") from None


def _topics_by_item(course: Course) -> dict[str, Topic]:
    return {item.name: topic for topic in course.topics for item in topic.items}


def _refuse(path: Path, wrong: str) -> None:
    if wrong:
        raise Problem(f"{path.name} is not a valid notebook ({wrong}). Open it in JupyterLab and save it again")


def _fault(document: dict[str, Any]) -> str:
    """Return the first fault of a notebook, by the format's own schema if nbformat is installed, or ""."""
    cells = document.get("cells")
    if not isinstance(cells, list):
        return "it has no list of cells"
    for number, cell in enumerate(cells, 1):
        if not isinstance(cell, dict) or cell.get("cell_type") not in ("code", "markdown", "raw"):
            return f"cell {number} is neither code nor text"
    if find_spec("nbformat") is None:  # a student's environment without Jupyter
        return ""
    return _misfit(document)


def _misfit(document: dict[str, Any]) -> str:
    """Return where and how a notebook violates the format's schema, or ""."""
    import nbformat

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            nbformat.validate(nbformat.from_dict(_skeleton(document)))
        except Exception as error:  # noqa: BLE001 - nbformat may raise anything on invalid input
            place = list(getattr(error, "absolute_path", ()))
            where = f"cell {place[1] + 1}: " if place[:1] == ["cells"] else ""
            return where + (str(getattr(error, "message", error)).splitlines() or [type(error).__name__])[0][:80]
    return ""


def _skeleton(document: dict[str, Any]) -> dict[str, Any]:
    """Return the notebook without its outputs and its cells' metadata, which grading clears or repairs."""
    mended, _ = _with_ids(document)
    cells = [{**cell, "metadata": {}} for cell in mended["cells"]]
    for cell in cells:
        if "outputs" in cell:
            cell["outputs"] = []
    drop_foreign_fields(cells)
    return {**mended, "metadata": {}, "cells": cells}


def _notes(document: dict[str, Any]) -> Iterator[str]:
    if _with_ids(document)[1]:
        yield "cells had no ids and got new ones"
    for number, cell in enumerate(document["cells"], 1):
        if cell["cell_type"] == "code" and (called := ends_kernel("".join(cell["source"]))):
            yield (
                f"cell {number} calls {called}, which ends a notebook there. Grading runs the cells below "
                "it all the same"
            )
    if not any(map(grade_id, document["cells"])):
        yield "its graded cells had lost nbgrader's metadata and were restored"


ENDING = ("exit", "quit")
"""Names that end IPython's kernel when called."""


def ends_kernel(source: str) -> str:
    """Return the call in a cell that ends the kernel when the cell runs, or ""."""
    tree = parsed(source) if any(name in source for name in ENDING) else None
    waiting: list[ast.AST] = list(tree.body) if tree else []
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.Expr | ast.Call):  # IPython calls `exit` if it stands alone on a line
            called = node.value if isinstance(node, ast.Expr) else node.func
            if isinstance(called, ast.Name) and called.id in ENDING:
                return f"{called.id}()"
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return ""


def _with_ids(document: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return the notebook with an id for each cell, if its format requires ids, and whether any was missing."""
    if document.get("nbformat_minor", 0) < 5:
        return document, False
    cells = document["cells"]
    missing = [cell for cell in cells if isinstance(cell, dict) and "id" not in cell]
    mended = [{"id": f"cell-{index}", **cell} for index, cell in enumerate(cells)]
    return {**document, "cells": mended}, bool(missing)
