"""Pictures with their descriptions, as a notebook shows them."""

from __future__ import annotations

import base64
import html
import io
import struct
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL.Image import Image

SHARP = 2
"""Pixels of a picture's file for each pixel of the page, because HiDPI screens show that many."""
IN_THE_DARK = "brightness(1.3)"
"""The CSS filter of a dark page for pictures. It lightens their words, which are dark enough to be read on white."""
_DARK_PAGES = '[data-jp-theme-light="false"],.vscode-dark,[theme="dark"]'
"""How JupyterLab, VS Code and Colab mark their pages when they are dark."""


def described(png: bytes, shows: str) -> tuple[dict[str, str], dict[str, Any]]:
    """Return a picture as an output's data and metadata: an element with its description, and the PNG file beside it.

    Both are needed. JupyterLab gives a PNG file by itself no description, and GitHub may drop a picture within HTML.
    """
    data = {"text/html": element(png, shows), "text/plain": shows, "image/png": base64.b64encode(png).decode()}
    width, height = shown_size(png)
    return data, {"image/png": {"alt": shows, "width": width, "height": height}}


def element(png: bytes, shows: str) -> str:
    """Return a picture as HTML, with its description, for light and dark pages."""
    width, height = shown_size(png)
    source = f'src="data:image/png;base64,{base64.b64encode(png).decode()}" width="{width}" height="{height}"'
    style = f"<style>:is({_DARK_PAGES}) .course-picture{{filter:{IN_THE_DARK}}}</style>"
    return f'{style}<img class="course-picture" {source} alt="{html.escape(shows)}" style="height:auto;max-width:100%">'


def shown_size(png: bytes) -> tuple[int, int]:
    """Return the width and height of a PNG file on a page; 0 where nothing is drawn yet."""
    width, height = struct.unpack(">II", png[16:24]) if png else (0, 0)
    return width // SHARP, height // SHARP


def few_colours(picture: Image) -> bytes:
    """Return an RGBA picture as a PNG file of at most 256 colours, which has half the bytes and is written sooner."""
    buffer = io.BytesIO()
    picture.quantize(256, 2).save(buffer, "png")  # by an octree, the method that keeps what is clear
    return buffer.getvalue()


def show_descriptions() -> None:
    """Make a notebook show figures sharply, with their labels as descriptions; without a notebook, do nothing."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        return
    from matplotlib.figure import Figure

    as_png = shell.display_formatter.formatters["image/png"]
    plain = as_png.lookup_by_type(Figure) if Figure in as_png else None  # a notebook can ask for figures in SVG
    if plain is not None and not isinstance(plain, _Unlabelled):
        as_png.for_type(Figure, _Unlabelled(plain))

    def shown(figure: Figure, **_: Any) -> tuple[dict[str, str], dict[str, Any]] | None:
        alt = str(figure.get_label())
        return described(_drawn(figure), alt) if alt and Figure in as_png else None

    shell.display_formatter.mimebundle_formatter.for_type(Figure, shown)


class _Unlabelled:
    """The notebook's PNG formatter for figures without a label. Those with one have their picture already."""

    def __init__(self, as_png: Any) -> None:
        self.as_png = as_png

    def __call__(self, figure: Figure) -> Any:
        return None if str(figure.get_label()) else self.as_png(figure)


def _drawn(figure: Figure) -> bytes:
    from PIL import Image

    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=SHARP * figure.dpi, bbox_inches="tight", facecolor="none")
    return few_colours(Image.open(buffer))
