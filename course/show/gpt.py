"""Pictures of topic 15: where the numbers of a model are, names that come again, a law of size, and the next token."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from ..data import wordnet
from . import live
from .style import BLUE, GREEN, GREY, ORANGE, PINK, SMALL, WIDE, finished, plain_axes, styled

if TYPE_CHECKING:
    from ipywidgets import VBox
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BARS = 12
"""Tokens that the widget shows: the likeliest ones."""
THROWS = 500
"""Draws of the student's function for one picture."""


# -- figures ---------------------------------------------------------------------------------------------------------


def shares(parts: Mapping[str, Mapping[str, float]]) -> Figure:
    """A bar for each model: which share of its numbers is in which part."""
    import matplotlib.pyplot as plt

    names = list(parts)
    kinds = list(next(iter(parts.values())))
    with styled():
        figure, axes = plt.subplots(figsize=(WIDE[0], 1.2 + 0.36 * len(names)))
        left = [0.0] * len(names)
        for kind, colour in zip(kinds, (BLUE, ORANGE, GREEN, PINK)):
            widths = [100 * parts[name][kind] / sum(parts[name].values()) for name in names]
            axes.barh(names, widths, left=left, color=colour, label=kind, height=0.7)
            left = [start + width for start, width in zip(left, widths)]
        axes.invert_yaxis()
        axes.set(title="Where are the numbers?", xlabel="share of all parameters, %", xlim=(0, 100))
        axes.legend(loc="upper center", bbox_to_anchor=(0.45, -0.26 if len(names) > 4 else -0.4), ncols=len(kinds))
        axes.grid(axis="y", visible=False)
        last = ", ".join(f"{kind} {parts[names[-1]][kind] / sum(parts[names[-1]].values()):.0%}" for kind in kinds)
        return finished(figure, f"Stacked bars for {', '.join(names)}. Of {names[-1]}: {last}.")


def surnames(right: Sequence[float], other: Sequence[float], guess: float) -> Figure:
    """Bars of how likely the right surname is the first, second, third ... time that a person speaks.

    `other` has the probabilities of the other person's surname.
    """
    import matplotlib.pyplot as plt

    times = torch.arange(1, len(right) + 1)
    with styled():
        figure, axes = plt.subplots(figsize=SMALL)
        for aside, probabilities, colour, label in ((-0.2, right, BLUE, "right"), (0.2, other, ORANGE, "the other's")):
            bars = axes.bar(times + aside, probabilities, color=colour, width=0.38, label=label)
            axes.bar_label(bars, [f"{p:.2f}" for p in probabilities], padding=2, fontsize=8)
        axes.axhline(guess, color=GREY, linestyle="--", linewidth=1.5, label="guessing")
        axes.set(title="Does it look back to a surname?", xlabel="how often the person has spoken")
        axes.set(ylabel="probability of a surname", xticks=times.tolist())
        axes.set(ylim=(0, 1.25), yticks=[0, 0.2, 0.4, 0.6, 0.8, 1])  # the legend stands above the bars
        axes.grid(axis="x", visible=False)
        axes.legend(loc="upper center", ncols=3, fontsize=9, handlelength=1.2, columnspacing=1.0)
        return finished(
            figure,
            f"Bar chart. The right surname has probability {right[0]:.2f} when a person speaks first and "
            f"{right[-1]:.2f} the {len(right)}th time. The other person's has {other[0]:.2f} and {other[-1]:.2f}, and "
            f"guessing gives {guess:.2f}.",
        )


def two_heads(maps: Sequence[Tensor], words: Sequence[str], steps: Sequence[Sequence[tuple[int, int]]]) -> Figure:
    """In each of two layers, the map (T, T) of the head that looks most from one token to another, as `steps` say.

    Args:
        maps: the weights of all heads of each layer, (h, T, T).
        words: the T tokens.
        steps: for each layer, pairs of the token that looks and the one that is looked at. They are framed.
    """
    import matplotlib.pyplot as plt

    with styled():
        figure, grid = plt.subplots(1, 2, figsize=(WIDE[0], 4.2), sharey=True)
        said = []
        for layer, (axes, weights, pairs) in enumerate(zip(grid, maps, steps, strict=True), 1):
            rows, columns = torch.tensor(pairs).T
            shares = weights.detach().cpu()[:, rows, columns].mean(1)  # (h,)
            head = int(shares.argmax())
            axes.imshow(weights[head].detach().cpu().numpy(), vmin=0.0, vmax=1.0)
            for row, column in pairs:
                frame = {"fill": False, "edgecolor": ORANGE, "linewidth": 2}
                axes.add_patch(plt.Rectangle((column - 0.5, row - 0.5), 1, 1, **frame))
            axes.set_xticks(range(len(words)), list(words), rotation=90, fontsize=8)
            axes.set_yticks(range(len(words)), list(words), fontsize=8)
            axes.set_title(f"layer {layer}, head {head + 1}: {float(shares[head]):.2f} where framed", fontsize=9)
            plain_axes(axes)
            said.append(f"In layer {layer}, head {head + 1} puts {float(shares[head]):.2f} on the framed tokens.")
        return finished(figure, f"Two attention maps over “{' '.join(words)}”. {' '.join(said)}")


def scaling(N: Tensor, losses: Tensor, law: Mapping[str, float], entropy: float, fitted: int | None = None) -> Figure:
    """Losses by texts read with a fitted law, and what is left above its floor, which is a straight line.

    The law was fitted to the first `fitted` losses (None: all). The others, which it predicts, are hollow.
    """
    import matplotlib.pyplot as plt

    E, A, alpha = (float(law[name]) for name in ("E", "A", "alpha"))
    sizes = torch.logspace(float(N.log10().min()) - 0.2, float(N.log10().max()) + 0.7, 60, dtype=torch.float64)
    with styled():
        figure, (left, right) = plt.subplots(1, 2, figsize=WIDE)
        left.semilogx(sizes, E + A / sizes**alpha, color=BLUE, label="the fitted law")
        seen = {"measured": slice(fitted), "measured, and predicted": slice(len(N) if fitted is None else fitted, None)}
        for (label, some), face in zip(seen.items(), (ORANGE, "none")):
            if len(N[some]):
                dots = {"color": ORANGE, "markerfacecolor": face, "linestyle": "none", "marker": "o"}
                left.semilogx(N[some], losses[some], label=label, **dots)
                right.loglog(N[some], (losses[some] - E).clamp(min=1e-3), **dots)
        left.axhline(E, color=BLUE, linestyle="--", linewidth=1.2, label=f"E = {E:.3f}")
        left.axhline(entropy, color=GREY, linestyle=":", linewidth=2, label=f"entropy {entropy:.3f}")
        left.set(title="Loss by training", xlabel="texts read, N", ylabel="nats a word")
        left.set_ylim(bottom=min(E, entropy) - 0.2 * float(losses.max() - losses.min()))
        left.legend(loc="upper right")
        right.loglog(sizes, A / sizes**alpha, color=BLUE, zorder=1)
        right.set(title="Loss above E", xlabel="texts read, N")
        return finished(
            figure,
            f"Loss against texts read for {len(N)} trainings. The fitted law ends at {E:.2f}, with an exponent of "
            f"{alpha:.2f}. The entropy of the grammar is {entropy:.2f}.",
        )


# -- the widget ------------------------------------------------------------------------------------------------------


def sampler(model: Callable[..., Any], next_token: Callable[..., Tensor]) -> VBox:
    """The widget: what comes next in a definition, and which tokens `next_token` draws under three settings."""
    import ipywidgets as widgets

    word = widgets.Text("blorbel (plant): a small", description="text", layout=widgets.Layout(width="420px"))
    shown = {"layout": widgets.Layout(width="260px"), "style": {"description_width": "85px"}}
    temperature = widgets.FloatSlider(0.7, min=0.1, max=2.0, step=0.1, description="temperature", **shown)
    top_k = widgets.IntSlider(40, min=1, max=50, description="top-k", **shown)
    top_p = widgets.FloatSlider(0.9, min=0.05, max=1.0, step=0.05, description="top-p", **shown)
    picture, said = live.picture("bars of the likeliest next tokens, and of how often each is drawn"), live.spoken(3)
    figure = live.stage(
        (8.4, 3.6), columns=2, left=0.13, right=0.98, bottom=0.14, top=0.9, wspace=0.5, width_ratios=(3, 1)
    )
    read: dict[str, Tensor] = {}

    def logits_of(text: str) -> Tensor:
        if text not in read:
            read.clear()
            with torch.no_grad():
                read[text] = model(torch.tensor([[wordnet.END, *wordnet.encode(text)]]))[0][0, -1].float()
        return read[text]

    def redraw(_: Any = None) -> None:
        logits = logits_of(word.value)
        settings = {"temperature": temperature.value, "top_k": top_k.value, "top_p": top_p.value}
        drawn = next_token(logits.expand(THROWS, -1), generator=torch.Generator().manual_seed(0), **settings)
        tokens = len(wordnet.encode(word.value)) + 1
        with styled():
            left, right = live.wiped(figure)
            _draw_tokens(left, logits.softmax(-1), torch.bincount(drawn, minlength=len(logits)) / THROWS)
            _draw_cache(right, tokens)
        picture.value = live.drawn(figure)
        said.value = _in_words(logits.softmax(-1), drawn, tokens)

    for control in (word, temperature, top_k, top_p):
        control.observe(redraw, "value")
    redraw()
    sliders = widgets.HBox([temperature, top_k, top_p], layout=widgets.Layout(flex_flow="row wrap"))
    return live.panel([word, sliders, picture, said])


def _draw_tokens(axes: Axes, p: Tensor, drawn: Tensor) -> None:
    """Bars of the likeliest tokens: the model's probability, and the share of the draws."""
    likeliest = p.topk(BARS).indices
    places = torch.arange(BARS)
    axes.barh(places - 0.2, p[likeliest].numpy(), height=0.36, color=GREY, label="the model's probability")
    axes.barh(places + 0.2, drawn[likeliest].numpy(), height=0.36, color=ORANGE, label=f"share of {THROWS} draws")
    axes.set_yticks(places.tolist(), [_shown(int(token)) for token in likeliest])
    axes.set(title="The next token", xlim=(0, max(1e-3, 1.08 * float(torch.maximum(p, drawn)[likeliest].max()))))
    axes.set_ylim(BARS - 0.4, -0.6)
    axes.legend(loc="lower right")
    axes.grid(axis="y", visible=False)


def _draw_cache(axes: Axes, tokens: int) -> None:
    """Bars of the cache's bytes for three numbers of groups."""
    heads = wordnet.SIZES["n_heads"]
    groups = sorted({1, max(1, heads // 2), heads})
    sizes = [_cache_bytes(tokens, g) / 1000 for g in groups]
    axes.bar([str(g) for g in groups], sizes, color=[BLUE if g == wordnet.SIZES["n_groups"] else GREY for g in groups])
    axes.set(title="The cache", xlabel="groups", ylabel="kB", ylim=(0, 1.15 * max(sizes)))
    axes.grid(axis="x", visible=False)


def _cache_bytes(tokens: int, groups: int) -> int:
    """Keys and values of all layers, in single precision."""
    d_head = wordnet.SIZES["d_model"] // wordnet.SIZES["n_heads"]
    return 2 * wordnet.SIZES["n_layers"] * groups * d_head * 4 * tokens


def _shown(token: int) -> str:
    """A token as it is written on an axis, blanks visible."""
    if token == wordnet.END:
        return "(end)"
    written = wordnet.pieces()[token].decode(errors="replace").replace(" ", "␣")
    return written if written.isprintable() else f"byte {token}"


def _in_words(p: Tensor, drawn: Tensor, tokens: int) -> str:
    first = int(p.argmax())
    kept = drawn.unique().numel()
    share = float((drawn == first).float().mean())
    named = "1 token" if kept == 1 else f"{kept} different tokens"
    cached = "1 token" if tokens == 1 else f"{tokens} tokens"
    return (
        f"The likeliest token is “{_shown(first)}”: the model gives it {float(p[first]):.0%}, and {share:.0%} of the "
        f"draws are it. The draws name {named}. For {cached} the cache holds "
        f"{_cache_bytes(tokens, wordnet.SIZES['n_groups']) / 1000:,.0f} kB."
    )
