"""How the course's pictures look: one set of colours, sizes and fonts, for light and dark notebooks alike.

A figure brings its own white card, so that it reads the same on any page. The colours are those of Okabe and Ito
(2008), which people with any kind of colour vision tell apart; lines differ in marker or dash as well.

    with styled():
        figure, axes = plt.subplots(figsize=WIDE)
        ...
        return finished(figure, "What the picture shows, in a sentence")
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ipywidgets import HTML, Image, ToggleButtons
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, PINK = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
SKY, AMBER, GREY, INK = "#56B4E9", "#E69F00", "#8A8F98", "#24292F"
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


@contextmanager
def styled() -> Iterator[None]:
    """The course's style inside, the caller's own matplotlib settings again after it."""
    import matplotlib as mpl
    from cycler import cycler

    with mpl.rc_context({**_RC, "axes.prop_cycle": cycler(color=COLOURS)}):
        yield


def finished(figure: Figure, alt: str) -> Figure:
    """The figure, taken off pyplot's list, with `alt` as its description.

    Jupyter shows a returned figure once, and nothing stays open behind it.
    """
    import matplotlib.pyplot as plt

    figure.set_label(alt)
    plt.close(figure)
    return figure


def stage(size: tuple[float, float], rows: int = 1, columns: int = 1, **grid: Any) -> Figure:
    """A widget's figure, with `rows` times `columns` axes to be cleared and filled again at each change.

    Its layout is fixed by `grid` (left, right, bottom, top and so on, as in matplotlib's `GridSpec`): drawing it again
    takes a few hundredths of a second, and no picture is larger than the one before. pyplot never hears of it.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with styled():
        figure = Figure(figsize=size, dpi=100)
        figure.set_layout_engine("none")
        FigureCanvasAgg(figure)
        figure.subplots(rows, columns, gridspec_kw=grid)
    return figure


def wiped(figure: Figure) -> Sequence[Axes]:
    """The axes of a `stage`, empty again, within `styled()`; they keep their ticks, the slowest of all to make.

    Titles written from here on stand where they belong, and are not moved out of the way of ticks above the axes, for
    which all ticks would have to be measured; unless there are such ticks.
    """
    import matplotlib as mpl

    if all(axes.xaxis.get_ticks_position() == "bottom" for axes in figure.axes):
        mpl.rcParams["axes.titley"] = 1.0
    for axes in figure.axes:
        for artist in (*axes.lines, *axes.patches, *axes.texts, *axes.images, *axes.collections):
            artist.remove()
        if legend := axes.get_legend():
            legend.remove()
        axes.containers.clear()
        axes.set_prop_cycle(None)
        axes.relim()
        axes.set_autoscale_on(True)
    return figure.axes


def drawn(figure: Figure) -> bytes:
    """The figure of a `stage` as a PNG file, for a widget's `Image`: quickly, and of the figure's own size.

    Labels below the axes stay where they first were: to place them anew, all ticks would have to be measured.
    """
    import io

    buffer = io.BytesIO()
    with styled():
        figure.canvas.print_png(buffer, pil_kwargs={"compress_level": 1})  # type: ignore[attr-defined]
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if axis is axes.xaxis or not axis.label.get_text():  # a y label makes way for longer numbers
                axis.set_label_coords(*axis.label.get_position(), transform=axis.label.get_transform())
    return buffer.getvalue()


def picture(shows: str) -> Image:
    """The picture of a widget, as wide as its page allows; `shows` is its name for screen readers."""
    import ipywidgets as widgets
    from traitlets import Unicode

    layout = widgets.Layout(max_width="100%", align_self="flex-start")
    image = widgets.Image(format="png", tooltip=shows, layout=layout)
    image.add_traits(description=Unicode().tag(sync=True))  # ipywidgets shows no tooltip of what has no description
    return image


def choice(name: str, options: Sequence[Any]) -> ToggleButtons:
    """A widget's control for one of `options`, names or pairs of name and value: a button for each.

    No drop-down list: JupyterLab takes the arrow keys from it to go to the next cell.
    """
    import ipywidgets as widgets

    return widgets.ToggleButtons(options=options, description=name, style={"button_width": "auto"})


def spoken(lines: int = 2) -> HTML:
    """The sentence below (or above) a widget's picture: as high as its longest from the start, so nothing jumps."""
    import ipywidgets as widgets

    return widgets.HTML(layout=widgets.Layout(min_height=f"{28 * lines}px"))  # ipywidgets' own height of a line


def plain_axes(axes: Any) -> None:
    """Takes grid and spines off, for heat maps and diagrams."""
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.tick_params(length=0)
