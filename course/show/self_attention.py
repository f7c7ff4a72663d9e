"""Pictures of topic 06: fading memory, scores against width, weights, costs, recall, and four words to play with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from . import live
from .style import (
    BLUE,
    COLOURS,
    FAINT,
    GREEN,
    GREY,
    INK,
    MARKERS,
    ORANGE,
    PINK,
    SMALL,
    WIDE,
    finished,
    for_words,
    on_cell,
    plain_axes,
    styled,
)

if TYPE_CHECKING:
    from ipywidgets import VBox
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Attend = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]

WORDS = ("Ada", "likes", "her", "cat")
STARTING_VECTORS = {
    "q": [[0.5, 0.5], [1.0, -1.0], [1.3, 1.2], [-0.5, 1.0]],
    "k": [[2.5, 1.0], [-1.5, 0.5], [0.5, -2.0], [-0.5, 2.0]],
    "v": [[2.0, 2.0], [-2.0, 1.0], [-1.5, -2.0], [2.0, -1.5]],
}
"""Four words in two dimensions, so that they can be drawn. The query of `her` looks for a name, and `Ada` is one."""


# -- figures ---------------------------------------------------------------------------------------------------------


def memory(accuracy: Sequence[float], chance: float = 0.1) -> Figure:
    """Plot how often the digit of the first, second, ..., last pair can be read from the last state of an RNN."""
    import matplotlib.pyplot as plt

    positions = range(1, len(accuracy) + 1)
    with styled():
        figure, axes = plt.subplots(figsize=SMALL)
        axes.bar(positions, [100 * a for a in accuracy], color=BLUE, width=0.7)
        for place, a in zip(positions, accuracy):
            above = (place, 100 * max(a, chance))  # the line of guessing strikes no number
            axes.annotate(f"{100 * a:.0f}", above, (0, 3), textcoords="offset points", ha="center", fontsize=9)
        axes.axhline(100 * chance, color=ORANGE, linestyle="--", linewidth=1.5)
        axes.annotate(
            f"guessing, {chance:.0%}", (0.5, 100 * chance), (0, 26), textcoords="offset points", color=for_words(ORANGE)
        )
        axes.set(title="What is left in the last hidden state?", xlabel="position of the pair", ylim=(0, 112))
        axes.set(ylabel="digits read back, %", xticks=list(positions))
        axes.grid(axis="x", visible=False)
        return finished(
            figure,
            f"Bar chart. The digit of the last of {len(accuracy)} pairs is read back in {accuracy[-1]:.0%} of lists, "
            f"the digit of the first in {accuracy[0]:.0%}.",
        )


def scores_by_width(
    widths: Sequence[int], variance: Mapping[str, Sequence[float]], largest: Mapping[str, Sequence[float]], keys: int
) -> Figure:
    """Plot the variance of a score and the weight of the best of `keys` keys against the width D."""
    import matplotlib.pyplot as plt

    with styled():
        figure, (left, right) = plt.subplots(1, 2, figsize=WIDE)
        for (name, values), colour, marker in zip(variance.items(), (ORANGE, BLUE), MARKERS):
            left.loglog(widths, values, color=colour, marker=marker, label=name)
        for (name, values), colour, marker in zip(largest.items(), (ORANGE, BLUE), MARKERS):
            right.semilogx(widths, values, color=colour, marker=marker, label=name)
        right.axhline(1 / keys, color=GREY, linestyle=":", linewidth=1.5)
        right.annotate("all equal", (widths[-1], 1 / keys), (0, 4), textcoords="offset points", color=INK, ha="right")
        left.set(title="Variance of a score", xlabel="width D of queries and keys")
        right.set(title=f"Largest of {keys} weights", xlabel="width D of queries and keys", ylim=(0, 1.03))
        left.legend(loc="upper left")
        for axes in (left, right):
            axes.set_xticks(list(widths), [str(width) for width in widths])
            axes.minorticks_off()
        return finished(
            figure,
            "Without the division the variance of a score grows in proportion to D, and one key takes all "
            "the attention.",
        )


def attention_map(weights: Tensor, queries: Sequence[str], keys: Sequence[str], title: str = "") -> Figure:
    """Draw a heat map of weights (T, S), in which row i is how query i distributes its attention over the keys."""
    import matplotlib.pyplot as plt

    with styled():
        size = (1.6 + 0.52 * len(keys), 1.3 + 0.38 * len(queries))
        figure, axes = plt.subplots(figsize=size)
        _heat(axes, weights, queries, keys)
        axes.set(xlabel="keys", ylabel="queries")
        axes.set_title(title)
        return finished(figure, f"Heat map of attention weights, {len(queries)} queries by {len(keys)} keys.")


def costs(
    attention_cost: Callable[[int, int], Mapping[str, float]],
    crossover_length: Callable[[int], float],
    d: int = 512,
) -> Figure:
    """Plot what self-attention costs beside recurrence, by the paper's table and for whole layers, and its parts.

    `attention_cost` gives the paper's table, and `crossover_length` says where the curve of whole layers meets 1.
    """
    import matplotlib.pyplot as plt

    lengths = [2**i for i in range(4, 18)]
    table = [attention_cost(n, d) for n in lengths]
    parts = [_parts_of_attention(n, d) for n in lengths]
    whole = [sum(part.values()) / _recurrent_layer(n, d) for n, part in zip(lengths, parts)]
    meeting = float(crossover_length(d))
    with styled():
        figure, (left, right) = plt.subplots(1, 2, figsize=WIDE)
        by_table = [cost["self_attention"] / cost["recurrent"] for cost in table]
        left.loglog(lengths, by_table, color=ORANGE, marker="s", label="the paper's table")
        left.loglog(lengths, whole, color=BLUE, marker="o", label="whole layers")
        left.axhline(1, color=GREY, linewidth=1.2)
        if meeting > 0:
            left.axvline(meeting, ymax=0.78, color=GREY, linestyle="--", linewidth=1.2)
            left.annotate(f"n = {meeting:.4g}", (meeting, left.get_ylim()[0]), (5, 5), textcoords="offset points")
        left.set(title="Attention's cost / recurrence's", xlabel="number of words n")
        left.set_yticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
        left.legend(loc="upper left")
        shares = [[100 * part[name] / sum(part.values()) for part in parts] for name in parts[0]]
        colours, places = (GREEN, PINK, BLUE), ((0.04, 0.1, "left"), (0.04, 0.6, "left"), (0.96, 0.75, "right"))
        right.stackplot(lengths, shares, colors=colours)
        for name, colour, (x, y, side) in zip(parts[0], colours, places):
            right.text(x, y, name, transform=right.transAxes, ha=side, color=on_cell(colour))
        right.set(title="Inside the whole attention layer", xlabel="number of words n", ylabel="multiplications, %")
        right.set(xscale="log", xlim=(lengths[0], lengths[-1]), ylim=(0, 100))
        return finished(
            figure,
            f"At width {d} a whole attention layer costs {whole[0]:.2f} of a recurrent one for {lengths[0]} words and "
            f"{whole[-1]:.0f} times as much for {lengths[-1]}. A line marks n = {meeting:.4g}. Scores and "
            f"mixing grow from {shares[-1][0]:.0f} to {shares[-1][-1]:.0f} % of the attention layer.",
        )


def _parts_of_attention(n: int, d: int) -> dict[str, int]:
    """Multiplications of a whole attention layer over n words of width d, part by part."""
    return {"projections": 4 * n * d * d, "feed-forward": 8 * n * d * d, "scores and mixing": 2 * n * n * d}


def _recurrent_layer(n: int, d: int) -> int:
    """Multiplications of an LSTM over n words of width d, and of a feed-forward network behind it."""
    return 8 * n * d * d + 8 * n * d * d


def recall(slots: Sequence[int], accuracy: Mapping[str, Sequence[float]], trained_on: int) -> Figure:
    """Plot the accuracy of several models, by name, against the number of pairs in a list."""
    import matplotlib.pyplot as plt

    with styled():
        figure, axes = plt.subplots(figsize=WIDE)
        for (name, values), colour, marker in zip(accuracy.items(), (BLUE, ORANGE, PINK, *COLOURS), MARKERS):
            axes.plot(slots, [100 * value for value in values], color=colour, marker=marker, label=name)
        axes.axvline(trained_on, color=GREY, linestyle="--", linewidth=1.2)
        axes.annotate(f"trained on {trained_on} pairs", (trained_on, 62), (6, 0), textcoords="offset points", color=INK)
        axes.axhline(10, color=GREY, linestyle=":", linewidth=1.5)
        axes.annotate("guessing", (slots[-1], 10), (0, -12), textcoords="offset points", color=INK, ha="right")
        axes.set(title="Recall of a pair", xlabel="pairs in the list", ylabel="right answers, %", ylim=(0, 105))
        axes.set_xticks(list(slots))
        axes.legend(loc="center right")
        last = ", ".join(f"{name} {values[-1]:.0%}" for name, values in accuracy.items())
        return finished(figure, f"Accuracy against the number of pairs in a list. At {slots[-1]} pairs: {last}.")


# -- the widget ------------------------------------------------------------------------------------------------------


def playground(attend: Attend) -> VBox:
    """A widget: sliders for q, k and v of four words, and the weights and outputs that `attend` computes from them."""
    import ipywidgets as widgets

    vectors = {role: torch.tensor(rows) for role, rows in STARTING_VECTORS.items()}
    figure = _three_panels()
    picture, spoken = live.picture("keys and one query, the weights, and the mixture of values"), live.spoken()
    words = widgets.ToggleButtons(options=[(word, i) for i, word in enumerate(WORDS)], value=2, description="word")
    reset = widgets.Button(description="start again", tooltip="put all vectors back where they began")
    sliders = _vector_sliders(vectors, words.value)
    busy = False

    def redraw() -> None:
        _draw_words(figure, **vectors, attend=attend, chosen=words.value)
        picture.value = live.drawn(figure)
        spoken.value = _words_in_words(**vectors, attend=attend, chosen=words.value)

    def show_sliders(_: Any = None) -> None:
        nonlocal busy
        busy = True
        for (role, axis), slider in sliders.items():
            slider.value = float(vectors[role][words.value, axis])
        busy = False
        redraw()

    def moved(_change: Any) -> None:
        if not busy:
            for (role, axis), slider in sliders.items():
                vectors[role][words.value, axis] = slider.value
            redraw()

    def start_again(_: Any) -> None:
        for role, rows in STARTING_VECTORS.items():
            vectors[role][:] = torch.tensor(rows)
        show_sliders()

    words.observe(show_sliders, "value")
    reset.on_click(start_again)
    for slider in sliders.values():
        slider.observe(moved, "value")
    redraw()
    pairs = [widgets.VBox([sliders[role, 0], sliders[role, 1]]) for role in "qkv"]
    words.style.button_width = "90px"
    rows = widgets.Layout(flex_flow="row wrap", align_items="flex-end")
    return live.panel([widgets.HBox([words, reset], layout=rows), widgets.HBox(pairs, layout=rows), picture, spoken])


def _vector_sliders(vectors: Mapping[str, Tensor], chosen: int) -> dict[tuple[str, int], Any]:
    """Sliders for both numbers of the query, the key and the value of a word."""
    import ipywidgets as widgets

    return {
        (role, axis): widgets.FloatSlider(
            min=-3.0,
            max=3.0,
            step=0.1,
            value=float(vectors[role][chosen, axis]),
            description=f"{name} {'xy'[axis]}",
            readout_format=".1f",
            layout=widgets.Layout(width="260px"),
        )
        for role, name in (("q", "query"), ("k", "key"), ("v", "value"))
        for axis in (0, 1)
    }


def _words_in_words(q: Tensor, k: Tensor, v: Tensor, attend: Attend, chosen: int) -> str:
    output, weights = attend(q[None], k[None], v[None])
    shares = ", ".join(f"{WORDS[j]} {float(weight):.0%}" for j, weight in enumerate(weights[0, chosen]))
    x, y = (float(number) for number in output[0, chosen])
    return f"“{WORDS[chosen]}” looks at: {shares}. Its output is ({x:.2f}, {y:.2f})."


# -- drawing ---------------------------------------------------------------------------------------------------------


def _three_panels() -> Figure:
    return live.stage((8.6, 3.1), columns=3, left=0.01, right=0.99, bottom=0.1, top=0.88, wspace=0.24)


def _draw_words(figure: Figure, q: Tensor, k: Tensor, v: Tensor, attend: Attend, chosen: int) -> None:
    output, weights = attend(q[None], k[None], v[None])
    with styled():
        left, middle, right = live.wiped(figure)
        _plane(left, "keys, and one query")
        for word, (x, y) in zip(WORDS, k.tolist()):
            _arrow(left, x, y, BLUE)
            _label(left, word, x, y, BLUE)
        asks = q[chosen].tolist()
        _arrow(left, asks[0], asks[1], ORANGE)
        _label(left, f"{WORDS[chosen]}?", asks[0], asks[1], ORANGE)
        _heat(middle, weights[0], WORDS, WORDS)
        middle.set_title("weights")
        outline = {"fill": False, "edgecolor": ORANGE, "linewidth": 2.5, "clip_on": False}
        middle.add_patch(_rectangle((-0.5, chosen - 0.5), len(WORDS), 1, **outline))
        _plane(right, "values and their mixture")
        (x, y) = output[0, chosen].tolist()
        for word, (a, b), weight in zip(WORDS, v.tolist(), weights[0, chosen].tolist()):
            right.plot([a, x], [b, y], color=ORANGE, linewidth=0.3 + 6 * weight, alpha=0.5, zorder=1)
            right.plot(a, b, "o", color=GREEN, markersize=7)
            _label(right, word, a, b, GREEN)
        right.plot(x, y, "D", color=ORANGE, markersize=9)


def _heat(axes: Axes, weights: Tensor, queries: Sequence[str], keys: Sequence[str]) -> None:
    """Draw weights as colours from 0 to 1 and as numbers."""
    values = weights.detach().cpu().float()
    axes.imshow(values.numpy(), vmin=0.0, vmax=1.0, aspect="auto")
    axes.set_xticks(range(len(keys)), list(keys))
    axes.set_yticks(range(len(queries)), list(queries))
    plain_axes(axes)
    for i, row in enumerate(values.tolist()):
        for j, weight in enumerate(row):
            dark = weight > 0.4
            axes.text(j, i, f"{weight:.2f}", ha="center", va="center", fontsize=9, color="black" if dark else "white")


def _plane(axes: Axes, title: str) -> None:
    axes.set(xlim=(-3.6, 3.6), ylim=(-3.6, 3.6), xticks=[], yticks=[])
    axes.set_title(title)
    for side in ("left", "bottom", "right", "top"):
        axes.spines[side].set(visible=True, color=FAINT)
    axes.axhline(0, color=FAINT, linewidth=1, zorder=0)
    axes.axvline(0, color=FAINT, linewidth=1, zorder=0)


def _arrow(axes: Axes, x: float, y: float, colour: str) -> None:
    properties = {
        "arrowstyle": "-|>",
        "color": colour,
        "linewidth": 2,
        "shrinkA": 0,
        "shrinkB": 0,
        "mutation_scale": 14,
    }
    axes.annotate("", (x, y), (0, 0), arrowprops=properties)


def _label(axes: Axes, word: str, x: float, y: float, colour: str) -> None:
    """Write a word beside its point, further out along the line from the origin."""
    far = max((x * x + y * y) ** 0.5, 1e-6)
    beside = (17 * x / far, 12 * y / far)
    axes.annotate(word, (x, y), beside, textcoords="offset points", color=for_words(colour), ha="center", va="center")


def _rectangle(corner: tuple[float, float], width: float, height: float, **style: Any) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(corner, width, height, **style)
