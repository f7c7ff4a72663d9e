"""Labels of a figure that a line, a dot or a bar strikes."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.text import Text

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.transforms import Bbox


def struck(figure: Figure) -> list[str]:
    """The texts of a figure, legends included, on which a line or a dot of its axes lies, or a bar in a legend's case.

    Other texts may stand on a bar, as its label.
    """
    figure.draw_without_rendering()
    found = []
    for axes in figure.axes:
        entries = axes.get_legend().get_texts() if axes.get_legend() else []
        bars = [bar.get_window_extent() for bar in axes.patches]
        for text in filter(Text.get_text, [*axes.texts, *entries]):
            letters = _letters(text)
            on_a_bar = text in entries and any(bar.overlaps(letters) for bar in bars)
            if on_a_bar or any(_crosses(line, letters) for line in axes.lines):
                found.append(text.get_text())
    return found


def _letters(text: Text) -> Bbox:
    """Where the letters are, without the room that a line of text has above and below them."""
    box = text.get_window_extent()
    return box.padded(-1, -0.15 * box.height)


def _crosses(line: Line2D, box: Bbox) -> bool:
    points = line.get_transform().transform(np.asarray(line.get_xydata(), float))
    if line.get_linestyle() == "None":
        return bool(_within(points, box.padded(line.get_markersize() / 2)).any())
    if len(points) < 2:
        return False
    share = np.linspace(0, 1, 500)[:, None]
    along = np.concatenate([begin + share * (end - begin) for begin, end in pairwise(points)])
    return bool(_within(along, box).any())


def _within(points: np.ndarray, box: Bbox) -> np.ndarray:
    inside: np.ndarray = ((points > box.min) & (points < box.max)).all(1)
    return inside
