"""Labels of a figure that a line strikes."""

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
    """The texts of a figure, legends included, through which a line of its axes runs."""
    figure.draw_without_rendering()
    found = []
    for axes in figure.axes:
        texts = [*axes.texts, *(axes.get_legend().get_texts() if axes.get_legend() else ())]
        lines = [line for line in axes.lines if line.get_linestyle() != "None" and len(line.get_xydata()) > 1]
        found += [
            text.get_text()
            for text in texts
            if isinstance(text, Text) and text.get_text() and any(_crosses(line, _letters(text)) for line in lines)
        ]
    return found


def _letters(text: Text) -> Bbox:
    """Where the letters are, without the room that a line of text has above and below them."""
    box = text.get_window_extent()
    return box.padded(-1, -0.15 * box.height)


def _crosses(line: Line2D, box: Bbox) -> bool:
    points = line.get_transform().transform(np.asarray(line.get_xydata(), float))
    share = np.linspace(0, 1, 500)[:, None]
    along = np.concatenate([begin + share * (end - begin) for begin, end in pairwise(points)])
    return bool(((along > box.min) & (along < box.max)).all(1).any())
