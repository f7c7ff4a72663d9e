"""Pictures of topic 07: columns of heads, what each head looks at, what it contributes, and how many are too many."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from . import live
from .style import AMBER, BLUE, COLOURS, GREY, INK, MARKERS, ORANGE, SKY, WIDE, finished, on_cell, plain_axes, styled

if TYPE_CHECKING:
    from ipywidgets import VBox
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Split = Callable[[Tensor, int], Tensor]
RELATIONS = (BLUE, ORANGE, GREY)


# -- figures ---------------------------------------------------------------------------------------------------------


def shares(split_heads: Split, n_words: int = 4, width: int = 6, n_heads: int = 2) -> Figure:
    """Which numbers of a sentence go to which head, by `split_heads` and by a reshape alone."""
    import matplotlib.pyplot as plt

    x = torch.arange(n_words * width).view(1, n_words, width)
    ways = {"split_heads": split_heads(x, n_heads), "reshape alone": x.reshape(1, n_heads, n_words, -1)}
    with styled():
        figure, panels = plt.subplots(1, 2, figsize=(7.2, 0.9 + 0.42 * n_words))
        for axes, (name, heads) in zip(panels, ways.items()):
            owner = torch.full((n_words * width,), -1)
            for head, numbers in enumerate(heads[0]):
                owner[numbers.flatten()] = head
            _owned(axes, owner.view(n_words, width).tolist())
            axes.set_title(name)
            axes.set(xlabel="columns of a word", ylabel="words")
        return finished(
            figure,
            f"The numbers of {n_words} words, coloured by head: split_heads cuts columns, a reshape alone cuts words.",
        )


def head_maps(
    weights: Tensor, words: Sequence[str], asking: Sequence[str], relations: Mapping[str, Sequence[int]]
) -> Figure:
    """A heat map a head, weights (h, T, S). `relations` maps a name to the position of each query's key."""
    import matplotlib.pyplot as plt

    values = weights.detach().cpu().float()
    h = len(values)
    with styled():
        figure, panels = plt.subplots(1, h, figsize=(1.7 + 3.0 * h, 3.6), sharey=True, squeeze=False)
        for head, axes in enumerate(panels[0]):
            _percent_map(axes, values[head])
            axes.set_xticks(range(len(words)), list(words))
            axes.set_yticks(range(len(asking)), list(asking))
            axes.set_title(f"head {head + 1}")
            axes.set(xlabel="looks at")
            for (name, places), marker, colour in zip(relations.items(), ("o", "s"), (SKY, AMBER)):
                style = {"markersize": 19, "markerfacecolor": "none", "markeredgewidth": 2}
                rows = range(len(places))
                axes.plot(places, rows, marker, markeredgecolor=colour, label=name, linestyle="", **style)
        handles, names = panels[0][0].get_legend_handles_labels()
        legend = figure.legend(handles, names, loc="outside lower left", ncols=len(names), labelspacing=1.2)
        for handle in legend.legend_handles:
            handle.set_markersize(9)
        best = {name: _best_head(values, places) for name, places in relations.items()}
        told = ", ".join(f"head {head + 1} puts {share:.0%} on the {name}" for name, (head, share) in best.items())
        return finished(figure, f"Attention weights of {h} heads in percent: {told}.")


def by_relation(
    rows: Mapping[str, Sequence[float]], relations: Sequence[str], title: str, ylabel: str, dashed: float | None = None
) -> Figure:
    """Groups of bars, one group a row (a head, or a way to run the model), one bar a relation, shares from 0 to 1."""
    import matplotlib.pyplot as plt

    width = 0.8 / len(relations)
    with styled():
        figure, axes = plt.subplots(figsize=(2.6 + 1.5 * len(rows), 3.0))
        for number, (relation, colour) in enumerate(zip(relations, RELATIONS)):
            heights = [100 * values[number] for values in rows.values()]
            places = [group + (number - (len(relations) - 1) / 2) * width for group in range(len(rows))]
            bars = axes.bar(places, heights, width=0.92 * width, color=colour, label=relation)
            axes.bar_label(bars, [f"{height:.0f}" for height in heights], padding=2, fontsize=9)
        if dashed is not None:
            axes.axhline(100 * dashed, color=INK, linestyle=":", linewidth=1.2)
            edge = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
            axes.annotate("guessing", (1.0, 100 * dashed), (4, 0), va="center", fontsize=8, **edge)
        axes.set(title=title, ylabel=ylabel, ylim=(0, 114), yticks=range(0, 101, 25))
        axes.set_xticks(range(len(rows)), list(rows))
        axes.grid(axis="x", visible=False)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
        told = "; ".join(
            f"{name}: " + ", ".join(f"{relation} {value:.0%}" for relation, value in zip(relations, values))
            for name, values in rows.items()
        )
        return finished(figure, f"Bars, in percent. {told}.")


def by_heads(heads: Sequence[int], accuracy: Mapping[str, Sequence[float]], parameters: Sequence[int]) -> Figure:
    """Accuracy against the number of heads at one width. Below each number stand the layer's parameters."""
    import matplotlib.pyplot as plt

    with styled():
        figure, axes = plt.subplots(figsize=WIDE)
        for (name, values), colour, marker in zip(accuracy.items(), (BLUE, ORANGE, *COLOURS[2:]), MARKERS):
            axes.semilogx(heads, [100 * value for value in values], base=2, color=colour, marker=marker, label=name)
        axes.axhline(10, color=GREY, linestyle=":", linewidth=1.5)
        axes.annotate("guessing", (heads[-1], 10), (0, 4), textcoords="offset points", color=INK, ha="right")
        axes.set(title="The same width, shared by more heads", ylabel="right answers, %", ylim=(0, 105))
        axes.set_xticks(list(heads), [f"{h}\n{count:,}" for h, count in zip(heads, parameters)])
        axes.minorticks_off()
        axes.set_xlabel("heads, and parameters of the layer")
        axes.legend(loc="center right")
        told = "; ".join(
            f"{name} " + ", ".join(f"{value:.0%} with {h}" for h, value in zip(heads, values))
            for name, values in accuracy.items()
        )
        return finished(figure, f"Right answers by number of heads: {told}.")


# -- the widget ------------------------------------------------------------------------------------------------------


def explorer(layers: Sequence[Tensor], words: Sequence[str], asking: Sequence[str]) -> VBox:
    """Buttons for a layer, a head and a token. `layers` holds the weights (h, T, S) of each layer."""
    import ipywidgets as widgets

    figure = _two_panels()
    chosen_layer = widgets.ToggleButtons(options=list(range(1, len(layers) + 1)), description="layer")
    chosen_head = widgets.ToggleButtons(options=list(range(1, len(layers[0]) + 1)), description="head")
    token = widgets.ToggleButtons(options=[(word, i) for i, word in enumerate(words)], description="token")
    for buttons in (chosen_layer, chosen_head, token):
        buttons.style.button_width = "52px"
    picture, spoken = live.picture("all weights of a head, and what the token looks at"), live.spoken()
    busy = False

    def redraw(_: Any = None) -> None:
        if not busy:
            layer, head = chosen_layer.value, chosen_head.value
            _draw_looks(figure, layers[layer - 1][head - 1], words, asking, token.value)
            picture.value = live.drawn(figure)
            spoken.value = _looks_in_words(layers, words, layer, head, token.value)

    def other_layer(_: Any) -> None:
        nonlocal busy
        busy = True  # as many buttons as this layer has heads, and the same head if it has that one
        head, count = chosen_head.value, len(layers[chosen_layer.value - 1])
        if len(chosen_head.options) != count:
            chosen_head.options = list(range(1, count + 1))
            chosen_head.value = min(head, count)
        busy = False
        redraw()

    chosen_layer.observe(other_layer, "value")
    chosen_head.observe(redraw, "value")
    token.observe(redraw, "value")
    redraw()
    rows = widgets.Layout(flex_flow="row wrap", grid_gap="0 24px")  # the layer's buttons, and the head's
    return live.panel([widgets.HBox([chosen_layer, chosen_head], layout=rows), token, picture, spoken])


def _looks_in_words(layers: Sequence[Tensor], words: Sequence[str], layer: int, head: int, token: int) -> str:
    row = layers[layer - 1][head - 1][token].detach().cpu()
    first, *others = row.argsort(descending=True)[:3].tolist()
    best = [first, *(place for place in others if row[place] >= 0.005)]  # what is not 0%
    seen = ", ".join(f"{words[place]} {float(row[place]):.0%}" for place in best)
    return f"Layer {layer}, head {head}: “{words[token]}” looks at {seen}."


# -- drawing ---------------------------------------------------------------------------------------------------------


def _owned(axes: Axes, owners: Sequence[Sequence[int]]) -> None:
    """A table of cells with the colour and number of their head."""
    for t, row in enumerate(owners):
        for c, head in enumerate(row):
            if head < 0:
                continue
            colour = COLOURS[head % len(COLOURS)]
            axes.add_patch(_rectangle((c - 0.46, t - 0.46), 0.92, 0.92, facecolor=colour, linewidth=0))
            axes.text(c, t, f"{head + 1}", ha="center", va="center", color=on_cell(colour), fontsize=9)
    axes.set(xlim=(-0.6, len(owners[0]) - 0.4), ylim=(len(owners) - 0.4, -0.6))
    axes.set_xticks(range(len(owners[0])))
    axes.set_yticks(range(len(owners)))
    plain_axes(axes)


def _percent_map(axes: Axes, weights: Tensor) -> None:
    """Weights as colours from 0 to 1, and in percent from 5 percent on."""
    values = weights.detach().cpu().float()
    axes.imshow(values.numpy(), vmin=0.0, vmax=1.0, aspect="auto")
    plain_axes(axes)
    for i, row in enumerate(values.tolist()):
        for j, weight in enumerate(row):
            if weight >= 0.05:
                colour = "black" if weight > 0.4 else "white"
                axes.text(j, i, f"{100 * weight:.0f}", ha="center", va="center", fontsize=8, color=colour)


def _best_head(weights: Tensor, places: Sequence[int]) -> tuple[int, float]:
    """The head with the most weight on these positions, and its mean weight over the queries."""
    found = weights[:, torch.arange(len(places)), torch.as_tensor(list(places))].mean(1)
    head = int(found.argmax())
    return head, float(found[head])


def _two_panels() -> Figure:
    return live.stage((8.6, 3.7), columns=2, left=0.22, right=0.97, bottom=0.09, top=0.91, wspace=0.16)


def _draw_looks(figure: Figure, weights: Tensor, words: Sequence[str], asking: Sequence[str], token: int) -> None:
    with styled():
        left, right = live.wiped(figure)
        _percent_map(left, weights)
        left.set_xticks(range(len(words)), list(words))
        left.set_yticks(range(len(asking)), list(asking))
        left.set_title("all tokens")
        outline = {"fill": False, "edgecolor": ORANGE, "linewidth": 2.5, "clip_on": False}
        left.add_patch(_rectangle((-0.5, token - 0.5), len(words), 1, **outline))
        right.set_axis_off()  # nothing to measure here, and ticks cost time
        right.set(xlim=(-0.35, 1.35), ylim=(len(words) - 0.5, -0.5))
        right.set_title(f"what {words[token]} looks at")
        for place, (word, weight) in enumerate(zip(words, weights[token].tolist())):
            right.plot(
                [0.06, 0.94], [token, place], color=ORANGE, linewidth=0.3 + 7 * weight, alpha=0.25 + 0.7 * weight
            )
            right.text(1.0, place, word, ha="left", va="center", color=INK)
        right.text(0.0, token, words[token], ha="right", va="center", color=INK, weight="bold")


def _rectangle(corner: tuple[float, float], width: float, height: float, **style: Any) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(corner, width, height, **style)
