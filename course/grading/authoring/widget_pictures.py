"""Keep pictures of widgets for released notebooks, for pages without a kernel, such as GitHub or nbviewer.

A picture is the stored output of the widget's cell, and running the cell replaces it by the widget. `make stills` takes
the pictures, from the solved notebooks in JupyterLab.
"""

from __future__ import annotations

import base64
import re
import struct
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_output

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
