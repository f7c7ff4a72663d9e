"""How the course's pictures look: one set of colours, sizes and fonts, for light and dark notebooks alike.

A figure brings its own white card, so that it reads the same on any page. The colours are those of Okabe and Ito
(2008), which people with any kind of colour vision tell apart; lines differ in marker or dash as well.

    with styled():
        figure, axes = plt.subplots(figsize=WIDE)
        ...
        return finished(figure, "What the picture shows, in a sentence")
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import TYPE_CHECKING, Any

from .described import show_descriptions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, PINK = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
SKY, AMBER, GREY, INK = "#56B4E9", "#E69F00", "#8A8F98", "#24292F"
QUIET = "#656B75"
"""For words that stand back: as grey as a card allows on which they are to be read (4.5 to 1)."""
COLOURS = (BLUE, ORANGE, GREEN, PINK, SKY, AMBER, GREY)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
SEQUENTIAL = "cividis"
"""Colour map for amounts: its brightness rises evenly, for every kind of colour vision."""
DIVERGING = "RdBu_r"
"""Colour map for signed values, with zero at its middle."""

SMALL, WIDE, TALL, SQUARE = (4.6, 3.0), (7.2, 3.4), (7.2, 5.4), (5.6, 5.2)
"""Figure sizes in inches, narrow enough for a notebook's column."""

_RC = {
    "figure.dpi": 110,
    "savefig.dpi": 110,
    "savefig.bbox": "tight",
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "axes.facecolor": "white",
    "figure.constrained_layout.use": True,
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": "#B9BEC5",
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E7E9EC",
    "grid.linewidth": 0.8,
    "xtick.color": INK,
    "ytick.color": INK,
    "legend.frameon": False,
    "lines.linewidth": 2.0,
    "lines.markersize": 6,
    "image.cmap": SEQUENTIAL,
}

_DRAWING = RLock()
"""All threads share matplotlib's settings, and JupyterLab answers widgets in threads beside the notebook's own."""


@contextmanager
def styled() -> Iterator[None]:
    """The course's style inside, the caller's own matplotlib settings again after it; one thread draws at a time."""
    import matplotlib as mpl
    from cycler import cycler

    with _DRAWING, mpl.rc_context({**_RC, "axes.prop_cycle": cycler(color=COLOURS)}):
        yield


def finished(figure: Figure, alt: str) -> Figure:
    """The figure, taken off pyplot's list, with `alt` as its description.

    Jupyter shows a returned figure once, with its description, and nothing stays open behind it.
    """
    import matplotlib.pyplot as plt

    figure.set_label(alt)
    plt.close(figure)
    show_descriptions()
    return figure


def plain_axes(axes: Any) -> None:
    """Takes grid and spines off, for heat maps and diagrams."""
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0)
