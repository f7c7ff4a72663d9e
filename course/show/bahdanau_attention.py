"""Pictures and widget of topic 05: one vector or all of them, who looks where, and a decoder to step through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch import Tensor

from ..blocks.threads import one_thread
from ..data import dates
from . import live, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAP = "Greys_r"
"""The colours of the paper's figure 3: white is where it looks."""
EXAMPLES = (
    "Sunday, July 4, 1999",
    "dimanche 4 juillet 1999",
    "04.07.99",
    "domingo, 4 de julio de 1999",
    "1999. július 4., vasárnap",
)
"""One date in five languages, to choose from in the widget."""


class Translator(Protocol):
    """What the widget needs of a model."""

    def decode_greedy(self, src: Tensor, src_lengths: Tensor, max_len: int) -> tuple[Tensor, Tensor]:
        """Ids (B, L) and weights (B, L, S)."""


# -- static pictures ---------------------------------------------------------------------------------------------------


def two_ways() -> Figure:
    """The same sentence through one vector, and with a look back at every state."""
    import matplotlib.pyplot as plt

    with style.styled():
        figure, both = plt.subplots(1, 2, figsize=(8.2, 2.9))
        for axes, title in zip(both, ("everything through one vector", "with a look back"), strict=True):
            _row_of_states(axes, 0.0, ["4", "juillet", "1999"], style.BLUE)
            _row_of_states(axes, 4.6, ["1999", "-07", "-04"], style.ORANGE, below=False)
            axes.set(xlim=(-0.7, 7.4), ylim=(-1.3, 2.9), aspect="equal", title=title)
            axes.axis("off")
        _arrow(both[0], (2.35, 0.1), (4.22, 1.5), style.INK, 2.5)
        both[0].text(3.1, 0.35, "$h_S$", fontsize=12)
        for j, share in enumerate((0.1, 0.8, 0.1)):
            _arrow(both[1], (j * 1.0, 0.35), (5.5, 1.25), style.INK, 0.6 + 4 * share)
            both[1].text(j * 1.0, 0, f"{share}", fontsize=9, ha="center", va="center")
        both[1].text(5.75, 0.85, "$c_t$", fontsize=12)
        return style.finished(
            figure,
            "Two diagrams of an encoder that reads 4 juillet 1999 and a decoder that writes 1999-07-04. Left, the "
            "decoder gets the encoder's last state and nothing else. Right, at the step that writes 07, it gets a mean "
            "of all states, with weight 0.8 on juillet.",
        )


def _row_of_states(axes: Axes, left: float, words: Sequence[str], colour: str, below: bool = True) -> None:
    """Three boxes side by side with their words, an arrow from each to the next."""
    from matplotlib.patches import FancyBboxPatch

    y = 0.0 if below else 1.6
    for j, word in enumerate(words):
        x = left + 1.0 * j
        axes.add_patch(
            FancyBboxPatch((x - 0.28, y - 0.28), 0.56, 0.56, boxstyle="round,pad=0.04", fc="white", ec=colour, lw=2)
        )
        axes.text(x, y - 0.75 if below else y + 0.75, word, ha="center", va="center", fontsize=10)
        if j:
            _arrow(axes, (x - 0.68, y), (x - 0.32, y), colour, 1.4)


def _arrow(axes: Axes, tail: tuple[float, float], head: tuple[float, float], colour: str, width: float) -> None:
    look = {"arrowstyle": "-|>", "color": colour, "lw": width, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 11}
    axes.annotate("", head, tail, arrowprops=look)


def score_gap(queries: Tensor, gaps: Mapping[str, Tensor]) -> Figure:
    """By how much one key beats another, against the query: a line for each way to score."""
    import matplotlib.pyplot as plt

    with style.styled():
        figure, axes = plt.subplots(figsize=style.SMALL)
        for (name, line), marker in zip(gaps.items(), style.MARKERS, strict=False):
            axes.plot(queries.tolist(), line.tolist(), marker=marker, markevery=8, label=name)
        axes.set(xlabel="the query", ylabel="score of +1 minus score of −1", ylim=(0, 2.3))
        axes.set_title("Does the query have a say?")
        axes.legend()
        said = ", ".join(f"{name} from {float(v.min()):.2f} to {float(v.max()):.2f}" for name, v in gaps.items())
        return style.finished(figure, f"The gap between the scores of two keys, for queries from -3 to 3: {said}.")


def alignment(weights: Tensor, source: str, written: str, gold: Sequence[int] | None = None, title: str = "") -> Figure:
    """Weights (T, S) as in the paper's figure 3: each row says where the decoder looked when it wrote that character.

    `gold` names, for each of the eight digits, the word it comes from; those words are framed.
    """
    import matplotlib.pyplot as plt

    with style.styled():
        figure, axes = plt.subplots(figsize=(1.3 + 0.26 * len(source), 1.2 + 0.26 * len(written)))
        draw_alignment(axes, weights, source, written, gold)
        if title:
            axes.set_title(title, pad=12)
        return style.finished(figure, said_of(weights, source, written))


def alignments(rows: Sequence[tuple[Tensor, str, str, Sequence[int] | None]]) -> Figure:
    """Several of them below each other: (weights, source, written, gold) each."""
    import matplotlib.pyplot as plt

    longest = max(len(source) for _, source, _, _ in rows)
    with style.styled():
        figure, column = plt.subplots(len(rows), 1, figsize=(1.3 + 0.24 * longest, 2.9 * len(rows)), squeeze=False)
        for axes, (weights, source, written, gold) in zip(column[:, 0], rows, strict=True):
            draw_alignment(axes, weights, source, written, gold)
        figure.suptitle("Where did it look for each character?", fontsize=11, fontweight="bold")
        return style.finished(figure, " ".join(said_of(*row[:3]) for row in rows))


def draw_alignment(axes: Axes, weights: Tensor, source: str, written: str, gold: Sequence[int] | None) -> None:
    """Fills one pair of axes: source along the top, what was written down the side, frames around gold words."""
    from matplotlib.patches import Rectangle

    shown = weights.detach().cpu()[: len(written), : len(source)]
    axes.imshow(shown.numpy(), cmap=MAP, vmin=0, vmax=1, aspect="equal")
    axes.set_xticks(range(len(source)), ["␣" if char == " " else char for char in source])
    axes.set_yticks(range(len(written)), list(written))
    axes.xaxis.tick_top()
    style.plain_axes(axes)
    if gold is None:
        return
    starts = [0]
    for word in dates.words_of(source):
        starts.append(starts[-1] + len(word))
    for place, index in zip(dates.DIGITS, gold, strict=True):
        if place < len(written):
            width = len(dates.words_of(source)[index].rstrip(" ,./"))
            corner = (starts[index] - 0.5, place - 0.5)
            axes.add_patch(Rectangle(corner, width, 1, fill=False, ec=style.AMBER, lw=1.4))


def said_of(weights: Tensor, source: str, written: str) -> str:
    """What an alignment shows, in a sentence."""
    words, belongs = dates.words_of(source), _belongs(source)
    shares = weights.detach().cpu().double()[: len(written), : len(source)] @ belongs  # (T, words)
    looked = [f"{char} at {words[int(row.argmax())].strip(' ,./')}" for char, row in zip(written, shares, strict=False)]
    return f"Heat map of weights, writing {written} from {source}: {', '.join(looked)}."


def _belongs(source: str) -> Tensor:
    """(S, words): one where a character belongs to a word."""
    words = dates.words_of(source)
    which = torch.tensor([index for index, word in enumerate(words) for _ in word])
    return torch.nn.functional.one_hot(which, len(words)).double()


def exact_by_length(lengths: Sequence[int], curves: Mapping[str, Sequence[float]], trained: int) -> Figure:
    """Exact match against length, a line for each model; a dashed line where the lengths of training end."""
    import matplotlib.pyplot as plt

    with style.styled():
        figure, axes = plt.subplots(figsize=style.WIDE)
        for (name, values), colour, marker in zip(curves.items(), style.COLOURS, style.MARKERS, strict=False):
            axes.plot(lengths, [100 * value for value in values], color=colour, marker=marker, label=name)
        axes.axvline(trained + 0.5, color=style.GREY, linestyle="--", linewidth=1.2)
        where = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
        axes.annotate("never trained →", (trained + 0.5, 1), (0, 4), color=style.QUIET, **where)
        axes.set(xlabel="digits to take down", ylabel="written without an error, %", ylim=(-3, 104))
        axes.set_title("How much goes through one vector?")
        axes.legend(loc="lower left")
        told = "{}: {:.0f} % of the shortest, {:.0f} % at {} digits"
        ends = [told.format(name, 100 * v[0], 100 * v[lengths.index(trained)], trained) for name, v in curves.items()]
        return style.finished(figure, f"Exact match against length. {'; '.join(ends)}.")


def errors_by_digit(rates: Sequence[float]) -> Figure:
    """Alignment errors at each digit of an answer."""
    import matplotlib.pyplot as plt

    names = ["Y", "Y", "Y", "Y", "M", "M", "D", "D"]
    with style.styled():
        figure, axes = plt.subplots(figsize=style.SMALL)
        axes.bar(range(8), [100 * rate for rate in rates], color=style.BLUE)
        axes.set(xticks=range(8), ylabel="alignment errors, %", title="Which digit looks elsewhere?")
        axes.set_xticklabels(names)
        listed = ", ".join(f"{name} {100 * rate:.0f} %" for name, rate in zip(names, rates, strict=True))
        return style.finished(figure, f"Bars of alignment errors for each digit of a date: {listed}.")


# -- the widget --------------------------------------------------------------------------------------------------------


def decoded(model: Translator, text: str) -> tuple[str, Tensor]:
    """What the model writes for a text, eos as a full stop, and its weights (T, S)."""
    place = next((parameter.device for parameter in getattr(model, "parameters", list)()), torch.device("cpu"))
    src = dates.source_ids(text)[None].to(place)
    with one_thread(place):
        ids, weights = model.decode_greedy(src, torch.tensor([len(text)], device=place), 14)
    written = dates.answer(ids[0])
    ended = bool((ids[0] == dates.EOS).any())
    return written + "." * ended, weights[0, : len(written) + ended].detach().cpu()


def draw_step(axes: Axes, text: str, written: str, weights: Tensor, step: int) -> None:
    """Fills one pair of axes with a step's weights as bars over the source."""
    axes.bar(range(len(text)), weights[step].tolist(), color=style.BLUE, width=0.85)
    axes.set(ylim=(0, 1.02), yticks=[0, 0.5, 1], ylabel="weight", xlim=(-0.7, len(text) - 0.3))
    axes.set_xticks(range(len(text)), ["␣" if char == " " else char for char in text])
    axes.grid(axis="x", visible=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(f"written: {written[:step]}[{written[step]}]", family="monospace")


def said_at(text: str, written: str, weights: Tensor, step: int) -> str:
    """A step in a sentence: what is written next, and which words are looked at."""
    shares = (weights[step, : len(text)].double() @ _belongs(text)).tolist()
    most = sorted(zip(shares, dates.words_of(text), strict=True), reverse=True)[:3]
    looked = ", ".join(f"“{word.strip(' ,./') or word}” {100 * share:.0f} %" for share, word in most if share > 0.005)
    char = "the end" if written[step] == "." else f"“{written[step]}”"
    return f"Step {step + 1}: it writes {char} and looks at {looked or 'nothing'}."


LONGEST = 60
"""Characters of a typed date that have a place in the picture."""


def step_the_decoder(model: Translator) -> Any:
    """A widget: choose or type a date, step through the answer, and watch the weights move along the source."""
    import ipywidgets as widgets

    wide = widgets.Layout(width="min(30em, 98%)")
    example = widgets.IntSlider(min=1, max=len(EXAMPLES), value=1, description="Example", layout=wide)
    typed = widgets.Text(
        EXAMPLES[0],
        placeholder="one of your own, and Enter",
        description="Date",
        continuous_update=False,
        layout=wide,
    )
    steps = widgets.IntSlider(min=1, max=11, value=6, description="Step", layout=wide)
    picture, spoken = live.picture("the weights of this step over the characters of the date"), live.spoken()
    state: dict[str, Any] = {}
    figure = live.stage((8.2, 2.5), left=0.07, right=0.99, bottom=0.15, top=0.88)

    def draw(_: Any = None) -> None:
        step = steps.value - 1
        with style.styled():
            (axes,) = live.wiped(figure)
            draw_step(axes, state["text"], state["written"], state["weights"], step)
        picture.value = live.drawn(figure)
        cut = f" Only the first {LONGEST} characters are read." if len(typed.value.strip()) > LONGEST else ""
        spoken.value = escape(said_at(state["text"], state["written"], state["weights"], step) + cut)

    def take(text: str) -> None:
        state["text"] = text
        state["written"], state["weights"] = decoded(model, text)
        steps.max = max(len(state["written"]), 1)
        draw()

    def choose(_: Any) -> None:
        typed.value = EXAMPLES[example.value - 1]

    def read(_: Any) -> None:
        if typed.value.strip():
            take(typed.value.strip()[:LONGEST])

    read(None)
    example.observe(choose, "value")
    typed.observe(read, "value")
    steps.observe(draw, "value")
    return widgets.VBox([example, typed, steps, picture, spoken])
