"""Pictures of topic 19: who hears of whom behind a stack of masks, and a text that a small model helps to write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from ..data import wordnet
from . import live
from .style import BLUE, GREEN, GREY, ORANGE, WIDE, finished, plain_axes, styled

if TYPE_CHECKING:
    from ipywidgets import VBox
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LENGTH, BARS = 24, 8
"""Tokens that the widget writes, and those of one place whose probabilities it shows."""
PROMPT = "blorbel", "plant"


# -- figures ---------------------------------------------------------------------------------------------------------


def reaches(reached: Mapping[str, Tensor]) -> Figure:
    """For each mask, which inputs (column) an output (row) hears of: (T, T) bool, by the name of the mask."""
    import matplotlib.pyplot as plt

    with styled():
        figure, grid = plt.subplots(1, len(reached), figsize=(WIDE[0], 2.9), sharey=True, squeeze=False)
        said = []
        for axes, (name, seen) in zip(grid[0], reached.items()):
            axes.imshow(seen.float().numpy(), vmin=0.0, vmax=1.0)
            axes.set_title(name, fontsize=8)
            axes.set_xlabel("input (yellow: heard of)")
            plain_axes(axes)
            said.append(f"In {name!r}, the last output hears of {int(seen[-1].sum())} of {len(seen)} inputs.")
        grid[0][0].set_ylabel("output")
        return finished(figure, f"Maps of who hears of whom. {' '.join(said)}")


# -- the widget ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Written:
    """A text of `LENGTH` tokens behind a prompt, and how it came about.

    `kept` says of each token whether it was guessed, and `refused` which guess it replaced, or -1. `p` and `q` (LENGTH,
    V) are what both models said at its place.
    """

    tokens: Tensor
    kept: list[bool]
    refused: list[int]
    passes: int
    p: Tensor
    q: Tensor


def guesses(model: Callable[..., Any], draft: Callable[[Tensor], Tensor], accept_draft: Callable[..., Tensor]) -> VBox:
    """The widget: a definition that `draft` guesses and the GPT `model` checks, token by token, by `accept_draft`."""
    import ipywidgets as widgets

    shown = {"layout": widgets.Layout(width="300px"), "style": {"description_width": "110px"}}
    n = widgets.IntSlider(3, min=0, max=6, description="guesses a pass", continuous_update=False, **shown)
    heat = {"min": 0.3, "max": 1.5, "step": 0.1, "description": "draft's temp.", "continuous_update": False}
    temperature = widgets.FloatSlider(1.0, **heat, **shown)
    place = widgets.IntSlider(0, min=0, max=LENGTH - 1, description="look at token", **shown)
    told, said = live.spoken(3), live.spoken(2)
    picture = live.picture("probabilities of both models at one place, and what they share")
    figure = live.stage((7.2, 3.0), left=0.16, right=0.96, bottom=0.16, top=0.9)
    made: dict[tuple[int, float], Written] = {}

    def redraw(_: Any = None) -> None:
        asked = n.value, temperature.value
        if asked not in made:
            made[asked] = _write(model, draft, accept_draft, *asked)
        text = made[asked]
        with styled():
            (axes,) = live.wiped(figure)
            _draw(axes, text, place.value)
        picture.value = live.drawn(figure)
        told.value, said.value = _marked(text, place.value), _in_words(text, n.value)

    for control in (n, temperature, place):
        control.observe(redraw, "value")
    redraw()
    sliders = widgets.HBox([n, temperature, place], layout=widgets.Layout(flex_flow="row wrap"))
    return live.panel([sliders, told, picture, said])


@torch.no_grad()
def _write(model: Any, draft: Any, accept_draft: Any, n: int, temperature: float) -> Written:
    """Write a definition with n guesses a pass. The same seed stands behind every text."""
    generator = torch.Generator().manual_seed(0)
    text = wordnet.prompt(*PROMPT)[0]
    begun = len(text)
    kept, refused, passes = list[bool](), list[int](), 0
    while len(kept) < LENGTH:
        longer, q = text, torch.zeros(0, len(wordnet.pieces()))
        for _ in range(n):
            q = torch.cat([q, (draft(longer[None])[:, -1] / temperature).softmax(-1)])
            longer = torch.cat([longer, torch.multinomial(q[-1], 1, generator=generator)])
        p = model(longer[None])[0][0, len(text) - 1 :].softmax(-1)
        guessed = longer[len(text) :]
        new = accept_draft(p, q, guessed, torch.rand(n + 1, generator=generator))
        a = len(new) - 1
        kept += [True] * a + [False]
        refused += [-1] * a + [int(guessed[a]) if a < n else -1]
        text, passes = torch.cat([text, new]), passes + 1
    text = text[: begun + LENGTH]
    read = text[None, :-1]
    p, q = model(read)[0][0, begun - 1 :].softmax(-1), (draft(read)[0, begun - 1 :] / temperature).softmax(-1)
    return Written(text[begun:], kept[:LENGTH], refused[:LENGTH], passes, p, q)


def _draw(axes: Axes, text: Written, place: int) -> None:
    """Bars of the tokens that either model thinks likeliest at one place."""
    p, q = text.p[place], text.q[place]
    likeliest = torch.maximum(p, q).topk(BARS).indices
    rows = torch.arange(BARS)
    axes.barh(rows - 0.2, p[likeliest].numpy(), height=0.36, color=BLUE, label="dictionary, p")
    axes.barh(rows + 0.2, q[likeliest].numpy(), height=0.36, color=ORANGE, label="draft, q")
    axes.set_yticks(rows.tolist(), [_shown(int(token)) for token in likeliest])
    share = float(torch.minimum(p, q).sum())
    axes.set(title=f"Token {place}: a guess stays with probability {share:.2f}", xlabel="probability")
    axes.set(xlim=(0, 1.08 * float(torch.maximum(p, q).max())), ylim=(BARS - 0.4, -0.6))
    axes.grid(axis="y", visible=False)
    axes.legend(loc="lower right")


def _shown(token: int) -> str:
    if token == wordnet.END:
        return "(end)"
    written = wordnet.pieces()[token].decode(errors="replace").replace(" ", "␣")
    return written if written.isprintable() else f"byte {token}"


def _marked(text: Written, place: int) -> str:
    """Return the text as HTML: guesses that stayed with a green line, refused ones crossed out, one token framed."""
    parts = [escape(f"{PROMPT[0]} ({PROMPT[1]}):")]
    for i, token in enumerate(text.tokens.tolist()):
        if text.refused[i] >= 0:
            parts.append(f'<s style="text-decoration-color: {ORANGE}">{escape(_shown(text.refused[i]))}</s>')
        frame = f"outline: 2px solid {BLUE};" if i == place else ""
        line = GREEN if text.kept[i] else GREY
        parts.append(f'<span style="border-bottom: 3px solid {line}; {frame}">{escape(_shown(token))}</span>')
    return " ".join(parts)


def _in_words(text: Written, n: int) -> str:
    share = float(torch.minimum(text.p, text.q).sum(-1).mean())
    expected = sum(share**k for k in range(n + 1))
    return (
        f"{LENGTH} tokens took {text.passes} passes of the dictionary, which are {LENGTH / text.passes:.2f} tokens a "
        f"pass. {sum(text.kept)} of them were guessed (green). For a mean share of {share:.2f} the formula says "
        f"{expected:.2f}."
    )
