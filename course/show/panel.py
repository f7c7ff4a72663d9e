"""A widget as several outputs of its cell: what it shows is saved with the notebook, its controls are widgets.

A saved notebook holds no widget, so a picture inside one is gone when the notebook is opened again, on GitHub, and
wherever nothing runs. A panel's pictures and texts are outputs of their own, in HTML and PNG, and stay.
"""

from __future__ import annotations

import html
import re
from itertools import groupby
from typing import Any

from IPython.display import display
from ipywidgets import HTML, Image, VBox

from ..surroundings import on_colab
from .aloud import SCRIPT
from .described import described

VIEW = "application/vnd.jupyter.widget-view+json"

_STYLE = """<style>
.jp-OutputArea-output[data-mime-type="application/javascript"] { padding: 0; }
.jp-OutputArea-output.jupyter-widgets:not(:has(> *)) { font-size: 0; padding: 0; }
.jp-OutputArea-output.jupyter-widgets:not(:has(> *))::after {
  content: "Run this cell to use its controls."; color: var(--jp-ui-font-color2, gray); font-size: 13px;
}
</style>"""
"""What JupyterLab shows in place of controls whose kernel is gone, instead of an error about a model; no empty line."""


class Panel(VBox):
    """Controls, pictures and texts, one below the other; pictures and texts stay in a notebook that was saved."""

    def _ipython_display_(self, **_: Any) -> None:
        """Display the panel as outputs of the cell, or as one widget on Colab, which saves widgets with a notebook."""
        if on_colab():
            _display_controls(self)
            return
        display({"application/javascript": SCRIPT, "text/plain": ""}, raw=True)
        for kept, children in groupby(self.children, lambda child: isinstance(child, (HTML, Image))):
            if kept:
                for child in children:
                    _display_kept(child)
            else:
                _display_controls(VBox(list(children)))


def _display_controls(widget: Any) -> None:
    """Display a widget where widgets work, and nothing elsewhere."""
    view = {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}
    display({VIEW: view, "text/html": "", "text/plain": ""}, raw=True)


def _display_kept(widget: Any) -> None:
    """Display a picture or text as an output of its own, and update that output at every change."""
    data, about = _kept(widget)
    handle = display(data, metadata=about, raw=True, display_id=True)

    def renew(_: Any) -> None:
        data, about = _kept(widget)
        handle.update(data, metadata=about, raw=True)

    widget.observe(renew, "value")


def _kept(widget: Any) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the data and the metadata of the output that holds what a picture or text shows."""
    if not isinstance(widget.value, str):
        data, about = described(bytes(widget.value), widget.tooltip)
        return data | {"text/html": _STYLE + data["text/html"]}, about
    style = f"min-height:{widget.layout.min_height or 0};max-width:{widget.layout.max_width or 'none'}"
    plain = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", widget.value)).strip()
    shown = f'{_STYLE}<div class="course-text" style="{style}">{widget.value}</div>'
    return {"text/html": shown, "text/plain": html.unescape(plain)}, {}
