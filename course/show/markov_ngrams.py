"""Pictures and the widget of topic 01, on n-grams, smoothing, perplexity and sampling.

`model` is always something with `next_distribution(context: LongTensor (k,)) -> (V,)`, and `alphabet` the V symbols.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

from . import live
from .style import AMBER, BLUE, GREY, INK, ORANGE, PALE, SKY, SQUARE, WIDE, finished, for_words, plain_axes, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from torch import Tensor

LETTERS = " abcdefghijklmnopqrstuvwxyz"
"""Shannon's alphabet of 27 symbols."""


class Model(Protocol):
    """A language model, as far as the pictures need it."""

    def next_distribution(self, context: Tensor) -> Tensor:
        """context (k,), int64 -> probabilities (V,) of the next token."""
        ...


def visible(text: str) -> str:
    """The text with a visible sign for each space and line end."""
    return text.replace(" ", "␣").replace("\n", "↵")


# -- counting --------------------------------------------------------------------------------------------------------


def windows_seen(train: Sequence[Counter[Any]], held_out: Sequence[Counter[Any]], vocab_size: int) -> Figure:
    """How many of the possible windows does a text contain? Counters of windows of 1, 2, … tokens, of two texts.

    Left: different windows, possible and in the training text. Right: the share of held-out windows that are unseen.
    """
    import matplotlib.pyplot as plt

    orders = range(1, len(train) + 1)
    distinct = [len(counts) for counts in train]
    unseen = [100 * _share_unseen(known, other) for known, other in zip(train, held_out)]
    with styled():
        figure, (left, right) = plt.subplots(1, 2, figsize=WIDE)
        left.semilogy(orders, [vocab_size**n for n in orders], "--", color=GREY)
        left.semilogy(orders, distinct, "o-", color=BLUE)
        middle = (len(orders) + 1) // 2
        left.annotate("possible: $V^n$", (middle, vocab_size**middle), (-8, 8), textcoords="offset points", ha="right")
        last = (orders[-1], distinct[-1])
        left.annotate("in the training text", last, (0, 8), textcoords="offset points", ha="right", color=BLUE)
        left.set(title="Different windows", xlabel="window length n", xticks=orders)
        bars = right.bar(orders, unseen, color=ORANGE, width=0.65)
        right.bar_label(bars, [_percent(share) for share in unseen], padding=2, fontsize=9)
        right.set(title="Unseen held-out windows", xlabel="window length n", xticks=orders, ylim=(0, 108))
        right.set_ylabel("% of held-out windows")
        right.grid(False, axis="x")
        return finished(figure, "Possible windows grow as V to the n. Few are in a text, so most long ones are unseen.")


def _share_unseen(known: Counter[Any], other: Counter[Any]) -> float:
    return sum(count for gram, count in other.items() if gram not in known) / max(sum(other.values()), 1)


def _percent(share: float) -> str:
    return f"{share:.1f}" if 0 < share < 9.95 else f"{share:.0f}"


def transition_map(P: Tensor, alphabet: Sequence[str], symbols: str = LETTERS) -> Figure:
    """Heat map of the rows and columns of P (V, V) that belong to `symbols`."""
    import matplotlib.pyplot as plt
    from matplotlib.colors import PowerNorm

    rows = [list(alphabet).index(symbol) for symbol in symbols]
    part = P.detach().cpu()[rows][:, rows].double().numpy()
    names = [visible(symbol) for symbol in symbols]
    with styled():
        figure, axes = plt.subplots(figsize=SQUARE)
        # The square root, because a few near-certain pairs would otherwise turn all others black.
        image = axes.imshow(part, norm=PowerNorm(0.5, vmin=0, vmax=max(float(part.max()), 1e-12)), aspect="equal")
        axes.set_xticks(range(len(names)), names, fontsize=8)
        axes.set_yticks(range(len(names)), names, fontsize=8)
        axes.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False)
        axes.xaxis.set_label_position("top")
        axes.set(xlabel="next character", ylabel="previous character")
        plain_axes(axes)
        bar = figure.colorbar(image, ax=axes, shrink=0.8, label="probability", ticks=[0, 0.05, 0.2, 0.5, 1])
        bar.outline.set_visible(False)
        return finished(figure, "Heat map of transition probabilities. Each row shows what follows that letter.")


def smoothing_curves(alphas: Sequence[float], curves: Mapping[str, Sequence[float]]) -> Figure:
    """Held-out perplexity against alpha, one curve for each length of the training text, minima marked."""
    import matplotlib.pyplot as plt

    with styled():
        figure, axes = plt.subplots(figsize=WIDE)
        for (label, values), mark in zip(curves.items(), ("o-", "s--", "^:", "D-.")):
            (line,) = axes.plot(alphas, values, mark, label=label, markersize=4)
            best = min(range(len(values)), key=values.__getitem__)
            axes.plot(alphas[best], values[best], "o", markersize=12, fillstyle="none", color=line.get_color())
        axes.set(xscale="log", xlabel="α, added to every count", ylabel="held-out perplexity")
        axes.set_title("How much smoothing is best?")
        axes.legend(title="training text")
        return finished(figure, "Held-out perplexity against alpha, which matters most for the shortest training text")


# -- models ----------------------------------------------------------------------------------------------------------


def next_symbols(model: Model, context: str, alphabet: Sequence[str], lengths: Sequence[int], top: int = 6) -> Figure:
    """The `top` likeliest next symbols after longer and longer endings of `context`."""
    import matplotlib.pyplot as plt
    import torch

    number = {symbol: index for index, symbol in enumerate(alphabet)}
    with styled():
        figure, panels = plt.subplots(1, len(lengths), figsize=(7.6, 2.6), sharex=True)
        for axes, length in zip(panels, lengths):
            ending = context[len(context) - length :]
            ids = torch.tensor([number[symbol] for symbol in ending], dtype=torch.long)
            values, best = torch.as_tensor(model.next_distribution(ids)).detach().cpu().topk(top)
            axes.barh(range(top), values.tolist(), color=SKY if length == 0 else BLUE, height=0.7)
            axes.set_yticks(range(top), [visible(alphabet[index]) for index in best], family="monospace", fontsize=11)
            axes.invert_yaxis()
            axes.set(xlim=(0, 1), xticks=[0, 1])
            axes.set_title(
                visible(ending) or "(nothing)", size=11, family="monospace", color=for_words(ORANGE) if ending else INK
            )
            axes.grid(False)
            axes.tick_params(axis="y", length=0)
        figure.supxlabel("probability of the next character", fontsize=10)
        return finished(figure, f"The likeliest characters after longer and longer endings of {context!r}")


def perplexity_by_order(orders: Sequence[int], train: Sequence[float], held_out: Sequence[float]) -> Figure:
    """Perplexity against the window length, on the training text and on held-out text."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator, ScalarFormatter

    best = min(range(len(orders)), key=lambda i: held_out[i])
    with styled():
        figure, axes = plt.subplots(figsize=WIDE)
        axes.fill_between(orders, train, held_out, color=AMBER, alpha=0.15, linewidth=0)
        axes.semilogy(orders, held_out, "s-", color=ORANGE, label="held-out text")
        axes.semilogy(orders, train, "o--", color=BLUE, label="training text")
        axes.annotate(
            f"best: n = {orders[best]}",
            (orders[best], held_out[best]), (0, 42), textcoords="offset points", ha="center",
            arrowprops={"arrowstyle": "-", "color": INK, "shrinkB": 21},
        )  # fmt: skip
        for n, value in zip(orders, held_out):
            label = f"{value:.1f}" if value >= 10 else f"{value:.2f}"
            axes.annotate(label, (n, value), (3, 6), textcoords="offset points", fontsize=9, color=for_words(ORANGE))
        axes.yaxis.set_major_locator(FixedLocator([1, 2, 3, 5, 10, 20, 50, 100]))
        axes.yaxis.set_major_formatter(ScalarFormatter())
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.set(xlabel="window length n", ylabel="perplexity", xticks=orders, ylim=(1, 1.5 * max(held_out)))
        axes.set_title("How far back should it look?")
        axes.legend(loc="upper right")
        return finished(figure, "Training perplexity falls with every n. Held-out perplexity falls and then rises.")


# -- writing ---------------------------------------------------------------------------------------------------------


def write(
    model: Model,
    alphabet: Sequence[str],
    prompt: Sequence[str] = "",
    length: int = 200,
    temperature: float = 1.0,
    seed: int = 0,
) -> tuple[list[str], list[float]]:
    """Sample symbols one by one after `prompt`. Return them, and how surprising each was (−ln p at temperature 1).

    Each is sampled from p^(1/temperature), normalised. Below 1 the likely becomes likelier, above 1 all become alike.
    """
    import torch

    number = {symbol: index for index, symbol in enumerate(alphabet)}
    generator = torch.Generator().manual_seed(seed)
    context = [number[symbol] for symbol in prompt]
    written, surprises = [], []
    for _ in range(length):
        p = torch.as_tensor(model.next_distribution(torch.tensor(context[-24:], dtype=torch.long))).detach().cpu()
        weights = (p / p.max()) ** (1 / temperature)
        drawn = int(torch.multinomial(weights, 1, generator=generator))
        context.append(drawn)
        written.append(alphabet[drawn])
        surprises.append(-float(p[drawn].log()))
    return written, surprises


def approximations(lines: Mapping[str, str], width: int = 74) -> Figure:
    """Shannon's series of approximations, a name and a sample of text for each, one below the other."""
    import textwrap

    import matplotlib.pyplot as plt

    blocks = [(name, textwrap.wrap(visible(text).replace("␣", " "), width)[:2]) for name, text in lines.items()]
    height = 0.46 * len(blocks) + 0.1
    with styled():
        figure, axes = plt.subplots(figsize=(8.2, height))
        axes.set(xlim=(0, 1), ylim=(len(blocks) - 0.45, -0.55))
        axes.axis("off")
        for row, (name, wrapped) in enumerate(blocks):
            if row % 2 == 0:
                axes.axhspan(row - 0.5, row + 0.5, color=PALE, linewidth=0)
            axes.text(0.008, row, name, va="center", weight="bold", size=9)
            axes.text(0.21, row, "\n".join(wrapped), va="center", family="monospace", size=8.5, parse_math=False)
        return finished(figure, "Samples that grow more like English as the model looks further back")


def writer(models: Mapping[int, Model], alphabet: Sequence[str], prompt: str = "Return ", length: int = 320) -> Any:
    """The widget: choose n and the temperature, and read what the model samples. Surprising characters are darker.

    Moving a slider keeps the seed, so that only what you changed makes the difference.
    """
    import ipywidgets as widgets

    wide = {"description_width": "100px"}
    place = widgets.Layout(width="min(380px, 98%)")
    orders = sorted(models)
    order = widgets.SelectionSlider(
        options=orders, value=orders[-1], description="window n", style=wide, layout=place,
        tooltip="Length of the window: n − 1 characters of context and the next character.",
    )  # fmt: skip
    temperature = widgets.FloatSlider(
        1.0, min=0.2, max=2.0, step=0.1, description="temperature", style=wide, layout=place, readout_format=".1f",
        tooltip="Below 1, likely characters become likelier. Above 1, all characters become more alike.",
    )  # fmt: skip
    begin = widgets.Text(prompt, description="begin with", style=wide, layout=place, continuous_update=False)
    again = widgets.Button(description="Write another", tooltip="Sample again with a new seed.", icon="refresh")
    page = widgets.HTML(layout=widgets.Layout(max_width="760px", min_height="220px"))
    state = {"seed": 0}

    def refresh(_: Any = None) -> None:
        known = "".join(symbol for symbol in begin.value if symbol in alphabet)
        text, surprises = write(models[order.value], alphabet, known, length, temperature.value, state["seed"])
        page.value = _page(known, text, surprises)

    def another(_: Any) -> None:
        state["seed"] += 1
        refresh()

    again.on_click(another)
    for control in (order, temperature, begin):
        control.observe(refresh, "value")
    refresh()
    return live.panel([order, temperature, begin, again, page])


def _page(prompt: str, text: Sequence[str], surprises: Sequence[float]) -> str:
    """The text as HTML, with transparent tints and inherited colours, for light and dark pages."""
    letters = "".join(
        f'<span title="p = {_probability(surprise)}" style="background:rgba(213,94,0,{min(surprise / 9, 0.6):.2f})">'
        f"{'↵<br>' if symbol == chr(10) else escape(symbol)}</span>"
        for symbol, surprise in zip(text, surprises)
    )
    mean = sum(surprises) / max(len(surprises), 1)
    return (
        '<div style="font-family:ui-monospace,Menlo,Consolas,monospace;font-size:14px;line-height:1.55;'
        'white-space:pre-wrap;overflow-wrap:anywhere;border-left:3px solid #0072B2;padding:2px 12px;margin:6px 0">'
        f"<b>{escape(prompt)}</b>{letters}</div>"
        '<div style="font-size:12px;opacity:.75;padding-left:15px">Orange marks what the model did not expect. '
        f"Its perplexity on this text is {2.718281828**mean:.1f}.</div>"
    )


def _probability(surprise: float) -> str:
    p = 2.718281828**-surprise
    return f"{p:.0%}" if p >= 0.01 else f"{p:.1g}"
