"""Whether a figure is at home on light and dark pages. It has no ground of its own, and its words are read on both."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from matplotlib.colors import to_rgb, to_rgba
from matplotlib.text import Text

from course.show.described import IN_THE_DARK
from tests.show.contrast import contrast

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LIGHT = ("#ffffff", "#fdfcf9")
"""JupyterLab's and feedback's ground, and the site's."""
DARK = ("#111111", "#141414", "#15181c", "#1f1f1f")
"""The grounds of JupyterLab, feedback, the site and VS Code in the dark."""
ON_CELLS = ("black", "white")
"""What words are on a filled cell, which brings its own ground."""


def in_the_dark(colour: Any) -> tuple[float, ...]:
    """A colour of a picture as a dark page shows it."""
    (factor,) = re.findall(r"brightness\((.+)\)", IN_THE_DARK)
    return tuple(min(1.0, float(factor) * part) for part in to_rgb(colour))


def weakest(colour: Any) -> float:
    """The contrast of a colour on the ground on which it is read least."""
    dark = [contrast(in_the_dark(colour), ground) for ground in DARK]
    return min(*dark, *(contrast(colour, ground) for ground in LIGHT))


def assert_at_home(figure: Figure) -> None:
    """Fail where a figure has a ground, or words that are hard to read on a light or on a dark page."""
    for part in (figure, *figure.subfigs, *figure.axes):
        assert to_rgba(part.patch.get_facecolor())[3] == 0, f"{part} has a ground"
    for text in figure.findobj(Text):
        if text.get_text().strip() and text.get_color() not in ON_CELLS:
            is_large = text.get_fontsize() >= 14 and text.get_weight() == "bold"
            least = 3.0 if is_large else 4.5
            assert weakest(text.get_color()) >= least, f"{text} is hard to read. Use `style.for_words`."
