"""Pictures of topic 17: letters found by length, steps by token, the cost of one token more, and a state that reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from ..data import copying
from . import live
from .style import BLUE, COLOURS, DIVERGING, GREY, INK, MARKERS, ORANGE, WIDE, finished, styled

if TYPE_CHECKING:
    from ipywidgets import VBox
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LONGEST = 400
"""Places of a text in the widget, for which there is room."""


# -- figures ---------------------------------------------------------------------------------------------------------


def lengths(places: Sequence[int], right: Mapping[str, Sequence[float]], trained: int) -> Figure:
    """Shares of letters right against the length of the text, a curve for each model; `trained` is the longest seen."""
    import matplotlib.pyplot as plt

    with styled():
        figure, axes = plt.subplots(figsize=WIDE)
        for (name, shares), colour, marker in zip(right.items(), COLOURS, MARKERS):
            axes.plot(places, [100 * share for share in shares], color=colour, marker=marker, label=name)
        axes.axvspan(places[0], trained, color=GREY, alpha=0.15)
        axes.annotate("lengths of training", (places[0], 2), (4, 0), textcoords="offset points", color=INK)
        guess = 100 / len(copying.LETTERS)
        axes.axhline(guess, color=GREY, linestyle=":", linewidth=1.5)
        axes.annotate("guessing", (places[-1], guess), (0, 4), textcoords="offset points", color=INK, ha="right")
        axes.set_xscale("log", base=2)
        axes.set_xticks(list(places), [str(length) for length in places])
        axes.set(title="Does it read longer texts?", xlabel="positions in a text", ylabel="letters right, %")
        axes.set_ylim(0, 105)
        axes.legend(loc="center left")
        said = "; ".join(f"{name} {shares[0]:.0%} to {shares[-1]:.0%}" for name, shares in right.items())
        alt = f"Letters right against the length of a text, from {places[0]} to {places[-1]} positions: {said}."
        return finished(figure, alt)


def steps_by_token(steps: Tensor) -> Figure:
    """Bars of the mean step of every token (tokens,), coloured by kind."""
    import matplotlib.pyplot as plt

    names, colours = zip(*(_named(token) for token in range(len(steps))))
    with styled():
        figure, axes = plt.subplots(figsize=WIDE)
        axes.bar(range(len(steps)), steps.tolist(), color=colours, width=0.7)
        axes.set_xticks(range(len(steps)), names)
        axes.set(title="Which tokens move the state?", xlabel="token", ylabel="Δ, mean over channels")
        axes.grid(axis="x", visible=False)
        means = ", ".join(f"{kind} {value:.2f}" for kind, value in _by_kind(torch.arange(len(steps)), steps).items())
        return finished(figure, f"Bar chart of the mean step of each token. Means by kind: {means}.")


def costs(places: Sequence[int], took: Mapping[str, Sequence[float]], kept: Mapping[str, Sequence[float]]) -> Figure:
    """Microseconds for one token more, and bytes that are kept, against the length of the text; a curve for each."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import NullFormatter

    with styled():
        figure, (left, right) = plt.subplots(1, 2, figsize=WIDE)
        for axes, curves in ((left, took), (right, kept)):
            for (name, values), colour, marker in zip(curves.items(), COLOURS, MARKERS):
                axes.loglog(places, values, color=colour, marker=marker, label=name)
            axes.set_xscale("log", base=2)
            axes.set_xticks(places[::2], [f"{length:,}" for length in places[::2]])
            axes.set_xlabel("tokens before it")
        left.set(title="Time for one more token", ylabel="microseconds")
        left.set_ylim(1, 2 * max(map(max, took.values())))
        left.yaxis.set_minor_formatter(NullFormatter())  # else 2 and 3 times a power of ten are written, too
        right.set(title="What is kept", ylabel="bytes")
        right.legend(loc="upper left")
        said = "; ".join(
            f"{name} {took[name][0]:,.0f} to {took[name][-1]:,.0f} microseconds and {kept[name][-1]:,} bytes"
            for name in took
        )
        return finished(figure, f"Two plots against {places[0]} to {places[-1]} tokens: {said}.")


def _named(token: int) -> tuple[str, str]:
    """How a token is written on an axis, and the colour of its kind."""
    kind = _kind(token)
    return copying.text(torch.tensor([token])), {"noise": GREY, "letter": ORANGE, "asker": BLUE}[kind]


def _kind(token: int) -> str:
    if token == copying.NOISE:
        return "noise"
    return "letter" if token <= len(copying.LETTERS) else "asker"


def _by_kind(tokens: Tensor, steps: Tensor) -> dict[str, float]:
    """The mean step of each kind of token that occurs."""
    kinds = [_kind(token) for token in tokens.tolist()]
    return {
        kind: float(steps[[place for place, other in enumerate(kinds) if other == kind]].mean())
        for kind in ("noise", "letter", "asker")
        if kind in kinds
    }


# -- the widget ------------------------------------------------------------------------------------------------------


def watch_the_state(model: Any, scan: Callable[..., Tensor]) -> VBox:
    """The widget: a text that you type, the step of each token, and the state that `scan` leaves at each position.

    `model` is the notebook's: it has `embed` and a `layer` with `steps`, `log_rate` and `W_B`.
    """
    import ipywidgets as widgets

    text = widgets.Text("c··a····h··", description="text", layout=widgets.Layout(width="330px"))
    noise = widgets.IntSlider(0, min=0, max=120, description="more noise", continuous_update=False)
    states = range(1, model.layer.log_rate.shape[1] + 1)
    state = live.choice("state", [(str(n), n - 1) for n in states])
    picture, said = live.picture("steps of each token, and below them the state at each position"), live.spoken(2)
    figure = live.stage((8.0, 4.4), rows=2, left=0.08, right=0.98, bottom=0.11, top=0.93, hspace=0.42)

    def redraw(_: Any = None) -> None:
        ids = _read(text.value, noise.value).to(model.embed.weight.device)
        with torch.no_grad():
            steps, h = _inside(model, scan, ids, state.value)
            letters = model(ids[None])[0].argmax(-1).tolist()
        with styled():
            above, below = live.wiped(figure)
            _draw_steps(above, ids, steps)
            _draw_state(below, h, state.value + 1)
        picture.value = live.drawn(figure)
        said.value = _in_words(ids, steps, letters)

    for control in (text, noise, state):
        control.observe(redraw, "value")
    redraw()
    row = widgets.HBox([text, noise, state], layout=widgets.Layout(flex_flow="row wrap"))
    return live.panel([row, picture, said])


def _read(typed: str, noise: int) -> Tensor:
    """The tokens of a text that was typed, with more noise behind each letter, and the askers: (T + ASKED,)."""
    ids: list[int] = []
    for sign in typed.lower():
        letter = sign in copying.LETTERS
        ids += [1 + copying.LETTERS.index(sign), *[copying.NOISE] * noise] if letter else [copying.NOISE]
    askers = range(1 + len(copying.LETTERS), copying.TOKENS)
    return torch.tensor([*ids[:LONGEST], *askers])


def _inside(model: Any, scan: Callable[..., Tensor], ids: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """The mean step of each place (T,), and number n of every channel's state at each place (D, T).

    A scan that reads with C = 1 for one number of the state, and with 0 for the others, gives that number.
    """
    layer = model.layer
    x = model.embed(ids[None])
    delta, A, B = layer.steps(x), -layer.log_rate.exp(), layer.W_B(x)
    alone = torch.zeros_like(B)
    alone[..., n] = 1.0
    return delta[0].mean(-1).cpu(), scan(x, delta, A, B, alone)[0].T.cpu()


def _draw_steps(axes: Axes, ids: Tensor, steps: Tensor) -> None:
    names, colours = zip(*(_named(token) for token in ids.tolist()))
    axes.vlines(range(len(ids)), 0, steps.tolist(), colors=colours, linewidth=max(1.0, 400 / len(ids)))
    roomy = len(ids) <= 40  # the askers stand side by side
    for place, name in enumerate(names):
        kind = _kind(int(ids[place]))
        if kind == "letter" or (kind == "asker" and roomy):
            high = (place, float(steps[place]))
            axes.annotate(name, high, (0, 3), textcoords="offset points", ha="center", fontsize=9)
    axes.set(title="Δ of each token", ylabel="mean over channels", ylim=(0, 1.25 * float(steps.max())))
    axes.set_xlim(-0.5, len(ids) - 0.5)
    axes.grid(axis="x", visible=False)


def _draw_state(axes: Axes, h: Tensor, n: int) -> None:
    """Each channel's state, in units of its largest: dark red above 0, dark blue below."""
    scaled = h / h.abs().amax(1, keepdim=True).clamp(min=1e-12)
    axes.imshow(scaled.numpy(), aspect="auto", cmap=DIVERGING, vmin=-1, vmax=1, interpolation="nearest")
    axes.set(title=f"Number {n} of the state, each channel in units of its largest", ylabel="channel")
    axes.set_xlabel("position")
    axes.set_xlim(-0.5, h.shape[1] - 0.5)
    axes.grid(False)


def _in_words(ids: Tensor, steps: Tensor, letters: Sequence[int]) -> str:
    wrote = " ".join(copying.LETTERS[int(token) - 1] for token in ids if _kind(int(token)) == "letter") or "no letter"
    named = " ".join(copying.LETTERS[letter] for letter in letters)
    means = ", ".join(f"{kind} {value:.2f}" for kind, value in _by_kind(ids, steps).items())
    return f"In the text: {wrote}. The model says: {named}. Mean Δ: {means}."
