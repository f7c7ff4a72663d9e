"""Pictures of topic 08: what encodings look like, what they do to scores, how far they carry, and two widgets."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from . import live
from .style import (
    AMBER,
    BLUE,
    COLOURS,
    DIVERGING,
    GREEN,
    GREY,
    INK,
    MARKERS,
    ORANGE,
    ORDERED,
    WIDE,
    finished,
    for_words,
    plain_axes,
    styled,
)

if TYPE_CHECKING:
    from ipywidgets import VBox
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

Encode = Callable[[int, int], Tensor]
Rotate = Callable[[Tensor, Tensor], Tensor]

_PAIRS, _FAR = 4, 24
"""The pairs of the query and the key in `turning_pairs`, and the largest distance between the two."""


# -- figures ---------------------------------------------------------------------------------------------------------


def clocks(encode: Encode, positions: Sequence[int], d_model: int = 8) -> Figure:
    """Each pair of `encode(n, d_model)` as the hand of a dial: a row for each position, a column for each pair."""
    import matplotlib.pyplot as plt

    table = encode(max(positions) + 1, d_model)
    pairs = d_model // 2
    with styled():
        size = (1.1 + 0.95 * pairs, 0.5 + 0.95 * len(positions))
        figure, grid = plt.subplots(len(positions), pairs, figsize=size, squeeze=False)
        for row, t in zip(grid, positions):
            for i, axes in enumerate(row):
                _dial(axes, *table[t, 2 * i : 2 * i + 2].tolist())
            row[0].set_ylabel(f"t = {t}", rotation=0, ha="right", va="center")
        for i, axes in enumerate(grid[0]):
            axes.set_title(f"pair {i}", fontsize=10, loc="center")
        listed = ", ".join(map(str, positions))
        return finished(figure, f"Dials of {pairs} pairs at positions {listed}. Each pair turns slower than the last.")


def heat_map(table: Tensor, title: str = "") -> Figure:
    """A table of position vectors (n, D) as colours: positions downwards, dimensions across."""
    import matplotlib.pyplot as plt

    with styled():
        figure, axes = plt.subplots(figsize=WIDE)
        _table(figure, axes, table)
        axes.set_title(title or f"{len(table)} positions, {table.shape[1]} dimensions")
        return finished(figure, f"Heat map of {len(table)} position vectors. The left columns change fastest.")


def dot_products(table: Tensor, positions: Sequence[int]) -> Figure:
    """The dot product of some positions' vectors with all others, over the position and over the distance."""
    import matplotlib.pyplot as plt

    with styled():
        figure, (left, right) = plt.subplots(1, 2, figsize=WIDE, sharey=True)
        for t, colour in zip(positions, COLOURS):
            dots = (table @ table[t]).tolist()
            left.plot(range(len(table)), dots, color=colour)
            right.plot([s - t for s in range(len(table))], dots, color=colour, label=f"t = {t}")
        left.set(title="Dot product with position t", xlabel="position s")
        right.set(title="The same, over the distance", xlabel="s − t")
        right.legend(loc="upper left", fontsize=9)
        return finished(figure, "Dot products of position vectors. Over the distance, all curves are the same.")


def four_products(widths: Sequence[int], sizes: Mapping[str, Sequence[float]]) -> Figure:
    """Typical sizes of the products in (word + position) · (word + position), divided by the width, a group a width."""
    import matplotlib.pyplot as plt

    thickness = 0.8 / len(sizes)
    with styled():
        figure, axes = plt.subplots(figsize=WIDE)
        for k, ((name, values), colour) in enumerate(zip(sizes.items(), (BLUE, ORANGE, AMBER, GREEN))):
            shares = [value / width for value, width in zip(values, widths)]
            at = [group + (k - (len(sizes) - 1) / 2) * thickness for group in range(len(widths))]
            bars = axes.bar(at, shares, 0.9 * thickness, color=colour, label=name)
            axes.bar_label(bars, fmt="{:.2f}", fontsize=9, padding=2)
        axes.set_xticks(range(len(widths)), [f"D = {width}" for width in widths])
        axes.set(title="How large is each of the four products?", ylabel="typical size, divided by D", ylim=(0, 1.45))
        axes.legend(loc="upper center", ncols=2, fontsize=9)
        last = ", ".join(f"{name} {values[-1] / widths[-1]:.2f}" for name, values in sizes.items())
        return finished(figure, f"Bars for the four products, divided by the width. At D = {widths[-1]}: {last}.")


def properties(found: Mapping[str, Mapping[str, bool]]) -> Figure:
    """A table of measured properties, with encodings downwards, properties across, and a dot where one holds."""
    import matplotlib.pyplot as plt

    names = list(next(iter(found.values())))
    with styled():
        figure, axes = plt.subplots(figsize=(7.2, 0.9 + 0.42 * len(found)))
        for row, held in enumerate(found.values()):
            for column, name in enumerate(names):
                yes = bool(held[name])
                axes.scatter(column, row, s=130, color=BLUE if yes else "none", edgecolor=BLUE if yes else GREY)
        axes.set_xticks(range(len(names)), [name.replace("_", " ") for name in names])
        axes.set_yticks(range(len(found)), list(found))
        axes.set(xlim=(-0.6, len(names) - 0.4), ylim=(len(found) - 0.4, -0.6))
        axes.xaxis.tick_top()
        plain_axes(axes)
        lines = [f"{name}: {', '.join(n for n in names if held[n]) or 'nothing'}" for name, held in found.items()]
        return finished(figure, "The properties of each encoding. " + ". ".join(lines) + ".")


def score_maps(maps: Mapping[str, Tensor]) -> Figure:
    """Scores (T, T) of one query and one key at every pair of positions, a map for each encoding."""
    import matplotlib.pyplot as plt

    with styled():
        figure, row = plt.subplots(1, len(maps), figsize=(0.6 + 2.9 * len(maps), 3.1), squeeze=False)
        for axes, (name, values) in zip(row[0], maps.items()):
            bound = float(values.abs().max()) or 1.0
            axes.imshow(values.detach().cpu().numpy(), cmap=DIVERGING, vmin=-bound, vmax=bound)
            axes.set(xlabel="position of the key")
            axes.set_title(name)
            plain_axes(axes)
        row[0][0].set_ylabel("position of the query")
        return finished(
            figure, f"Scores by the positions of query and key: {', '.join(maps)}. RoPE's are equal on diagonals."
        )


def alibi_weights(bias: Tensor) -> Figure:
    """ALiBi for each head of `bias` (h, T, T): the last query's weights over the keys, if all words were alike."""
    import matplotlib.pyplot as plt

    weights = bias.softmax(-1)[:, -1]  # (h, T)
    heads, T = weights.shape
    with styled():
        figure, axes = plt.subplots(figsize=WIDE)
        for head in range(heads):
            shade = head / max(heads - 1, 1)
            colour = plt.get_cmap(ORDERED)(shade)
            axes.plot(range(1 - T, 1), weights[head].tolist(), color=colour, label=f"head {head + 1}")
        axes.set(
            title="How far each head looks",
            xlabel="position of the key, counted from the query",
            ylabel="weight if all words are alike",
            ylim=(0, None),
        )
        axes.legend(loc="upper left", ncols=2, fontsize=9)
        return finished(
            figure,
            f"Weights of {heads} heads over the last {T} positions. The first head looks near, the last far.",
        )


def accuracy_by_length(curves: Mapping[str, Sequence[float]], at: Sequence[int], trained_on: int) -> Figure:
    """Accuracy of models with different encodings, by name, against the number of letters `at`."""
    import matplotlib.pyplot as plt

    with styled():
        figure, axes = plt.subplots(figsize=WIDE)
        for k, ((name, values), colour, marker) in enumerate(zip(curves.items(), COLOURS, MARKERS)):
            # Two curves may coincide, so one is dashed to show the one below, and later markers are smaller.
            look = {"linestyle": "-" if k % 2 else (0, (3, 2)), "markersize": 9 - k}
            axes.plot(at, [100 * value for value in values], color=colour, marker=marker, label=name, **look)
        axes.axvline(trained_on, color=GREY, linestyle="--", linewidth=1.2)
        axes.annotate(f"trained on {trained_on}", (trained_on, 4), (5, 0), textcoords="offset points", color=INK)
        axes.set_xscale("log", base=2)
        axes.set_xticks(list(at), [str(length) for length in at])
        axes.minorticks_off()
        axes.set(
            title="An echo three positions late", xlabel="letters in the list", ylabel="right letters, %", ylim=(0, 105)
        )
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
        last = ", ".join(f"{name} {values[-1]:.0%}" for name, values in curves.items())
        return finished(figure, f"Accuracy against the length of the list. At {at[-1]} letters: {last}.")


def attention_maps(maps: Mapping[str, Tensor], trained_on: int) -> Figure:
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
        row[0][0].set_ylabel("query")
        figure.supxlabel("key", fontsize=10)
        return finished(
            figure, f"Attention maps of {', '.join(maps)} on a list longer than the {trained_on} letters of training."
        )


# -- the widgets -----------------------------------------------------------------------------------------------------


def explorer(encode: Encode) -> VBox:
    """Sliders for the length, the width and a position, with table, wavelengths and dot products of `encode`."""
    n, width = _slider("positions", 64, 8, 512, 8), _slider("width D", 32, 2, 64, 2)
    position = _slider("position t", 20, 0, 63)
    figure = _three_panels()
    picture, spoken = live.picture("table, wavelengths and dot products"), live.spoken()

    def redraw(_: Any = None) -> None:
        position.max = n.value - 1  # a slider pulls its value below its maximum by itself
        _draw(figure, encode, n.value, width.value, position.value)
        picture.value = live.drawn(figure)
        spoken.value = _in_words(encode, n.value, width.value, position.value)

    return _assembled((n, width, position), redraw, picture, spoken)


def turning_pairs(rope: Rotate) -> VBox:
    """Sliders for a key's position and its distance from the query, with the pairs that `rope` turns and the score.

    The key is the query, turned by three positions. So the score is largest where the query stands three further on.
    """
    grid: dict[str, Any] = {"left": 0.015, "right": 0.965, "bottom": 0.24, "top": 0.84, "wspace": 0.12}
    figure = live.stage((8.6, 2.3), columns=_PAIRS + 1, width_ratios=[1] * _PAIRS + [1.8], **grid)
    figure.axes[-1].yaxis.tick_right()
    position, distance = _slider("key at s", 10, 0, 60), _slider("distance", 5, 0, _FAR)
    picture, spoken = live.picture("pairs of a query and a key, and their score over the distance"), live.spoken()

    def redraw(_: Any = None) -> None:
        scores = _draw_pairs(figure, rope, position.value, distance.value)
        picture.value = live.drawn(figure)
        parts = " ".join(f"{'+' if part >= 0 else '−'} {abs(part):.2f}" for part in scores)
        spoken.value = (
            f"Query at {position.value + distance.value}, key at {position.value}, so the distance is "
            f"{distance.value}. The score is {sum(scores):.2f}, and the pairs add {parts.removeprefix('+ ')} to it."
        )

    return _assembled((position, distance), redraw, picture, spoken)


def _slider(name: str, value: int, low: int, high: int, step: int = 1) -> Any:
    import ipywidgets as widgets

    look = {"style": {"description_width": "90px"}, "layout": widgets.Layout(width="300px")}
    return widgets.IntSlider(value=value, min=low, max=high, step=step, description=name, **look)


def _assembled(sliders: Sequence[Any], redraw: Callable[..., None], picture: Any, spoken: Any) -> VBox:
    """The widget: its sliders in a row, each of which calls `redraw`, and below them its picture and its sentence."""
    import ipywidgets as widgets

    for slider in sliders:
        slider.observe(redraw, "value")
    redraw()
    row = widgets.HBox(sliders, layout=widgets.Layout(flex_flow="row wrap"))
    return live.panel([row, picture, spoken])


# -- drawing ---------------------------------------------------------------------------------------------------------


def wavelengths(encode: Encode, d_model: int) -> list[float]:
    """How many positions each pair needs for a full turn, read off its first step."""
    first, second = encode(2, d_model).double().unflatten(1, (-1, 2))  # (D/2, 2) each: sine, cosine
    step = torch.atan2(second[:, 0], second[:, 1]) - torch.atan2(first[:, 0], first[:, 1])
    return [2 * math.pi / max(abs(angle), 1e-9) for angle in step.tolist()]


def _three_panels() -> Figure:
    figure = live.stage((8.6, 3.0), columns=3, left=0.08, right=0.985, bottom=0.17, top=0.88, wspace=0.32)
    for axes in figure.axes:
        axes.locator_params(nbins=4)  # every tick takes its time, and the sliders move all of them
    return figure


def _draw(figure: Figure, encode: Encode, n: int, d_model: int, position: int) -> None:
    table = encode(n, d_model).detach().cpu().float()
    with styled():
        left, middle, right = live.wiped(figure)
        _coloured(left, table)
        left.axhline(position, color=INK, linewidth=1.5)
        left.set(title="the table", xlabel="dimension", ylabel="position")
        left.grid(False)
        turns = wavelengths(encode, d_model)
        middle.semilogy(range(len(turns)), turns, color=BLUE, marker="o", markersize=4)
        middle.minorticks_off()
        middle.axhline(n, color=ORANGE, linestyle="--", linewidth=1.5)
        end = len(turns) - 1
        middle.annotate(
            f"{n} positions",
            (end, n),
            (0, 4),
            textcoords="offset points",
            color=for_words(ORANGE),
            fontsize=9,
            ha="right",
        )
        middle.set(title="positions for a full turn", xlabel="pair")
        dots = table @ table.T
        low, high = float(dots.min()), float(dots.max())
        room = 0.05 * (high - low) + 1e-6
        right.plot(range(n), dots[position].tolist(), color=GREEN, linewidth=1.5)
        right.axvline(position, color=INK, linewidth=1.5)
        right.set(title=f"dot product with t = {position}", xlabel="position", ylim=(low - room, high + room))


def _in_words(encode: Encode, n: int, d_model: int, position: int) -> str:
    turns = wavelengths(encode, d_model)
    within = sum(turn <= n for turn in turns)
    table = encode(n, d_model).detach()
    dots = table @ table[position]
    others = torch.cat([dots[:position], dots[position + 1 :]])
    return (
        f"{n} positions, {d_model} dimensions. {within} of {len(turns)} pairs make a full turn within the text. "
        f"The fastest needs {turns[0]:.1f} positions, the slowest {turns[-1]:,.0f}. Position {position} has the dot "
        f"product {float(dots[position]):.1f} with itself, and {float(others.max()):.1f} with the one most like it."
    )


def _draw_pairs(figure: Figure, rope: Rotate, key_at: int, distance: int) -> list[float]:
    """Draw a query's and a key's pairs, and the score over the distance. Return what each pair adds to the score."""
    query = torch.tensor([1.0, 0.0]).repeat(_PAIRS)[None, None, None]  # (1, 1, 1, D)
    key = rope(query, torch.tensor([3]))  # such a key is found three positions back
    keys = rope(key, torch.tensor([key_at])).detach()[0, 0].unflatten(-1, (-1, 2))  # (1, D/2, 2)
    everywhere = query.expand(-1, -1, _FAR + 1, -1)
    queries = rope(everywhere, key_at + torch.arange(_FAR + 1)).detach()[0, 0].unflatten(-1, (-1, 2))
    scores = (queries * keys).sum(-1)  # (distances, D/2)
    with styled():
        *dials, curve = live.wiped(figure)
        for i, axes in enumerate(dials):
            _dial(axes, *queries[distance, i].tolist())
            across, up = keys[0, i].tolist()
            _hand(axes, across, up, ORANGE, 1.5)
            axes.set_title(f"pair {i}", fontsize=10, loc="center")
            axes.text(0, -1.25, f"q · k = {float(scores[distance, i]):.2f}", ha="center", va="top", fontsize=9)
        dials[0].text(-1.1, 1.02, "q", color=BLUE, fontsize=10, weight="bold")
        dials[0].text(-0.8, 1.02, "k", color=for_words(ORANGE), fontsize=10, weight="bold")
        curve.plot(range(_FAR + 1), scores.sum(-1).tolist(), color=GREEN, linewidth=1.5)
        curve.axvline(distance, color=INK, linewidth=1.5)
        curve.set(title="score", xlabel="distance t − s", ylim=(-4.3, 4.3), yticks=[-4, -2, 0, 2, 4])
    return [float(score) for score in scores[distance]]


def _table(figure: Figure, axes: Axes, table: Tensor) -> None:
    image = _coloured(axes, table.detach().cpu().float())
    axes.set(xlabel="dimension", ylabel="position t")
    axes.grid(False)
    figure.colorbar(image, ax=axes, pad=0.02, ticks=[-1, 0, 1])


def _coloured(axes: Axes, table: Tensor) -> AxesImage:
    return axes.imshow(table.numpy(), cmap=DIVERGING, vmin=-1, vmax=1, aspect="auto", interpolation="nearest")


def _dial(axes: Axes, across: float, up: float) -> None:
    """A dial whose hand points to (across, up)."""
    from matplotlib.patches import Circle

    axes.add_patch(Circle((0, 0), 1.0, fill=False, edgecolor=GREY, linewidth=1.2))
    _hand(axes, across, up)
    axes.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15), xticks=[], yticks=[], aspect="equal")
    plain_axes(axes)


def _hand(axes: Axes, across: float, up: float, colour: str = BLUE, width: float = 2.5) -> None:
    axes.plot([0, across], [0, up], color=colour, linewidth=width, solid_capstyle="round")
    axes.plot([across], [up], "o", color=colour, markersize=4)
