"""Pictures of topic 08: clocks, waves, requirements, turned scores, slopes, echoes, and a table to explore."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from . import live
from .style import (
    BLUE,
    COLOURS,
    DIVERGING,
    GREEN,
    GREY,
    INK,
    MARKERS,
    ORANGE,
    QUIET,
    WIDE,
    finished,
    plain_axes,
    styled,
)

if TYPE_CHECKING:
    from ipywidgets import VBox
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

Encode = Callable[[int, int], Tensor]


# -- figures ---------------------------------------------------------------------------------------------------------


def clocks(encode: Encode, places: Sequence[int], d_model: int = 8) -> Figure:
    """What the hands of `encode(n, d_model)` show at some places: a row of dials for each, a column for each pair."""
    import matplotlib.pyplot as plt

    table = encode(max(places) + 1, d_model)
    pairs = d_model // 2
    with styled():
        size = (1.1 + 0.95 * pairs, 0.5 + 0.95 * len(places))
        figure, grid = plt.subplots(len(places), pairs, figsize=size, squeeze=False)
        for row, place in zip(grid, places):
            for i, axes in enumerate(row):
                _dial(axes, *table[place, 2 * i : 2 * i + 2].tolist())
            row[0].set_ylabel(f"t = {place}", rotation=0, ha="right", va="center")
        for i, axes in enumerate(grid[0]):
            axes.set_title(f"pair {i}", fontsize=10, loc="center")
        return finished(
            figure, f"Dials of {pairs} pairs at places {', '.join(map(str, places))}; each pair turns slower."
        )


def heat_map(table: Tensor, title: str = "") -> Figure:
    """A table of positions (n, D) as colours: places downwards, dimensions across."""
    import matplotlib.pyplot as plt

    with styled():
        figure, axes = plt.subplots(figsize=WIDE)
        _table(figure, axes, table)
        axes.set_title(title or f"{len(table)} places, {table.shape[1]} dimensions")
        return finished(figure, f"Heat map of {len(table)} position vectors; the left columns change fastest.")


def distances(table: Tensor, places: Sequence[int]) -> Figure:
    """The dot product of some places' vectors with all others, over the place and over the distance."""
    import matplotlib.pyplot as plt

    with styled():
        figure, (left, right) = plt.subplots(1, 2, figsize=WIDE, sharey=True)
        for t, colour in zip(places, COLOURS):
            dots = (table @ table[t]).tolist()
            left.plot(range(len(table)), dots, color=colour)
            right.plot([s - t for s in range(len(table))], dots, color=colour, label=f"t = {t}")
        left.set(title="Dot product with place t", xlabel="place s")
        right.set(title="The same, over the distance", xlabel="s − t")
        right.legend(loc="upper left", fontsize=9)
        return finished(figure, "Dot products of position vectors: the curves of different places fall on one another.")


def requirements(found: Mapping[str, Mapping[str, bool]]) -> Figure:
    """A table of what was measured: encodings downwards, properties across, a dot where one holds."""
    import matplotlib.pyplot as plt

    names = list(next(iter(found.values())))
    with styled():
        figure, axes = plt.subplots(figsize=(7.2, 0.9 + 0.42 * len(found)))
        for row, held in enumerate(found.values()):
            for column, name in enumerate(names):
                yes = bool(held[name])
                axes.scatter(column, row, s=130, color=BLUE if yes else "white", edgecolor=BLUE if yes else GREY)
        axes.set_xticks(range(len(names)), [name.replace("_", " ") for name in names])
        axes.set_yticks(range(len(found)), list(found))
        axes.set(xlim=(-0.6, len(names) - 0.4), ylim=(len(found) - 0.4, -0.6))
        axes.xaxis.tick_top()
        plain_axes(axes)
        lines = [f"{name}: {', '.join(n for n in names if held[n]) or 'nothing'}" for name, held in found.items()]
        return finished(figure, "What each encoding has. " + "; ".join(lines) + ".")


def scores(maps: Mapping[str, Tensor]) -> Figure:
    """Scores (T, T) of one query against one key, placed everywhere, side by side for several ways of placing them."""
    import matplotlib.pyplot as plt

    with styled():
        figure, row = plt.subplots(1, len(maps), figsize=(0.6 + 2.9 * len(maps), 3.1), squeeze=False)
        for axes, (name, values) in zip(row[0], maps.items()):
            bound = float(values.abs().max()) or 1.0
            axes.imshow(values.detach().cpu().numpy(), cmap=DIVERGING, vmin=-bound, vmax=bound)
            axes.set(xlabel="place of the key")
            axes.set_title(name)
            plain_axes(axes)
        row[0][0].set_ylabel("place of the query")
        return finished(
            figure, f"Scores by the places of query and key: {', '.join(maps)}. RoPE's are equal on diagonals."
        )


def slopes(bias: Tensor) -> Figure:
    """ALiBi for each head of `bias` (h, T, T): the last query's weights over the keys, if all words were alike."""
    import matplotlib.pyplot as plt

    weights = bias.softmax(-1)[:, -1]  # (h, T)
    heads, T = weights.shape
    with styled():
        figure, axes = plt.subplots(figsize=WIDE)
        for head in range(heads):
            shade = head / max(heads - 1, 1)
            colour = plt.get_cmap("cividis")(0.85 * shade)
            axes.plot(range(1 - T, 1), weights[head].tolist(), color=colour, label=f"head {head + 1}")
        axes.set(
            title="How far each head looks",
            xlabel="place, seen from the query",
            ylabel="weight, all words alike",
            ylim=(0, None),
        )
        axes.legend(loc="upper left", ncols=2, fontsize=9)
        return finished(
            figure, f"Weights of {heads} heads over the last {T} places: the first head looks near, the last far."
        )


def lengths(curves: Mapping[str, Sequence[float]], at: Sequence[int], trained_on: int) -> Figure:
    """Accuracy of models with different encodings, by name, against the number of letters `at`."""
    import matplotlib.pyplot as plt

    with styled():
        figure, axes = plt.subplots(figsize=WIDE)
        for k, ((name, values), colour, marker) in enumerate(zip(curves.items(), COLOURS, MARKERS)):
            # Two ways may fail alike: a dashed curve shows the one below, and the later ones' marks are smaller.
            look = {"linestyle": "-" if k % 2 else (0, (3, 2)), "markersize": 9 - k}
            axes.plot(at, [100 * value for value in values], color=colour, marker=marker, label=name, **look)
        axes.axvline(trained_on, color=GREY, linestyle="--", linewidth=1.2)
        axes.annotate(f"trained on {trained_on}", (trained_on, 4), (5, 0), textcoords="offset points", color=QUIET)
        axes.set_xscale("log", base=2)
        axes.set_xticks(list(at), [str(length) for length in at])
        axes.minorticks_off()
        axes.set(
            title="An echo three places late", xlabel="letters in the list", ylabel="right letters, %", ylim=(0, 105)
        )
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        last = ", ".join(f"{name} {values[-1]:.0%}" for name, values in curves.items())
        return finished(figure, f"Accuracy against the length of the list; at {at[-1]} letters: {last}.")


def looks(maps: Mapping[str, Tensor], trained_on: int) -> Figure:
    """Attention weights (T, T) of several models on one list, with the trained length marked."""
    import matplotlib.pyplot as plt

    with styled():
        figure, row = plt.subplots(1, len(maps), figsize=(1.75 * len(maps), 2.2), squeeze=False)
        for axes, (name, weights) in zip(row[0], maps.items()):
            axes.imshow(weights.detach().cpu().numpy(), vmin=0.0, vmax=1.0)
            for line in (axes.axhline, axes.axvline):
                line(trained_on - 0.5, color="white", linestyle=":", linewidth=1)
            axes.set(xticks=[0, trained_on], yticks=[0, trained_on])
            axes.set_title(name, fontsize=10)
            plain_axes(axes)
        row[0][0].set_ylabel("who looks")
        figure.supxlabel("at whom", fontsize=10)
        return finished(
            figure, f"Attention maps of {', '.join(maps)} on one list longer than the {trained_on} trained on."
        )


# -- the widget ------------------------------------------------------------------------------------------------------


def explorer(encode: Encode) -> VBox:
    """Sliders for the length, the width and a place; table, wavelengths and dot products of `encode` follow them."""
    import ipywidgets as widgets

    def slider(name: str, value: int, low: int, high: int, step: int) -> Any:
        return widgets.IntSlider(
            value=value, min=low, max=high, step=step, description=name, layout=widgets.Layout(width="300px")
        )

    n, width, place = slider("places", 64, 8, 512, 8), slider("width D", 32, 2, 64, 2), slider("place t", 20, 0, 63, 1)
    figure = _three_panels()
    picture, spoken = live.picture("table, wavelengths and dot products"), live.spoken()

    def redraw(_: Any = None) -> None:
        place.max = n.value - 1  # a slider pulls its value below its maximum by itself
        _draw(figure, encode, n.value, width.value, place.value)
        picture.value = live.drawn(figure)
        spoken.value = _in_words(encode, n.value, width.value, place.value)

    for control in (n, width, place):
        control.observe(redraw, "value")
    redraw()
    row = widgets.Layout(flex_flow="row wrap")
    return widgets.VBox([widgets.HBox([n, width, place], layout=row), picture, spoken])


# -- drawing ---------------------------------------------------------------------------------------------------------


def wavelengths(encode: Encode, d_model: int) -> list[float]:
    """How many places each pair needs for a full turn, read off its first step."""
    first, second = encode(2, d_model).double().unflatten(1, (-1, 2))  # (D/2, 2) each: sine, cosine
    step = torch.atan2(second[:, 0], second[:, 1]) - torch.atan2(first[:, 0], first[:, 1])
    return [2 * math.pi / max(abs(angle), 1e-9) for angle in step.tolist()]


def _three_panels() -> Figure:
    figure = live.stage((8.6, 3.0), columns=3, left=0.08, right=0.985, bottom=0.17, top=0.88, wspace=0.32)
    for axes in figure.axes:
        axes.locator_params(nbins=4)  # every tick takes its time, and the sliders move all of them
    return figure


def _draw(figure: Figure, encode: Encode, n: int, d_model: int, place: int) -> None:
    table = encode(n, d_model).detach().cpu().float()
    with styled():
        left, middle, right = live.wiped(figure)
        _coloured(left, table)
        left.axhline(place, color=INK, linewidth=1.5)
        left.set(title="the table", xlabel="dimension", ylabel="place")
        left.grid(False)
        turns = wavelengths(encode, d_model)
        middle.semilogy(range(len(turns)), turns, color=BLUE, marker="o", markersize=4)
        middle.minorticks_off()
        middle.axhline(n, color=ORANGE, linestyle="--", linewidth=1.5)
        end = len(turns) - 1
        middle.annotate(
            f"{n} places", (end, n), (0, 4), textcoords="offset points", color=ORANGE, fontsize=9, ha="right"
        )
        middle.set(title="places for a full turn", xlabel="pair")
        dots = table @ table.T
        low, high = float(dots.min()), float(dots.max())
        room = 0.05 * (high - low) + 1e-6
        right.plot(range(n), dots[place].tolist(), color=GREEN, linewidth=1.5)
        right.axvline(place, color=INK, linewidth=1.5)
        right.set(title=f"dot product with place {place}", xlabel="place", ylim=(low - room, high + room))


def _in_words(encode: Encode, n: int, d_model: int, place: int) -> str:
    turns = wavelengths(encode, d_model)
    within = sum(turn <= n for turn in turns)
    table = encode(n, d_model).detach()
    dots = table @ table[place]
    others = torch.cat([dots[:place], dots[place + 1 :]])
    return (
        f"{n} places, {d_model} dimensions. {within} of {len(turns)} pairs make a full turn within the text; "
        f"the fastest needs {turns[0]:.1f} places, the slowest {turns[-1]:,.0f}. Place {place} has the dot product "
        f"{float(dots[place]):.1f} with itself, and {float(others.max()):.1f} with the place most like it."
    )


def _table(figure: Figure, axes: Axes, table: Tensor) -> None:
    image = _coloured(axes, table.detach().cpu().float())
    axes.set(xlabel="dimension", ylabel="place t")
    axes.grid(False)
    figure.colorbar(image, ax=axes, pad=0.02, ticks=[-1, 0, 1])


def _coloured(axes: Axes, table: Tensor) -> AxesImage:
    return axes.imshow(table.numpy(), cmap=DIVERGING, vmin=-1, vmax=1, aspect="auto", interpolation="nearest")


def _dial(axes: Axes, sine: float, cosine: float) -> None:
    """A clock whose hand starts at twelve and turns clockwise: the sine across, the cosine up."""
    from matplotlib.patches import Circle

    axes.add_patch(Circle((0, 0), 1.0, fill=False, edgecolor="#B9BEC5", linewidth=1.2))
    axes.plot([0, sine], [0, cosine], color=BLUE, linewidth=2.5, solid_capstyle="round")
    axes.plot([sine], [cosine], "o", color=BLUE, markersize=4)
    axes.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), xticks=[], yticks=[], aspect="equal")
    plain_axes(axes)
