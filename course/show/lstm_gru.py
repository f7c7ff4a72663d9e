"""Pictures and widgets of topic 04: the path along the cell, what is left of a gradient, and a tape to write on."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from . import live, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LstmCell = Callable[..., tuple[Tensor, Tensor]]
Step = Callable[[Tensor, Tensor], Tensor]

WORDS = ("Paul", "plays", "basketball", ".", "He", "scored", "twice", ".", "Jeanne", "likes", "handball", ".", "She")
"""The sentence of the tape, after the lecture's. Its subject changes in the middle."""
CANDIDATES = (0.95, 0.3, -0.4, 0.1, 0.05, -0.3, 0.2, 0.1, -0.95, 0.3, -0.4, 0.1, -0.05)
"""The candidate that each word offers: a man's name near +1, a woman's near −1, and noise from everything else. The
pronouns offer next to nothing, so the cell has to remember the name."""
ASKED = {4: 1.0, 12: -1.0}
"""The positions of the pronouns, where the unit is needed, and the sign that is right there."""

Gates = Mapping[str, Sequence[float]]


def half_open() -> dict[str, list[float]]:
    """Gates i, f and o of a network that has learned nothing, a half at every word."""
    return {gate: [0.5] * len(WORDS) for gate in "ifo"}


def attentive() -> dict[str, list[float]]:
    """Gates that write a name, keep it until the next one, and let it out at the pronouns."""
    names = [0.99 if abs(candidate) > 0.9 else 0.01 for candidate in CANDIDATES]
    asked = [0.99 if place in ASKED else 0.01 for place in range(len(WORDS))]
    return {"i": names, "f": [1 - name for name in names], "o": asked}


# -- static pictures ---------------------------------------------------------------------------------------------------


def lstm_step() -> Figure:
    """Draw one step of an LSTM, with the cell state's path along the top and the gates that touch it below."""
    import matplotlib.pyplot as plt

    with style.styled():
        figure, axes = plt.subplots(figsize=(7.2, 3.3))
        top, low = 1.0, -1.0
        for ends in ((-0.6, 0.4), (0.8, 2.4), (2.8, 6.75)):  # not through the circles
            axes.plot(ends, [top, top], color=style.ORANGE, lw=3, solid_capstyle="butt", zorder=1)
        axes.plot([6.8], [top], color=style.ORANGE, marker=">", markersize=9)
        axes.text(-0.7, top, "$c$", ha="right", va="center", fontsize=14)
        axes.text(7.0, top, "$c'$", ha="left", va="center", fontsize=14)
        for place, symbol in ((0.6, "×"), (2.6, "+")):
            _circle(axes, place, top, symbol)
        for place, name, kind in ((0.6, "f", "σ"), (1.8, "i", "σ"), (3.4, "g", "tanh"), (5.0, "o", "σ")):
            _box(axes, place, low, kind, style.BLUE if kind == "σ" else style.GREEN)
            axes.plot([place, place], [low - 0.75, low - 0.3], color=style.INK, lw=1.4, zorder=1)
            axes.text(place + 0.1, low + 0.52, f"${name}$", color=style.INK, ha="left", va="center", fontsize=12)
        axes.plot([-0.6, 5.0], [low - 0.75] * 2, color=style.INK, lw=1.4, zorder=1)
        axes.text(-0.7, low - 0.75, "$x,\\ h$", ha="right", va="center", fontsize=14)
        _arrow(axes, (0.6, low + 0.3), (0.6, top - 0.2), style.BLUE)
        _circle(axes, 2.6, 0.05, "×")
        _path(axes, [(1.8, low + 0.3), (1.8, 0.05), (2.4, 0.05)], style.BLUE)
        _path(axes, [(3.4, low + 0.3), (3.4, 0.05), (2.8, 0.05)], style.GREEN)
        _arrow(axes, (2.6, 0.25), (2.6, top - 0.2), style.INK)
        _circle(axes, 6.0, low + 0.75, "×")
        _box(axes, 6.0, 0.5, "tanh", style.GREEN)
        axes.plot([6.0, 6.0], [top, 0.75], color=style.ORANGE, lw=2, zorder=1)
        _arrow(axes, (6.0, 0.25), (6.0, low + 0.95), style.GREEN)
        _path(axes, [(5.0, low + 0.3), (5.0, low + 0.75), (5.8, low + 0.75)], style.BLUE)
        _path(axes, [(6.2, low + 0.75), (6.9, low + 0.75)], style.INK)
        axes.text(7.0, low + 0.75, "$h'$", ha="left", va="center", fontsize=14)
        axes.set(xlim=(-1.5, 7.5), ylim=(-2.0, 1.5), aspect="equal")
        axes.axis("off")
        return style.finished(
            figure,
            "One step of an LSTM. The cell state c runs straight along the top. The forget gate f multiplies it, "
            "then the candidate g times the input gate i is added. Below, x and h feed the three gates and the "
            "candidate. The output h' is tanh of the new cell state times the output gate o.",
        )


def _box(axes: Axes, x: float, y: float, text: str, colour: str) -> None:
    from matplotlib.patches import FancyBboxPatch

    axes.add_patch(
        FancyBboxPatch((x - 0.3, y - 0.2), 0.6, 0.4, boxstyle="round,pad=0.05", fc="none", ec=colour, lw=2, zorder=2)
    )
    axes.text(x, y, text, ha="center", va="center", zorder=3)


def _circle(axes: Axes, x: float, y: float, text: str) -> None:
    from matplotlib.patches import Circle

    axes.add_patch(Circle((x, y), 0.2, fc="none", ec=style.INK, lw=1.6, zorder=2))
    axes.text(x, y, text, ha="center", va="center", fontsize=13, zorder=3)


def _arrow(axes: Axes, tail: tuple[float, float], head: tuple[float, float], colour: str) -> None:
    look = {"arrowstyle": "-|>", "color": colour, "lw": 1.6, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", head, tail, arrowprops=look)


def _path(axes: Axes, corners: Sequence[tuple[float, float]], colour: str) -> None:
    """Straight pieces from corner to corner, the last one an arrow."""
    xs, ys = zip(*corners[:-1], strict=True)
    axes.plot(xs, ys, color=colour, lw=1.6, zorder=1)
    _arrow(axes, corners[-2], corners[-1], colour)


def way_back(step: Step, start: Tensor, xs: Tensor) -> list[float]:
    """Return ‖∂s_T/∂s_0‖ for T = 1 … steps, for a cell `step(x, s) -> s` from s_0 = `start` (B, S) along xs (B, T, D).

    It is the norm of a fixed random direction taken back, divided by that direction's own norm. At 1 nothing is lost.
    """
    generator = torch.Generator().manual_seed(1)
    direction = torch.randn(start.shape, generator=generator, dtype=start.dtype)
    left, state = [], start.clone().requires_grad_()
    first = state
    with torch.enable_grad():
        for x in xs.unbind(1):
            state = step(x, state)
            (back,) = torch.autograd.grad(state, first, direction, retain_graph=True)
            left.append(max(float(back.norm() / direction.norm()), 1e-30))
    return left


# -- the tape ----------------------------------------------------------------------------------------------------------


def run_tape(lstm_cell: LstmCell, gates: Gates) -> tuple[list[float], list[float]]:
    """Return the cell state and the output after every word, of one unit whose gates are set by hand.

    `lstm_cell` computes them with one input, which nothing reads, no U, and a bias that opens the gates as asked.
    """
    h = c = x = torch.zeros(1, 1)
    cells, outputs = [], []
    for place, candidate in enumerate(CANDIDATES):
        i, f, o = (_logit(gates[gate][place]) for gate in "ifo")
        b = torch.tensor([i, f, math.atanh(candidate), o])
        h, c = lstm_cell(x, h, c, torch.zeros(4, 1), torch.zeros(4, 1), b)
        cells.append(float(c))
        outputs.append(float(h))
    return cells, outputs


def _logit(share: float) -> float:
    """The number whose sigmoid is `share`, kept finite at 0 and 1."""
    inside = min(max(share, 1e-6), 1 - 1e-6)
    return math.log(inside / (1 - inside))


_TAPE: dict[str, Any] = {"height_ratios": (1.5, 0.8, 1.5), "hspace": 0.06}


def tape(lstm_cell: LstmCell, gates: Gates | None = None, chosen: int | None = None) -> Figure:
    """Draw one unit along the sentence: the candidates, how far the gates are open, the cell state, and the output."""
    import matplotlib.pyplot as plt

    with style.styled():
        figure, axes = plt.subplots(3, 1, figsize=(8.2, 4.3), gridspec_kw=_TAPE)
        draw_tape(axes, lstm_cell, gates or half_open(), chosen)
        return style.finished(figure, tape_in_words(lstm_cell, gates or half_open()))


def draw_tape(axes: Sequence[Axes], lstm_cell: LstmCell, gates: Gates, chosen: int | None) -> None:
    """Fill three axes with the gates, the cell state as a tape, and the candidates beside the output."""
    top, middle, bottom = axes
    cells, outputs = run_tape(lstm_cell, gates)
    places = torch.arange(len(WORDS))
    names = {"i": "input i", "f": "forget f", "o": "output o"}
    for row, gate in enumerate("ifo"):
        colour = (style.BLUE, style.ORANGE, style.GREEN)[row]
        top.vlines(places + 0.27 * (row - 1), 0, gates[gate], color=colour, lw=10, label=names[gate])
    top.set(ylim=(0, 1.05), yticks=[0, 1], ylabel="open")
    top.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
    middle.imshow([cells], cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
    for place, cell in enumerate(cells):
        shade = "white" if abs(cell) > 0.6 else "black"
        middle.text(place, 0, _signed(cell), ha="center", va="center", fontsize=9, color=shade)
    style.plain_axes(middle)
    middle.set(yticks=[], ylabel="cell $c$")
    bottom.axhline(0, color=style.GREY, lw=1)
    bottom.vlines(places, 0, CANDIDATES, color=style.AMBER, lw=5, label="candidate g")
    bottom.plot(places, outputs, color=style.INK, marker="o", label="output h")
    for place, sign in ASKED.items():
        bottom.plot(place, 0.76 * sign, marker="*", color=style.PINK, markersize=13, ls="none")
    bottom.plot([], [], marker="*", color=style.PINK, markersize=11, ls="none", label="asked for")
    bottom.set(ylim=(-1.1, 1.1), yticks=[-1, 0, 1], ylabel="value")
    bottom.set_xticks(places.tolist(), WORDS, rotation=30)
    for part in axes:
        part.set(xlim=(-0.5, len(WORDS) - 0.5))
    for part in (top, middle):
        part.set_xticks(places.tolist(), [""] * len(WORDS))
    bottom.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    if chosen is not None:
        for part in (top, bottom):
            part.axvspan(chosen - 0.5, chosen + 0.5, color=style.GREY, alpha=0.18, lw=0)


def _signed(number: float) -> str:
    return f"{number:+.2f}".replace("-", "−")


def tape_in_words(lstm_cell: LstmCell, gates: Gates) -> str:
    """Return two sentences on what the cell holds and shows where the unit is needed."""
    cells, outputs = run_tape(lstm_cell, gates)
    parts = []
    for place, sign in ASKED.items():
        clear, faint = outputs[place] * sign > 0.5, outputs[place] * sign > 0
        verdict = "That is clear." if clear else "That is too faint." if faint else "The sign is wrong."
        states = f"the cell state is {_signed(cells[place])} and the output is {_signed(outputs[place])}"
        parts.append(f"At “{WORDS[place]}” {states}. {verdict}")
    return " ".join(parts)


def write_the_tape(lstm_cell: LstmCell) -> Any:
    """A widget: choose a word, move the sliders of its three gates, and see what the cell keeps along the sentence."""
    import ipywidgets as widgets

    gates = half_open()
    words, sliders = _word_and_gates()
    makers = {
        widgets.Button(description=text, tooltip=tip, layout=widgets.Layout(width="13em")): make
        for text, tip, make in (
            ("All gates half open", "as at the start", half_open),
            ("Keep everything", "every forget gate open", lambda: {"f": [1.0] * len(WORDS)}),
            ("Show a solution", "one way to do it", attentive),
        )
    }
    picture, spoken = live.picture("gates, cell state and output along the sentence"), live.spoken()
    figure = live.stage((8.2, 4.3), rows=3, left=0.08, right=0.82, bottom=0.14, top=0.91, **_TAPE)
    quiet = False

    def draw(_: Any = None) -> None:
        with style.styled():
            draw_tape(live.wiped(figure), lstm_cell, gates, words.value)
        picture.value = live.drawn(figure)
        spoken.value = tape_in_words(lstm_cell, gates)

    def show_word(_: Any = None) -> None:
        nonlocal quiet
        quiet = True
        for gate, slider in sliders.items():
            slider.value = gates[gate][words.value]
        quiet = False
        draw()

    def moved(_change: Any) -> None:
        if not quiet:
            for gate, slider in sliders.items():
                gates[gate][words.value] = slider.value
            draw()

    def becomes(make: Callable[[], dict[str, list[float]]]) -> Callable[[Any], None]:
        def click(_: Any) -> None:
            gates.update(make())
            show_word()

        return click

    words.observe(show_word, "value")
    for slider in sliders.values():
        slider.observe(moved, "value")
    for button, make in makers.items():
        button.on_click(becomes(make))
    wrap = widgets.Layout(flex_flow="row wrap")
    rows = [widgets.HBox(list(row), layout=wrap) for row in (sliders.values(), makers)]
    draw()
    return live.panel([words, *rows, picture, spoken])


def _word_and_gates() -> tuple[Any, dict[str, Any]]:
    """A slider from word to word, and one for each gate of the chosen word."""
    import ipywidgets as widgets

    words = widgets.SelectionSlider(
        options=[(f"{place + 1} {word}", place) for place, word in enumerate(WORDS)],
        description="Word",
        layout=widgets.Layout(width="26em"),
    )
    named = {"i": "Input i", "f": "Forget f", "o": "Output o"}
    turned = {"value": 0.5, "min": 0, "max": 1, "step": 0.05}
    return words, {
        gate: widgets.FloatSlider(**turned, description=name, layout=widgets.Layout(width="22em"))
        for gate, name in named.items()
    }
