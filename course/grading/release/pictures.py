"""Keep a notebook's pictures: pasted ones as files beside its source, and stills of its widgets for released notebooks.

A page without a kernel, such as GitHub or nbviewer, shows the still in place of the widget.
"""

from __future__ import annotations

import base64
import re
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from nbformat import NotebookNode
from nbformat.v4 import new_output

from course.grading.course_files.cells import BEGIN, END, grade_id
from course.problem import Problem

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


FOLDER = Path(__file__).parent / "stills"

_CALL = re.compile(r"^show\.\w+\.(\w+)\(.*\Z", re.M)
_MARK = "course_still"
SHARP = 2
"""The pixels of a picture's file for each pixel of the page, for screens of high density."""
_DESCRIPTION = "Description"
"""The standard keyword under which a PNG file keeps its alternative text."""


def still_of(notebook: str, cell: NotebookNode) -> Path | None:
    """Return the path for the picture of the widget that the cell's last line may show, or None."""
    called = _CALL.search(cell.source.rstrip()) if cell.cell_type == "code" else None
    return FOLDER / f"{notebook}-{called[1]}.png" if called else None


def is_still(output: NotebookNode) -> bool:
    """Return whether an output is such a picture, and not a computed output."""
    return bool(output.get("metadata", {}).get(_MARK))


def save(picture: bytes, description: str, path: Path) -> None:
    """Write a PNG picture with its description, in few colours and bytes, without transparent edges."""
    import io

    from PIL import Image, PngImagePlugin

    about = PngImagePlugin.PngInfo()
    about.add_itxt(_DESCRIPTION, description)
    path.parent.mkdir(exist_ok=True)
    whole = Image.open(io.BytesIO(picture)).convert("RGBA")
    whole.crop(whole.getbbox()).quantize(256, Image.Quantize.FASTOCTREE).save(path, optimize=True, pnginfo=about)


def description(path: Path) -> str:
    """Return the description of a picture."""
    from PIL import Image

    with Image.open(path) as picture:
        return str(picture.info.get(_DESCRIPTION, ""))


def output_of(path: Path) -> NotebookNode:
    """Return a picture as a cell's output, with its description and its size on the page."""
    alt, png = description(path), path.read_bytes()
    width, height = (pixels // SHARP for pixels in struct.unpack(">II", png[16:24]))
    data = {"image/png": base64.b64encode(png).decode(), "text/plain": alt}
    about = {"alt": alt, "width": width, "height": height}
    return new_output("display_data", data=data, metadata={"image/png": about, _MARK: True})
