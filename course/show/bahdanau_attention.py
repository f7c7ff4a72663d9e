"""Pictures and widget of topic 05: encoder–decoder designs, scores, alignments, and a decoder to step through."""

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
    from matplotlib.image import AxesImage

MAP = "Greys_r"
"""The colours of the paper's figure 3. The brighter a cell, the larger the weight."""
EXAMPLES = {
    "English": "Sunday, July 4, 1999",
    "French": "dimanche 4 juillet 1999",
    "German": "04.07.99",
    "Spanish": "domingo, 4 de julio de 1999",
    "Hungarian": "1999. július 4., vasárnap",
}
"""One date in five languages, to choose from in the widget."""


class Translator(Protocol):
    """What the widget needs of a model."""

    def decode_greedy(self, src: Tensor, src_lengths: Tensor, max_len: int) -> tuple[Tensor, Tensor]:
        """Ids (B, L) and weights (B, L, S)."""


# -- static pictures ---------------------------------------------------------------------------------------------------


def two_ways() -> Figure:
    """Draw a sentence that passes through one vector, and one whose encoder states can all be looked at."""
    import matplotlib.pyplot as plt

    with style.styled():
        figure, both = plt.subplots(1, 2, figsize=(8.2, 2.9))
        for axes, title in zip(both, ("everything through one vector", "with attention"), strict=True):
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
            "Two diagrams of an encoder that reads 4 juillet 1999 and a decoder that writes 1999-07-04. On the left, "
            "the decoder gets only the encoder's last state. On the right, at the step that writes 07, it gets a "
            "weighted mean of all states, with a weight of 0.8 on juillet.",
        )


def _row_of_states(axes: Axes, left: float, words: Sequence[str], colour: str, below: bool = True) -> None:
    """Draw a box for each word, side by side, with an arrow from each to the next."""
    from matplotlib.patches import FancyBboxPatch

    y = 0.0 if below else 1.6
    for j, word in enumerate(words):
        x = left + 1.0 * j
        axes.add_patch(
            FancyBboxPatch((x - 0.28, y - 0.28), 0.56, 0.56, boxstyle="round,pad=0.04", fc="none", ec=colour, lw=2)
        )
        axes.text(x, y - 0.75 if below else y + 0.75, word, ha="center", va="center", fontsize=10)
        if j:
            _arrow(axes, (x - 0.68, y), (x - 0.32, y), colour, 1.4)


def _arrow(axes: Axes, tail: tuple[float, float], head: tuple[float, float], colour: str, width: float) -> None:
    look = {"arrowstyle": "-|>", "color": colour, "lw": width, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 11}
    axes.annotate("", head, tail, arrowprops=look)


def score_gap(queries: Tensor, gaps: Mapping[str, Tensor]) -> Figure:
    """Plot the difference between the scores of two keys against the query, a line for each way to score."""
    import matplotlib.pyplot as plt

    with style.styled():
        figure, axes = plt.subplots(figsize=style.SMALL)
        for (name, line), marker in zip(gaps.items(), style.MARKERS, strict=False):
            axes.plot(queries.tolist(), line.tolist(), marker=marker, markevery=8, label=name)
        axes.set(xlabel="query", ylabel="score of +1 minus score of −1", ylim=(0, 2.3))
        axes.set_title("Does the query make a difference?")
        axes.legend()
        said = ", ".join(f"{name}, from {float(v.min()):.2f} to {float(v.max()):.2f}" for name, v in gaps.items())
        return style.finished(figure, f"Difference between the scores of two keys, for queries from −3 to 3. {said}.")


def alignment(weights: Tensor, source: str, written: str, gold: Sequence[int] | None = None, title: str = "") -> Figure:
    """Draw weights (T, S) as in the paper's figure 3: a row for each written character, a column for each read one.

    `gold` gives the word that each of the eight digits comes from. Those words are framed.
    """
    import matplotlib.pyplot as plt

    with style.styled():
        figure, axes = plt.subplots(figsize=(1.3 + 0.26 * len(source), 1.2 + 0.26 * len(written)))
        _add_colour_bar(figure, draw_alignment(axes, weights, source, written, gold), axes)
        if title:
            axes.set_title(title, pad=12)
        return style.finished(figure, describe_alignment(weights, source, written))


def alignments(rows: Sequence[tuple[Tensor, str, str, Sequence[int] | None]]) -> Figure:
    """Draw several alignments below each other, each given as (weights, source, written, gold)."""
    import matplotlib.pyplot as plt

    longest = max(len(source) for _, source, _, _ in rows)
    with style.styled():
        figure, column = plt.subplots(len(rows), 1, figsize=(1.3 + 0.24 * longest, 2.9 * len(rows)), squeeze=False)
        for axes, (weights, source, written, gold) in zip(column[:, 0], rows, strict=True):
            image = draw_alignment(axes, weights, source, written, gold)
        _add_colour_bar(figure, image, column[:, 0])
        figure.suptitle("Where did the model look for each character?", fontsize=11, fontweight="bold")
        return style.finished(figure, " ".join(describe_alignment(*row[:3]) for row in rows))


def _add_colour_bar(figure: Figure, image: AxesImage, axes: Any) -> None:
    figure.colorbar(image, ax=axes, label="weight", ticks=[0, 0.5, 1], shrink=0.7, aspect=15, pad=0.02)


def draw_alignment(axes: Axes, weights: Tensor, source: str, written: str, gold: Sequence[int] | None) -> AxesImage:
    """Draw one alignment, with the source along the top, the answer down the side and frames around gold words."""
    shown = weights.detach().cpu()[: len(written), : len(source)]
    image = axes.imshow(shown.numpy(), cmap=MAP, vmin=0, vmax=1, aspect="equal")
    axes.set_xticks(range(len(source)), ["␣" if char == " " else char for char in source])
    axes.set_yticks(range(len(written)), list(written))
    axes.xaxis.tick_top()
    style.plain_axes(axes)
    if gold is not None:
        _frame_gold_words(axes, source, written, gold)
    return image


def _frame_gold_words(axes: Axes, source: str, written: str, gold: Sequence[int]) -> None:
    from matplotlib.patches import Rectangle

    words, starts = dates.words_of(source), [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    for position, index in zip(dates.DIGITS, gold, strict=True):
        if position < len(written):
            width = len(words[index].rstrip(" ,./"))
            corner = (starts[index] - 0.5, position - 0.5)
            axes.add_patch(Rectangle(corner, width, 1, fill=False, ec=style.AMBER, lw=1.4))


def describe_alignment(weights: Tensor, source: str, written: str) -> str:
    """Return a sentence that says what an alignment shows."""
    words = dates.words_of(source)
    shares = weights.detach().cpu().double()[: len(written), : len(source)] @ _characters_to_words(source)  # (T, words)
    looked = [f"{char} at {words[int(row.argmax())].strip(' ,./')}" for char, row in zip(written, shares, strict=False)]
    return f"Heat map of the weights for {written}, written from {source}. Most weight: {', '.join(looked)}."


def _characters_to_words(source: str) -> Tensor:
    """A matrix (S, words) with a one where a character belongs to a word."""
    words = dates.words_of(source)
    word_of_character = torch.tensor([index for index, word in enumerate(words) for _ in word])
    return torch.nn.functional.one_hot(word_of_character, len(words)).double()


def exact_by_length(lengths: Sequence[int], curves: Mapping[str, Sequence[float]], trained: int) -> Figure:
    """Plot exact match against length, a line for each model, and a dashed line where the training lengths end."""
    import matplotlib.pyplot as plt

    with style.styled():
        figure, axes = plt.subplots(figsize=style.WIDE)
        for (name, values), colour, marker in zip(curves.items(), style.COLOURS, style.MARKERS, strict=False):
            axes.plot(lengths, [100 * value for value in values], color=colour, marker=marker, label=name)
        axes.axvline(trained + 0.5, color=style.GREY, linestyle="--", linewidth=1.2)
        where = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
        axes.annotate("not in training →", (trained + 0.5, 1), (0, 4), color=style.INK, **where)
        axes.set(xlabel="digits of the number", ylabel="written without an error, %", ylim=(-3, 104))
        axes.set_title("How much fits into one vector?")
        axes.legend(loc="lower left")
        pattern = "{}: {:.0f} % of the shortest, {:.0f} % at {} digits."
        ends = [
            pattern.format(name, 100 * v[0], 100 * v[lengths.index(trained)], trained) for name, v in curves.items()
        ]
        return style.finished(figure, f"Exact match against length. {' '.join(ends)}")


def errors_by_digit(rates: Sequence[float]) -> Figure:
    """Draw a bar of alignment errors for each digit of an answer."""
    import matplotlib.pyplot as plt

    names = ["Y", "Y", "Y", "Y", "M", "M", "D", "D"]
    with style.styled():
        figure, axes = plt.subplots(figsize=style.SMALL)
        axes.bar(range(8), [100 * rate for rate in rates], color=style.BLUE)
        axes.set(xticks=range(8), ylabel="alignment errors, %", title="At which digit does the model look elsewhere?")
        axes.set_xticklabels(names)
        listed = ", ".join(f"{name} {100 * rate:.0f} %" for name, rate in zip(names, rates, strict=True))
        return style.finished(figure, f"Alignment errors for each digit of a date. {listed}.")


# -- the widget --------------------------------------------------------------------------------------------------------


def decoded(model: Translator, text: str) -> tuple[str, Tensor]:
    """Return what the model writes for a text, with eos as a full stop, and its weights (T, S)."""
    device = next((parameter.device for parameter in getattr(model, "parameters", list)()), torch.device("cpu"))
    src = dates.source_ids(text)[None].to(device)
    with one_thread(device):
        ids, weights = model.decode_greedy(src, torch.tensor([len(text)], device=device), 14)
    written = dates.answer(ids[0])
    ended = bool((ids[0] == dates.EOS).any())
    return written + "." * ended, weights[0, : len(written) + ended].detach().cpu()


def draw_step(axes: Axes, text: str, written: str, weights: Tensor, step: int) -> None:
    """Draw the weights of one step as bars over the source."""
    axes.bar(range(len(text)), weights[step].tolist(), color=style.BLUE, width=0.85)
    axes.set(ylim=(0, 1.02), yticks=[0, 0.5, 1], ylabel="weight", xlim=(-0.7, len(text) - 0.3))
    axes.set_xticks(range(len(text)), ["␣" if char == " " else char for char in text])
    axes.grid(axis="x", visible=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(f"written: {written[:step]}[{written[step]}]", family="monospace")


def describe_step(text: str, written: str, weights: Tensor, step: int) -> str:
    """Return a sentence that says what a step writes, and at which words it looks."""
    shares = (weights[step, : len(text)].double() @ _characters_to_words(text)).tolist()
    most = sorted(zip(shares, dates.words_of(text), strict=True), reverse=True)[:3]
    looked = ", ".join(f"“{word.strip(' ,./') or word}” {100 * share:.0f} %" for share, word in most if share > 0.005)
    char = "the end" if written[step] == "." else f"“{written[step]}”"
    return f"Step {step + 1} writes {char} and looks at {looked or 'nothing'}."


LONGEST = 60
"""Characters of a typed date that the picture has room for."""


def describe_limits(text: str) -> str:
    """Return a sentence on what the model cannot read of a text, or nothing."""
    read = text[:LONGEST]
    unknown = "".join(dict.fromkeys(char for char in read if char not in dates.LETTERS))
    cut = f" The model reads only the first {LONGEST} characters." if len(text) > LONGEST else ""
    return cut + (f" It has never met {', '.join(f'“{char}”' for char in unknown)}." if unknown else "")


def step_the_decoder(model: Translator) -> Any:
    """Show a widget in which a date is chosen or typed, and each step of the answer shows its weights.

    The picture follows every letter that is typed. The buttons show no choice while the text is none of theirs.
    """
    import ipywidgets as widgets

    wide = widgets.Layout(width="min(30em, 98%)")
    first, *_ = EXAMPLES.values()
    example = live.choice("Example", list(EXAMPLES.items()))
    typed = widgets.Text(first, placeholder="a date of your own", description="Date", layout=wide)
    steps = widgets.IntSlider(min=1, max=11, value=6, description="Step", layout=wide)
    picture, spoken = live.picture("the weights of this step over the characters of the date"), live.spoken()
    state: dict[str, Any] = {}
    figure = live.stage((8.2, 2.5), left=0.07, right=0.99, bottom=0.15, top=0.88)

    def draw(_: Any = None) -> None:
        with style.styled():
            (axes,) = live.wiped(figure)
            if state["text"]:
                draw_step(axes, state["text"], state["written"], state["weights"], steps.value - 1)
            else:
                axes.set(title="", xticks=[])
        picture.value = live.drawn(figure)
        if state["text"]:
            said = describe_step(state["text"], state["written"], state["weights"], steps.value - 1)
            spoken.value = escape(said + describe_limits(typed.value.strip()))
        else:
            spoken.value = "Type a date, or choose an example."

    def read(_: Any = None) -> None:
        state["text"] = typed.value.strip()[:LONGEST]
        example.value = typed.value if typed.value in EXAMPLES.values() else None
        if state["text"]:
            state["written"], state["weights"] = decoded(model, state["text"])
            steps.max = max(len(state["written"]), 1)
        draw()

    def choose(_: Any) -> None:
        if example.value:
            typed.value = example.value

    read()
    example.observe(choose, "value")
    typed.observe(read, "value")
    steps.observe(draw, "value")
    return live.panel([example, typed, steps, picture, spoken])
