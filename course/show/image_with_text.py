"""A widget's picture with its text, for ipywidgets 7, as on Colab. Its own `Image` has no text for screen readers."""

from __future__ import annotations

from typing import Any

from ipywidgets import HTML
from traitlets import Bytes, Unicode

from .described import element


def _as_html(png: bytes, widget: Any) -> str:
    """What the notebook gets: an image element with the text."""
    return element(png, widget.tooltip)


class ImageWithText(HTML):
    """A PNG file as `value`, as an `Image` has it, and `tooltip` as its text."""

    value = Bytes().tag(sync=True, to_json=_as_html)
    tooltip = Unicode()
