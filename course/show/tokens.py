"""Pictures and the widget of topic 13: text in coloured pieces, what pieces cost, and scores against the truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from . import live, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from torch import Tensor

Pair = tuple[bytes, bytes]
Encode = Callable[[str, Sequence[Pair]], list[bytes]]

LONGEST = 240
"""So many characters of a typed sentence are cut into pieces."""

SENTENCES = {
    "plain": "Return a list of the pieces in this sentence.",
    "capitals": "Return a LIST of the PIECES in THIS SENTENCE.",
    "digits": "In 2026 it costs 3.14159 or 1,234,567 pesos.",
    "accents": "Ang piñata at ang naïve café ay nasa Parañaque.",
    "emoji": "One smile 🙂 and one family 👨‍👩‍👧 say a lot.",
    "code": "for i in range(10):  print(i ** 2)",
}
"""What there is to begin with, a button for each."""

TINTS = ("0,114,178", "213,94,0", "0,158,115", "204,121,167")
"""Four of the course's colours: neighbours never share one."""


# -- figures ---------------------------------------------------------------------------------------------------------


def compression(merges: Sequence[int], bytes_a_piece: Mapping[str, Sequence[float]]) -> Figure:
    """Bytes in a piece against the number of merges, one curve for each text."""
    import matplotlib.pyplot as plt

    with style.styled():
        figure, axes = plt.subplots(figsize=style.WIDE)
        for (name, values), marker, line in zip(bytes_a_piece.items(), style.MARKERS, ("-", "--", ":", "-.")):
            (drawn,) = axes.plot(merges, values, line, marker=marker, label=name)
            end = (merges[-1], values[-1])
            ink = style.for_words(drawn.get_color())
            axes.annotate(f"{values[-1]:.2f}", end, (8, 0), textcoords="offset points", va="center", color=ink)
        axes.set(xlabel="merges", ylabel="bytes in a piece", xlim=(-0.02 * merges[-1], 1.1 * merges[-1]))
        axes.set(ylim=(0.9, None))
        axes.set_title("How much does a piece hold?")
        axes.legend(loc="upper left")
        last = ", ".join(f"{values[-1]:.2f} for {name}" for name, values in bytes_a_piece.items())
        return style.finished(figure, f"Bytes in a piece rise with the number of merges, up to {last}")


def units(merges: Sequence[int], perplexity: Sequence[float], bits: Sequence[float]) -> Figure:
    """One bigram model over ever longer pieces: perplexity a piece on the left, bits per byte on the right."""
    import matplotlib.pyplot as plt

    places = range(len(merges))
    with style.styled():
        figure, panels = plt.subplots(1, 2, figsize=style.WIDE)
        told = (("perplexity of a piece", perplexity, style.ORANGE, ".0f"), ("bits per byte", bits, style.BLUE, ".2f"))
        for axes, (title, values, colour, form) in zip(panels, told):
            bars = axes.bar(places, values, color=colour, width=0.65)
            axes.bar_label(bars, [f"{value:{form}}" for value in values], padding=2, fontsize=9)
            axes.set(title=title, xlabel="merges", ylim=(0, 1.15 * max(values)))
            axes.set_xticks(places, [f"{count:,}" for count in merges])
            axes.grid(False, axis="x")
        return style.finished(figure, "With more merges the perplexity of a piece rises, and the bits for a byte fall")


def against_truth(found: Mapping[str, Tensor], truth: Tensor, share: Tensor) -> Figure:
    """Scores (n,) of pairs against the best ones, a panel for each model; common pairs, by `share`, are larger."""
    import matplotlib.pyplot as plt

    places = truth.detach().cpu().double()
    sizes = (60 * (share / share.max()).detach().cpu().double().sqrt()).clamp(min=1.5)
    low, high = float(places.min()) - 1, float(places.max()) + 1
    with style.styled():
        figure, panels = plt.subplots(1, len(found), figsize=(3.6 * len(found), 3.6), sharey=True, squeeze=False)
        for axes, (name, scores), colour in zip(panels[0], found.items(), style.COLOURS):
            axes.scatter(places, scores.detach().cpu(), s=sizes, color=colour, alpha=0.25, linewidths=0)
            axes.plot([low, high], [low, high], "--", color=style.INK, linewidth=1)
            axes.set(title=name, xlabel="best score", xlim=(low, high), ylim=(low, high + 1))
        panels[0][0].set_ylabel("learned score $E_w \\cdot O_c$")
        alt = f"Learned scores against the best possible ones for {', '.join(found)}. A dashed line marks equality."
        return style.finished(figure, alt)


# -- the widget ------------------------------------------------------------------------------------------------------


def explorer(encode: Encode, merges: Sequence[Pair], start: int = 60) -> Any:
    """The widget: type a sentence, move the number of merges, and see its pieces.

    `encode` is yours: (text, merges) -> the pieces of the text, as bytes.
    """
    import ipywidgets as widgets

    wide = {"description_width": "90px"}
    place = widgets.Layout(width="min(620px, 98%)")
    count = widgets.IntSlider(
        min(start, len(merges)), 0, len(merges), 10, description="merges", style=wide, layout=place,
        continuous_update=True, tooltip="How many merges the tokeniser may use",
    )  # fmt: skip
    names = live.choice("begin with", [(name, name) for name in SENTENCES])
    typed = widgets.Text(
        SENTENCES["plain"], description="sentence", style=wide, layout=place, tooltip="Type a sentence of your own"
    )
    page = widgets.HTML(layout=widgets.Layout(max_width="760px", min_height="120px"))

    def refresh(_: Any = None) -> None:
        text = typed.value[:LONGEST]
        page.value = _page(text, encode(text, merges[: count.value]))

    def begin(_: Any) -> None:
        typed.value = SENTENCES[names.value]

    names.observe(begin, "value")
    for control in (count, typed):
        control.observe(refresh, "value")
    refresh()
    return live.panel([names, typed, count, page])


def _page(text: str, pieces: Sequence[bytes]) -> str:
    """The pieces as HTML, in transparent tints and inherited ink, for light and dark pages; counts below them."""
    spans = "".join(_span(number, piece) for number, piece in enumerate(pieces))
    size = len(text.encode())
    each = f"{size / len(pieces):.2f} bytes in a piece" if pieces else "nothing to cut"
    return (
        '<div style="font-family:ui-monospace,Menlo,Consolas,monospace;font-size:15px;line-height:2;'
        f'overflow-wrap:anywhere;padding:4px 2px;margin:4px 0">{spans}</div>'
        f'<div style="font-size:14px"><b>{len(pieces)} pieces</b> for {len(text)} characters and {size} bytes, '
        f"{each}.</div>"
        '<div style="font-size:12px;opacity:.75">A space is shown as ␣. A byte that is no character by itself is '
        "shown by its number, such as ‹F0›.</div>"
    )


def _span(number: int, piece: bytes) -> str:
    tint = TINTS[number % len(TINTS)]
    hexadecimal = piece.hex(" ").upper()
    return (
        f'<span title="{len(piece)} bytes: {hexadecimal}" style="background:rgba({tint},.22);'
        f"border-bottom:2px solid rgb({tint});border-radius:3px;padding:1px 1px;margin-right:2px;"
        f'white-space:pre">{escape(visible(piece))}</span><wbr>'
    )


def visible(piece: bytes) -> str:
    """A piece for the eye: spaces as ␣, line ends as ↵, and bytes that are no whole character by their numbers."""
    text = piece.decode("utf-8", errors="surrogateescape").replace(" ", "␣").replace("\n", "↵")
    return "".join(f"‹{ord(sign) - 0xDC00:02X}›" if 0xDC80 <= ord(sign) <= 0xDCFF else sign for sign in text)
