"""Pictures of topic 16: accuracy by labels, the levels of four bits, and guesses for hidden words beside the truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from ..data import beings
from . import live
from .style import BLUE, COLOURS, GREY, INK, MARKERS, SMALL, WIDE, finished, styled

if TYPE_CHECKING:
    from ipywidgets import VBox
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SENTENCES = (
    "the _ growls near a _ .",
    "this _ flickers .",
    "every _ waits .",
    "the fox _ near a _ .",
    "a _ _ _ .",
)
"""What the widget begins with, and other sentences to choose."""
PANELS, BARS = 3, 8
"""Hidden words that the widget shows at once, and words in each of its panels."""


# -- figures ---------------------------------------------------------------------------------------------------------


def accuracy_by_labels(numbers: Sequence[int], accuracies: Mapping[str, Sequence[float]]) -> Figure:
    """The accuracy on nouns without labels against the number of labelled sentences, a line for each model."""
    import matplotlib.pyplot as plt

    with styled():
        figure, axes = plt.subplots(figsize=SMALL)
        for (name, values), colour, marker in zip(accuracies.items(), COLOURS, MARKERS):
            axes.plot(numbers, [100 * value for value in values], color=colour, marker=marker, label=name)
        axes.axhline(50, color=INK, linestyle="--", linewidth=1.2, label="guessing")
        axes.set_xscale("log")
        axes.set_xticks(list(numbers), [str(number) for number in numbers])
        axes.minorticks_off()
        axes.set(title="How many labels does it take?", xlabel="labelled sentences", ylabel="right, %", ylim=(30, 104))
        axes.legend(loc="center right", bbox_to_anchor=(1.0, 0.5), fontsize=9)
        ends = ", ".join(f"{name} {v[0]:.0%} with {numbers[0]}, {v[-1]:.0%} with {numbers[-1]}"
                         for name, v in accuracies.items())  # fmt: skip
        return finished(figure, f"Accuracy on nouns without labels, by the number of labelled sentences: {ends}.")


def levels(W: Tensor, levels: Tensor, block: int = 64) -> Figure:
    """A histogram of weights, each divided by the largest of its block, with the sixteen levels as lines."""
    import matplotlib.pyplot as plt

    flat = W.flatten()[: W.numel() // block * block].view(-1, block)
    unit = (flat / flat.abs().amax(1, keepdim=True)).flatten()
    with styled():
        figure, axes = plt.subplots(figsize=WIDE)
        axes.hist(
            unit.tolist(), bins=61, range=(-1, 1), color=GREY, label="weights, divided by the scale of their block"
        )
        top = axes.get_ylim()[1]
        axes.vlines(levels.tolist(), 0, top, color=BLUE, linewidth=1.3, label="levels of NF4")
        axes.set(title="Where are the weights, and where are the levels?", xlabel="weight / scale", ylabel="weights")
        axes.set_ylim(0, 1.2 * top)
        axes.grid(visible=False)
        axes.legend(loc="upper left", fontsize=9, ncols=2)
        inner = float(((unit > levels[4]) & (unit < levels[11])).float().mean())
        return finished(
            figure,
            f"Histogram of {unit.numel():,} weights with sixteen lines, which are close together near 0. "
            f"{inner:.0%} of them lie between {levels[4]:.2f} and {levels[11]:.2f}, where eight of the levels are.",
        )


def nats_by_bits(losses: Mapping[str, Mapping[int, float]], unrounded: float, guessing: float) -> Figure:
    """The loss of a model whose weights were rounded, by the bits of a weight, a line for each kind of levels."""
    import matplotlib.pyplot as plt

    with styled():
        figure, axes = plt.subplots(figsize=SMALL)
        for (name, by_bits), colour, marker in zip(losses.items(), COLOURS, MARKERS):
            axes.plot([*by_bits], [*by_bits.values()], color=colour, marker=marker, label=f"{name} levels")
        for value, line, name in ((guessing, "--", "guessing"), (unrounded, ":", "not rounded")):
            axes.axhline(value, color=INK, linestyle=line, linewidth=1.2, label=name)
        axes.set_yscale("log")
        axes.set_yticks([3, 4, 6, 10, 20], ["3", "4", "6", "10", "20"])
        axes.minorticks_off()
        bits = sorted({bits for by_bits in losses.values() for bits in by_bits})
        axes.set_xticks(bits)
        axes.set(title="How few bits can a weight have?", xlabel="bits a weight", ylabel="nats a token")
        axes.legend(loc="upper right", fontsize=9)
        said = "; ".join(
            f"{name} levels, " + ", ".join(f"{found:.2f} with {bits} bits" for bits, found in by_bits.items())
            for name, by_bits in losses.items()
        )
        return finished(figure, f"Nats a token by the bits of a weight, {unrounded:.2f} before rounding: {said}.")


# -- the widget ------------------------------------------------------------------------------------------------------


def guesser(model: Callable[..., Any]) -> VBox:
    """Type a sentence with `_` for hidden words: the model's guesses beside the best possible ones.

    `model(ids, segments, mask)` gives vectors, and `model.word_logits` makes logits of them.
    """
    import ipywidgets as widgets

    chosen = live.choice("sentence", [(text, text) for text in SENTENCES])
    typed = widgets.Text(SENTENCES[0], description="or type", continuous_update=False)
    picture, said = live.picture("the model's guesses for each hidden word, and the best possible ones"), live.spoken(3)
    figure = live.stage((8.6, 3.4), columns=PANELS, left=0.1, right=0.97, bottom=0.15, top=0.91, wspace=0.55)

    def redraw(_: Any = None) -> None:
        try:
            ids, hidden = read(typed.value)
        except ValueError as why:
            said.value = escape(str(why))
            return
        with torch.no_grad():
            found = _guesses(model, ids)
        mask = torch.ones_like(ids, dtype=torch.bool)
        best = beings.guess(ids, mask)[0]
        with styled():
            for number, axes in enumerate(live.wiped(figure)):
                if number < len(hidden):
                    axes.set_axis_on()
                    _draw(axes, found[hidden[number]], best[hidden[number]], number, len(hidden))
                else:
                    axes.set_axis_off()
                    axes.set(title="", xlabel="")
        picture.value = live.drawn(figure)
        said.value = in_words(found, best, hidden)

    def choose(_: Any = None) -> None:
        typed.value = chosen.value

    chosen.observe(choose, "value")
    typed.observe(redraw, "value")
    redraw()
    return live.panel([chosen, typed, picture, said])


def read(text: str) -> tuple[Tensor, list[int]]:
    """Ids (1, T) of a typed sentence in BERT's form, and the places of its hidden words.

    Raises:
        ValueError: a word is unknown, nothing is hidden, or too much is.
    """
    words = ["[MASK]" if word == "_" else word for word in text.split()]
    if words and words[-1] != ".":
        words.append(".")
    ids = beings.encode(" ".join(words))
    hidden = [place + 1 for place, word in enumerate(words) if word == "[MASK]"]
    if not 1 <= len(hidden) <= PANELS:
        raise ValueError(f"Write _ for each hidden word, at least one and at most {PANELS}.")
    if len(ids) > 14:
        raise ValueError("That sentence is too long. Use at most 13 words.")
    return torch.tensor([[beings.cls(), *ids.tolist(), beings.sep()]]), hidden


def in_words(found: Tensor, best: Tensor, hidden: Sequence[int]) -> str:
    """For each hidden word what the model says of animals, and what is true of them, in sentences."""
    animals, nouns = beings.animals(), beings.nouns()
    parts = []
    for number, place in enumerate(hidden):
        word = beings.words()[int(found[place].argmax())]
        told = f"For hidden word {number + 1} the model's first guess is “{word}” ({float(found[place].max()):.0%})."
        if float(best[place, nouns].sum()) > 0.5:
            ours, true = (float(p[place, animals].sum() / p[place, nouns].sum()) for p in (found, best))
            told += f" It gives animals {ours:.0%} of its nouns, and the language {true:.0%}."
        parts.append(told)
    return " ".join(parts)


def _guesses(model: Any, ids: Tensor) -> Tensor:
    """p(word) at each place of ids (1, T), by the model: (T, V)."""
    place = next(model.parameters()).device
    ids = ids.to(place)
    words, _ = model(ids, torch.zeros_like(ids), torch.ones_like(ids, dtype=torch.bool))
    p: Tensor = model.word_logits(words)[0].softmax(-1).double().cpu()
    return p


def _draw(axes: Axes, found: Tensor, best: Tensor, number: int, panels: int) -> None:
    """Bars of the likeliest words of one place: the model's probability and the best one."""
    likeliest = torch.maximum(found, best).topk(BARS).indices
    places = torch.arange(BARS)
    axes.barh(places - 0.2, best[likeliest].numpy(), height=0.36, color=GREY, label="best possible")
    axes.barh(places + 0.2, found[likeliest].numpy(), height=0.36, color=BLUE, label="your model")
    axes.set_yticks(places.tolist(), [beings.words()[int(word)] for word in likeliest])
    top = float(torch.maximum(found, best)[likeliest].max())
    title = "The hidden word" if panels == 1 else f"Hidden word {number + 1}"
    axes.set(title=title, xlabel="probability", xlim=(0, 1.08 * top), ylim=(BARS - 0.4, -1.5))
    axes.grid(axis="y", visible=False)
    if number == 0:
        axes.legend(loc="upper left", fontsize=8, ncols=2, borderaxespad=0.0, handlelength=1.0, columnspacing=1.0)
