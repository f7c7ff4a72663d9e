"""The parts of a widget: a figure that is drawn again at every move, its picture, its buttons and its sentence.

A widget promises a new picture within a tenth of a second. So its figure keeps its axes (`stage`), which are emptied
and filled again (`wiped`), and what stands around them is painted once and put back as it was (`drawn`).

    figure = stage((7.2, 3.4), columns=2)

    def redraw(change):
        with styled():
            left, right = wiped(figure)
            ...
        image.value = drawn(figure)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from .described import SHARP, few_colours, shown_size
from .style import styled

if TYPE_CHECKING:
    from ipywidgets import HTML, Image, ToggleButtons
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    from .panel import Panel

_FRAMES: WeakKeyDictionary[Figure, tuple[list[Any], Any]] = WeakKeyDictionary()
"""The frame of each figure as it was painted last: how it looked, and its pixels."""


def stage(size: tuple[float, float], rows: int = 1, columns: int = 1, **grid: Any) -> Figure:
    """Return a widget's figure, with `rows` times `columns` axes to be cleared and filled again at each change.

    Its layout is fixed by `grid` (left, right, bottom, top and so on, as in matplotlib's `GridSpec`): drawing it again
    takes a few hundredths of a second, and no picture is larger than the one before. pyplot never hears of it.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with styled():
        figure = Figure(figsize=size, dpi=100 * SHARP)
        figure.set_layout_engine("none")
        FigureCanvasAgg(figure)
        figure.subplots(rows, columns, gridspec_kw=grid)
    return figure


def wiped(figure: Figure) -> Sequence[Axes]:
    """Return the axes of a `stage`, emptied within `styled()`. They keep their ticks, which are slow to make.

    They keep their legends, too, until another is written over them.

    Titles written from here on stand where they belong, and are not moved out of the way of ticks above the axes, for
    which all ticks would have to be measured; unless there are such ticks.
    """
    import matplotlib as mpl

    if all(axes.xaxis.get_ticks_position() == "bottom" for axes in figure.axes):
        mpl.rcParams["axes.titley"] = 1.0
    for axes in figure.axes:
        for artist in (*axes.lines, *axes.patches, *axes.texts, *axes.images, *axes.collections):
            artist.remove()
        axes.containers.clear()
        axes.set_prop_cycle(None)
        axes.relim()
        axes.set_autoscale_on(True)
    return figure.axes


def drawn(figure: Figure) -> bytes:
    """Return the figure of a `stage` as a PNG file for a widget's `Image`, always of the same size.

    The frame of its axes lies beneath all they hold. Labels below the axes stay where they first were: to place them
    anew, all ticks would have to be measured.
    """
    from PIL import Image as Picture

    canvas: Any = figure.canvas
    with styled():
        _paint_frame(figure)
        with _frameless(figure):
            figure.draw(canvas.get_renderer())
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if axis is axes.xaxis or not axis.label.get_text():  # a y label makes way for longer numbers
                axis.set_label_coords(*axis.label.get_position(), transform=axis.label.get_transform())
    pixels = Picture.frombuffer("RGBA", canvas.get_width_height(), canvas.buffer_rgba(), "raw", "RGBA", 0, 1)
    return few_colours(pixels)


def picture(shows: str) -> Image:
    """Return the picture of a widget, as wide as its page allows; `shows` is its name for screen readers."""
    import ipywidgets as widgets
    from traitlets import Unicode

    layout = widgets.Layout(max_width="calc(100% - 4px)", align_self="flex-start")  # a margin of 2 on either side
    if widgets.__version__.startswith("7."):
        from .image_with_text import ImageWithText

        return ImageWithText(tooltip=shows, layout=layout)
    image = widgets.Image(format="png", tooltip=shows, layout=layout)
    image.observe(lambda _: setattr(image, "width", shown_size(image.value)[0]), "value")
    image.add_traits(description=Unicode().tag(sync=True))  # ipywidgets shows no tooltip of what has no description
    return image


def choice(name: str, options: Sequence[Any]) -> ToggleButtons:
    """Return a control with a button for each of `options`, which are names or pairs of a name and a value.

    No drop-down list: JupyterLab takes the arrow keys from it to go to the next cell.
    """
    import ipywidgets as widgets

    return widgets.ToggleButtons(options=options, description=name, style={"button_width": "auto"})


def panel(parts: Sequence[Any]) -> Panel:
    """Return a widget of controls, pictures and texts. In a saved notebook, its pictures and texts stay."""
    from .panel import Panel

    return Panel(list(parts))


def spoken(lines: int = 2) -> HTML:
    """Return the sentence beside a widget's picture, with room for its longest text, so that nothing jumps."""
    import ipywidgets as widgets

    return widgets.HTML(layout=widgets.Layout(min_height=f"{28 * lines}px"))  # ipywidgets' own height of a line


# -- the frame: cards, ticks with their labels, grids, legends; half of the work, and seldom another one ---------------


def _paint_frame(figure: Figure) -> None:
    """Draw only the figure's frame on its canvas, from the last drawing if it looks the same."""
    canvas: Any = figure.canvas
    renderer = canvas.get_renderer()
    for axes in figure.axes:
        axes.apply_aspect()
    looked, pixels = _FRAMES.get(figure, (None, None))
    if looked == (looks := _looks(figure)):
        renderer.restore_region(pixels)
        return
    renderer.clear()
    figure.patch.draw(renderer)
    for axes in figure.axes:
        for part in (axes.patch, *_around(axes)):
            if axes.axison or part is axes.get_legend():
                part.draw(renderer)
    _FRAMES[figure] = looks, canvas.copy_from_bbox(figure.bbox)


@contextmanager
def _frameless(figure: Figure) -> Iterator[None]:
    """Let the figure draw the contents of its axes, without a frame, within the block."""
    cards = [figure.patch, *(axes.patch for axes in figure.axes)]
    around = [part for axes in figure.axes for part in _around(axes)]
    for card in cards:
        card.set_visible(False)
    for part in around:
        part.set_animated(True)  # is left out, and still counts where titles make way for ticks
    try:
        yield
    finally:
        for card in cards:
            card.set_visible(True)
        for part in around:
            part.set_animated(False)


def _around(axes: Axes) -> list[Artist]:
    legend = axes.get_legend()
    return [axes.xaxis, axes.yaxis, *([legend] if legend else [])]


def _looks(figure: Figure) -> list[Any]:
    """Return everything that a widget may change about the frame. Two frames that agree in it look the same."""
    looks = []
    for axes in figure.axes:
        legend = axes.get_legend()
        entries = zip(legend.legend_handles, legend.get_texts()) if legend else ()
        card = axes.axison, axes.get_facecolor(), axes.get_position().bounds
        explained = [(sign.get_alpha() if sign else None, *_writing(text)) for sign, text in entries]
        looks.append((*card, _scale(axes.xaxis), _scale(axes.yaxis), explained))
    return looks


def _scale(axis: Axis) -> list[Any]:
    looks = [axis.get_visible(), *axis.get_view_interval(), *axis.get_minorticklocs(), *_writing(axis.label)]
    for tick in axis.get_major_ticks():
        line = tick.tick1line
        looks += [tick.get_loc(), tick.gridline.get_visible(), line.get_visible(), line.get_markersize()]
        looks += [*_writing(tick.label1), *_writing(tick.label2)]
    return looks


def _writing(text: Text) -> list[Any]:
    """Return how a text looks; its place follows from the ticks. A font may change in place, so its hash is kept."""
    font, turned = hash(text.get_fontproperties()), text.get_rotation()
    return [text.get_visible(), text.get_text(), text.get_color(), font, turned]
