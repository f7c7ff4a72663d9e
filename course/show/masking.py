"""Pictures of topic 09: masks, losses of padded batches, corrupted words, models that peek, and a mask to paint."""

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
    SKY,
    SMALL,
    WIDE,
    finished,
    plain_axes,
    styled,
)

if TYPE_CHECKING:
    from ipywidgets import VBox
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Softmax = Callable[[Tensor, Tensor], Tensor]

WORDS = ("Ada", "eats", "warm", "bread", "(pad)")
REAL = 4
"""The words of the painted mask. The last one is padding."""
SCORES = torch.tensor(
    [
        [0.4, 1.2, -0.3, 0.1, 1.5],
        [1.6, 0.2, 0.9, -0.8, 0.3],
        [0.5, 1.8, 0.4, 0.7, -0.5],
        [1.1, 0.3, 0.9, 0.2, 1.0],
        [0.2, -0.4, 0.6, 1.3, 0.8],
    ]
)
"""Scores of the painted attention. Any numbers will do, as long as no key has the largest score everywhere."""
STARTS = ("everything", "padding", "causal", "causal and padding", "one word ahead", "the last two words")


def starting_mask(name: str) -> Tensor:
    """One of `STARTS` as a mask (T, T) of the five words."""
    T = len(WORDS)
    everything = torch.ones(T, T, dtype=torch.bool)
    real = torch.arange(T) < REAL
    return {
        "everything": everything,
        "padding": everything & real,
        "causal": everything.tril(),
        "causal and padding": everything.tril() & real,
        "one word ahead": everything.tril(1) & real,
        "the last two words": everything.tril().triu(-1) & real,
    }[name].clone()


def reach(mask: Tensor, layers: int) -> Tensor:
    """Whether position t (row) has information on word s (column) after so many layers with this mask (T, T)."""
    step = (mask | torch.eye(len(mask), dtype=torch.bool)).float()  # the residual connection keeps each word's own
    known = torch.eye(len(mask))
    for _ in range(layers):
        known = (step @ known > 0).float()
    return known.bool()


# -- figures ---------------------------------------------------------------------------------------------------------


def masks(panels: Mapping[str, Tensor], words: Sequence[str]) -> Figure:
    """Masks (T or 1, S) of one sentence side by side. Rows are queries, columns are keys, and blue is allowed."""
    import matplotlib.pyplot as plt

    with styled():
        figure, row = plt.subplots(1, len(panels), figsize=(0.7 + 2.5 * len(panels), 3.2), squeeze=False)
        for axes, (name, mask) in zip(row[0], panels.items()):
            _grid(axes, mask.expand(len(words), -1), words)
            _ticks(axes, words)
            axes.tick_params("x", rotation=90)
            axes.set_title(name)
        row[0][0].set_ylabel("query")
        spoken = ", ".join(f"{name} {int(mask.sum())} of {mask.numel()}" for name, mask in panels.items())
        return finished(figure, f"Masks over {' '.join(words)}. Allowed entries: {spoken}.")


def loss_by_padding(columns: Sequence[int], losses: Mapping[str, Sequence[float]]) -> Figure:
    """The loss of one batch, computed in several ways, against the number of columns of padding added."""
    import matplotlib.pyplot as plt

    with styled():
        figure, axes = plt.subplots(figsize=SMALL)
        for (name, values), colour, marker in zip(losses.items(), COLOURS, MARKERS):
            axes.plot(columns, values, color=colour, marker=marker, markersize=4, label=name)
        axes.set(title="The same sentences, padded", xlabel="columns of padding added", ylabel="loss")
        axes.set_ylim(0, None)
        axes.legend(loc="lower left", fontsize=9)
        ends = ", ".join(f"{name} from {values[0]:.2f} to {values[-1]:.2f}" for name, values in losses.items())
        return finished(figure, f"Loss against added padding: {ends}.")


def corrupted_tokens(counts: Mapping[str, int], total: int) -> Figure:
    """Bars that show what became of the chosen tokens, of `total` tokens that could be chosen."""
    import matplotlib.pyplot as plt

    chosen = sum(counts.values())
    with styled():
        figure, axes = plt.subplots(figsize=SMALL)
        shares = [100 * count / chosen for count in counts.values()]
        bars = axes.bar(list(counts), shares, color=(BLUE, ORANGE, GREEN), width=0.6)
        axes.bar_label(bars, [f"{share:.1f} %" for share in shares], padding=2)
        picked = f"{100 * chosen / total:.1f} %"
        axes.set(title=f"{picked} of {total:,} tokens were chosen", ylabel="of those, %", ylim=(0, 95))
        axes.grid(axis="x", visible=False)
        spoken = ", ".join(f"{name} {share:.1f} %" for name, share in zip(counts, shares))
        return finished(figure, f"{picked} of the tokens were chosen. What became of them: {spoken}.")


def learning_curves(losses: Mapping[str, Sequence[float]], floor: float, smooth: int = 20) -> Figure:
    """Training losses, smoothed, against the number of batches, and the loss of the grammar as a line."""
    import matplotlib.pyplot as plt

    with styled():
        figure, axes = plt.subplots(figsize=WIDE)
        for (name, values), colour in zip(losses.items(), (BLUE, ORANGE, *COLOURS[2:])):
            mean = torch.tensor(values).unfold(0, smooth, 1).mean(-1)
            axes.plot(range(smooth, len(values) + 1), mean.tolist(), color=colour, label=name)
        axes.axhline(floor, color=INK, linestyle="--", linewidth=1.3)
        end = (len(next(iter(losses.values()))), floor)
        name = f"the grammar, {floor:.2f}"
        axes.annotate(name, end, (0, -13), textcoords="offset points", fontsize=9, ha="right")
        axes.set(title="Too good to be true", xlabel="batches", ylabel="training loss, nats a word", ylim=(0, None))
        axes.legend(loc="center right", bbox_to_anchor=(1.0, 0.3))
        ends = ", ".join(f"{name} ends at {sum(v[-smooth:]) / len(v[-smooth:]):.2f}" for name, v in losses.items())
        return finished(figure, f"Training losses: {ends}. The grammar has {floor:.2f}.")


def surprise_by_word(words: Sequence[str], found: Mapping[str, Sequence[float]], cap: float = 12.0) -> Figure:
    """The surprise -log p of each word of a sentence for several models, up to `cap`."""
    import matplotlib.pyplot as plt

    width = 0.8 / len(found)
    with styled():
        figure, axes = plt.subplots(figsize=(max(7.2, 0.75 * len(words)), 3.0))
        for row, ((name, values), colour) in enumerate(zip(found.items(), (GREY, BLUE, ORANGE, GREEN))):
            at = [i + (row - (len(found) - 1) / 2) * width for i in range(len(words))]
            axes.bar(at, [min(value, cap) for value in values], width, color=colour, label=name)
        axes.set_xticks(range(len(words)), list(words))
        axes.set(title="How surprising is each word?", ylabel="−log p of the word, nats", ylim=(0, 1.05 * cap))
        ticks = [cap * quarter / 4 for quarter in range(5)]
        axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks[:-1]] + [f"{cap:g}+"])
        axes.grid(axis="x", visible=False)
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=len(found), fontsize=9)
        means = ", ".join(f"{name} {sum(v) / len(v):.2f}" for name, v in found.items())
        return finished(figure, f"Surprise by each word of “{' '.join(words)}”. Means: {means}.")


def heads(maps: Mapping[str, Tensor], words: Sequence[str]) -> Figure:
    """The weights (h, T, T) of all heads of one layer for several models, a row of heads for each model."""
    import matplotlib.pyplot as plt

    number = max(len(weights) for weights in maps.values())
    with styled():
        size = (1.2 + 2.0 * number, 0.6 + 2.1 * len(maps))
        figure, grid = plt.subplots(len(maps), number, figsize=size, squeeze=False, sharex=True, sharey=True)
        for row, (name, weights) in zip(grid, maps.items()):
            for head, (axes, values) in enumerate(zip(row, weights.detach().cpu())):
                axes.imshow(values.numpy(), vmin=0.0, vmax=1.0)
                axes.set_xticks(range(len(words)), list(words), rotation=90, fontsize=8)
                axes.set_yticks(range(len(words)), list(words), fontsize=8)
                axes.set_title(f"{name}, head {head + 1}", fontsize=9)
                plain_axes(axes)
        ahead = ", ".join(f"{name} {float(w.triu(1).sum() / w.sum()):.0%}" for name, w in maps.items())
        return finished(figure, f"Attention maps over {' '.join(words)}. Share of attention on later words: {ahead}.")


# -- the widget ------------------------------------------------------------------------------------------------------


def painter(masked_softmax: Softmax) -> VBox:
    """A grid of switches, one for each pair of words, with the weights and what each word knows after some layers."""
    import ipywidgets as widgets

    T = len(WORDS)
    begin = live.choice("start from", STARTS)
    begin.value = "one word ahead"
    layers = widgets.IntSlider(value=2, min=1, max=4, description="layers")
    cell = widgets.Layout(width="52px", margin="1px")
    switches = [
        [widgets.ToggleButton(layout=cell, tooltip=f"{asks} may look at {seen}") for seen in WORDS] for asks in WORDS
    ]
    picture, spoken = live.picture("the mask, its attention weights, and which words each word knows"), live.spoken(3)
    figure = _three_panels()
    busy = False

    def redraw(_: Any = None) -> None:
        if busy:
            return
        mask = torch.tensor([[bool(switch.value) for switch in row] for row in switches])
        for row in switches:
            for switch in row:
                switch.description = "yes" if switch.value else "-"
        _draw(figure, mask, masked_softmax, layers.value)
        picture.value = live.drawn(figure)
        spoken.value = in_words(mask, layers.value)

    def restart(_: Any = None) -> None:
        nonlocal busy
        busy = True
        for row, allowed in zip(switches, starting_mask(begin.value).tolist()):
            for switch, value in zip(row, allowed):
                switch.value = value
        busy = False
        redraw()

    begin.observe(restart, "value")
    layers.observe(redraw, "value")
    for row in switches:
        for switch in row:
            switch.observe(redraw, "value")
    restart()
    name = widgets.Layout(width="52px", margin="1px")
    head = widgets.HBox([widgets.Label("", layout=name), *(widgets.Label(word, layout=name) for word in WORDS)])
    rows = [widgets.HBox([widgets.Label(WORDS[t], layout=name), *switches[t]]) for t in range(T)]
    controls = widgets.HBox([begin, layers], layout=widgets.Layout(flex_flow="row wrap"))
    return live.panel([controls, head, *rows, picture, spoken])


def in_words(mask: Tensor, layers: int) -> str:
    """What each word knows with the painted mask, and whether it knows the word it has to predict, in sentences."""
    known = reach(mask, layers)
    told = "After one layer" if layers == 1 else f"After {layers} layers"
    parts = [f"“{WORDS[t]}” knows {_listed(known[t])}" for t in range(REAL)]
    peeks = [WORDS[t] for t in range(REAL) if bool(known[t, t + 1 : REAL].any())]
    alone = [WORDS[t] for t in range(REAL) if not bool(mask[t].any())]
    padded = [WORDS[t] for t in range(REAL) if bool(mask[t, REAL:].any())]
    know = "knows" if len(peeks) == 1 else "know"
    end = f"This is a leak, because {_and(peeks)} {know} later words." if peeks else "No word knows a later word."
    if padded:
        end += f" The padding is open to {_and(padded)}."
    if alone:
        end += f" {_and(alone)} may look at nothing, which gives a row of zeros."
    return f"{told}, {', '.join(parts)}. {end}"


def _listed(row: Tensor) -> str:
    return _and([word for word, known in zip(WORDS, row.tolist()) if known]) or "nothing"


def _and(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


# -- drawing ---------------------------------------------------------------------------------------------------------


def _three_panels() -> Figure:
    figure = live.stage((8.6, 3.1), columns=3, left=0.07, right=0.99, bottom=0.12, top=0.86, wspace=0.28)
    with styled():
        for axes in figure.axes:
            _ticks(axes, WORDS)
    return figure


def _draw(figure: Figure, mask: Tensor, masked_softmax: Softmax, layers: int) -> None:
    weights = masked_softmax(SCORES, mask)
    with styled():
        left, middle, right = live.wiped(figure)
        _grid(left, mask, WORDS)
        left.set_title("the mask")
        middle.imshow(weights.detach().cpu().numpy(), vmin=0.0, vmax=1.0)
        for t, row in enumerate(weights.tolist()):
            for s, weight in enumerate(row):
                shade = "black" if weight > 0.4 else "white"
                number = f"{weight:.2f}" if weight else "0"
                middle.text(s, t, number, ha="center", va="center", fontsize=9, color=shade)
        middle.set_title("the attention weights")
        _grid(right, reach(mask, layers), WORDS, direct_mask=mask)
        right.set_title("known after 1 layer" if layers == 1 else f"known after {layers} layers")


def _grid(axes: Axes, mask: Tensor, words: Sequence[str], *, direct_mask: Tensor | None = None) -> None:
    """A mask as squares. What is not in `direct_mask` is known through other words, and a later word is a leak."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    T = len(words)
    direct = mask if direct_mask is None else direct_mask | torch.eye(T, dtype=torch.bool)
    ahead = torch.zeros(T, T, dtype=torch.bool)
    if direct_mask is not None:
        ahead[:REAL, :REAL] = torch.ones(REAL, REAL, dtype=torch.bool).triu(1)
    leaks = mask & ahead
    kind = torch.where(leaks, 3, torch.where(mask, torch.where(direct, 2, 1), 0))
    squares = [Rectangle((s - 0.46, t - 0.46), 0.92, 0.92) for t in range(T) for s in range(T)]
    colours = [(FAINT, SKY, BLUE, ORANGE)[number] for number in kind.flatten().tolist()]
    axes.add_collection(PatchCollection(squares, facecolors=colours, linewidths=0))
    for t, s in leaks.nonzero().tolist():
        axes.text(s, t, "!", ha="center", va="center", color="white", fontweight="bold")
    axes.set(xlim=(-0.5, T - 0.5), ylim=(T - 0.5, -0.5), aspect="equal")


def _ticks(axes: Axes, words: Sequence[str]) -> None:
    axes.set_xticks(range(len(words)), list(words), fontsize=9)
    axes.set_yticks(range(len(words)), list(words), fontsize=9)
    plain_axes(axes)
