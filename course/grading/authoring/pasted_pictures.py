"""Save pictures that were pasted into a notebook as files beside it, because a text source cannot hold them."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from course.grading.cells import BEGIN, END, grade_id
from course.grading.problem import Problem

if TYPE_CHECKING:
    from nbformat import NotebookNode


def take_out(notebook: NotebookNode, folder: Path) -> dict[Path, bytes]:
    """Replace attachments in the cells of `notebook` by references to files in `folder`, and return these files.

    Raises:
        Problem: a picture belongs to a model answer, which students must not see, or its data cannot be read.
    """
    files: dict[Path, bytes] = {}
    for cell in notebook.cells:
        attachments = cell.pop("attachments", None)
        for name, bundle in sorted((attachments or {}).items(), key=lambda one: -len(one[0])):  # longest name first
            if not _refers(cell.source, name):
                continue
            if _refers(_model_answer(cell), name):
                raise Problem(
                    f"the model answer {grade_id(cell)!r} holds the picture {name}, and a file beside the notebook "
                    "would reach the students. Describe it in words, or keep the picture elsewhere"
                )
            content = _decoded(name, bundle)
            path = _free(folder, re.sub(r"[^\w.-]+", "-", name).lstrip(".") or "picture", content, files)
            files[path] = content
            for written in _spellings(name):
                cell.source = cell.source.replace(f"attachment:{written}", path.name)
    return files


def _spellings(name: str) -> tuple[str, str]:
    return name, quote(name)


def _refers(text: str, name: str) -> bool:
    return any(f"attachment:{written}" in text for written in _spellings(name))


def _model_answer(cell: NotebookNode) -> str:
    """Return the part of a cell that the release removes."""
    marks = cell.metadata.get("nbgrader", {})
    if not marks.get("solution"):
        return ""
    regions = re.findall(rf"{re.escape(BEGIN)}.*?{re.escape(END)}", cell.source, re.S)
    return "\n".join(regions) or str(cell.source)


def _decoded(name: str, bundle: Any) -> bytes:
    try:
        return base64.b64decode("".join(next(iter(bundle.values()))))
    except (AttributeError, StopIteration, TypeError, ValueError):
        raise Problem(f"the picture {name} cannot be read. Paste it again, or delete it") from None


def _free(folder: Path, name: str, content: bytes, files: dict[Path, bytes]) -> Path:
    """Return an unused path in `folder`, because JupyterLab names every pasted picture image.png."""
    path, number = folder / name, 1
    while (files[path] if path in files else path.read_bytes() if path.exists() else content) != content:
        number += 1
        path = folder / f"{Path(name).stem}-{number}{Path(name).suffix}"
    return path
