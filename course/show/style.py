"""How the course's pictures look: one set of colours, sizes and fonts, for light and dark pages alike.

A figure has no ground of its own, so the page shows through. Its colours are neither light nor dark, and stand out from
white and from the dark grounds of JupyterLab, the site and feedback. They are those of Okabe and Ito (2008), two of
them darker, which people with any kind of colour vision tell apart; lines differ in marker or dash as well.

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

BLUE, ORANGE, GREEN, PINK = "#0072B2", "#D55E00", "#009E73", "#CA77A5"
SKY, AMBER, GREY = "#3A96CC", "#BE8500", "#8A8F98"
INK = "#6D7481"
"""For words, and for lines that stand for themselves."""
FAINT, PALE = f"{GREY}50", f"{GREY}0D"
"""For lines and areas in the background. Words can stand on what is pale."""
COLOURS = (BLUE, ORANGE, GREEN, PINK, SKY, AMBER, GREY)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
SEQUENTIAL = "cividis"
"""Colour map for amounts: its brightness rises evenly, for every kind of colour vision."""
DIVERGING = "course-signed"
"""Colour map for signed values: clear at zero, blue below it, and red above it."""
ORDERED = "course-ordered"
"""Colour map for lines in an order. All of it stands out on light and on dark pages."""
_MAPS = {DIVERGING: ("#1F6FB5", "#1F6FB500", "#C8453B00", "#C8453B"), ORDERED: (BLUE, PINK, AMBER)}

SMALL, WIDE, TALL, SQUARE = (4.6, 3.0), (7.2, 3.4), (7.2, 5.4), (5.6, 5.2)
"""Figure sizes in inches, narrow enough for a notebook's column."""

_RC = {
    "figure.dpi": 110,
    "savefig.dpi": 110,
    "savefig.bbox": "tight",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
    "axes.facecolor": "none",
    "figure.constrained_layout.use": True,
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": f"{GREY}30",
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
    """Apply the course's matplotlib style within the block, in one thread at a time, and restore the settings."""
    import matplotlib as mpl
    from cycler import cycler

    for name, colours in _MAPS.items():
        if name not in mpl.colormaps:
            mpl.colormaps.register(mpl.colors.LinearSegmentedColormap.from_list(name, colours))
    with _DRAWING, mpl.rc_context({**_RC, "axes.prop_cycle": cycler(color=COLOURS)}):
        yield


def finished(figure: Figure, alt: str) -> Figure:
    """Return the figure, removed from pyplot's list, with `alt` as its description.

    Jupyter shows a returned figure once, with its description, and nothing stays open behind it.
    """
    import matplotlib.pyplot as plt

    figure.set_label(alt)
    plt.close(figure)
    show_descriptions()
    return figure


def plain_axes(axes: Any) -> None:
    """Remove grid and spines, for heat maps and diagrams."""
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0)


def luminance(colour: Any) -> float:
    """Return how bright a colour is, from 0 for black to 1 for white (WCAG 2.2)."""
    from matplotlib.colors import to_rgb

    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear))


def for_words(colour: str) -> str:
    """Return a data colour as dark as words in it have to be on light paper (4.5 to 1)."""
    from matplotlib.colors import to_hex, to_rgb

    shades = (to_hex([share / 50 * c for c in to_rgb(colour)]) for share in range(50, 0, -1))
    return next(shade for shade in shades if 1.02 / (luminance(shade) + 0.05) >= 4.5)


def on_cell(colour: Any) -> str:
    """Return black or white, whichever is read better on a cell that is filled with this colour."""
    return "black" if luminance(colour) > 0.18 else "white"
