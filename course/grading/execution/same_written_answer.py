"""Compare a written answer with the one that a grader gave points for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from nbformat import NotebookNode

from course.grading.course_files.cells import grade_id
from course.grading.intake.grader_notes import is_note
from course.grading.intake.untrusted import plain_files


def same_answer(name: str, before: NotebookNode, now: NotebookNode, folder: Path, files: Mapping[str, bytes]) -> bool:
    """Whether the written answer `name` is the same in two notebooks of a student; False if the answer is code.

    Text cells without nbgrader's metadata are compared too, because an answer may continue there, and so are the files
    that the text names. The files of `before` are in `folder`, those of `now` in `files`.
    """
    then, written = _answer(name, before), _answer(name, now)
    if not written or then != written:
        return False
    text = unquote("\n".join(str(cell["source"]) for cell in written))
    there = {path: place for path, place in plain_files(folder) if place.suffix != ".ipynb"}
    named = (path for path in there.keys() | files.keys() if Path(path).name in text)
    return all(path in there and there[path].read_bytes() == files.get(path) for path in named)


def _answer(name: str, nb: NotebookNode) -> list[dict[str, Any]]:
    """Return a written answer's cell and all text cells without nbgrader's metadata; [] if there is no such answer."""
    texts = [
        cell for cell in nb.cells if cell.cell_type != "code" and grade_id(cell) in ("", name) and not is_note(cell)
    ]
    if not any(grade_id(cell) == name and cell.metadata.nbgrader.get("solution") for cell in texts):
        return []
    return [{key: cell.get(key) for key in ("cell_type", "source", "attachments")} for cell in texts]
