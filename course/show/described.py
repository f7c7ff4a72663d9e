"""Pictures with their descriptions, as a notebook shows them."""

from __future__ import annotations

import base64
import html
import struct
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def described(png: bytes, shows: str, size: tuple[int, int] | None = None) -> dict[str, str]:
    """Return a picture as an output's data: an element with its description, and the PNG file beside it.

    JupyterLab gives a PNG file by itself an empty description.
    """
    data = base64.b64encode(png).decode()
    width, height = size or (struct.unpack(">II", png[16:24]) if png else (0, 0))
    source = f'src="data:image/png;base64,{data}" alt="{html.escape(shows)}" width="{width}" height="{height}"'
    shown = f'<img class="course-picture" {source} style="height:auto;max-width:100%">'
    return {"text/html": shown, "text/plain": shows, "image/png": data}


def show_descriptions() -> None:
    """Make a notebook show figures with their labels as descriptions; without a notebook, do nothing."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        return
    as_png = shell.display_formatter.formatters["image/png"]

    def shown(figure: Figure, **_: Any) -> tuple[dict[str, str], dict[str, Any]] | None:
        alt, made = str(figure.get_label()), as_png(figure)
        if not alt or made is None:
            return None
        data, about = made if isinstance(made, tuple) else (made, {})
        png = data if isinstance(data, bytes) else base64.b64decode(data)
        size = (about["width"], about["height"]) if "width" in about else None
        return described(png, alt, size), {"image/png": {**about, "alt": alt}}

    shell.display_formatter.mimebundle_formatter.for_type_by_name("matplotlib.figure", "Figure", shown)
