"""Figures and the widget of topic 10: the whole model, alignments, masks, costs, and what each word looks at."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..blocks.threads import one_thread
from ..data import phrases
from . import live
from .style import (
    BLUE,
    COLOURS,
    GREEN,
    GREY,
    INK,
    MARKERS,
    ORANGE,
    PINK,
    SMALL,
    TALL,
    WIDE,
    finished,
    for_words,
    plain_axes,
    styled,
)

if TYPE_CHECKING:
    from ipywidgets import VBox
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

Decode = Callable[[nn.Module, Tensor], Tensor]

EXAMPLES = (
    "the small black cat does not see him .",
    "my tired bird is big .",
    "does the queen often follow us ?",
    "two old women never love a beautiful red house .",
    "they hear her behind the white door .",
)
"""Sentences to begin with. Any other of the grammar will do."""


# -- the whole model -------------------------------------------------------------------------------------------------

_SUBLAYERS = {
    "encoder": ("self-attention", "feed-forward"),
    "decoder": ("masked\nself-attention", "cross-attention", "feed-forward"),
}
_FLOOR, _STEP, _TOP = 0.75, 1.4, 5.0
"""Where the lowest sublayer is drawn, how far the next is above it, and where a stream ends."""
_BOX = (1.7, 0.8)
"""Width and height of a sublayer."""


def whole_picture() -> Figure:
    """Encoder and decoder, each a residual stream and sublayers that read from it and add to it."""
    import matplotlib.pyplot as plt

    with styled():
        figure, axes = plt.subplots(figsize=TALL)
        axes.set(xlim=(-2.5, 4.9), ylim=(-0.9, 5.6), xticks=[], yticks=[])
        plain_axes(axes)
        axes.set_title("The Transformer")
        _stack(axes, 0.0, "encoder", "source sentence", "memory", BLUE)
        _stack(axes, 3.8, "decoder", "target, the words so far", "logits of the next word", ORANGE)
        cross, edge = _FLOOR + _STEP, 3.8 - 1.6 - _BOX[0] / 2
        axes.plot([0.0, 0.65, 0.65], [_TOP, _TOP, cross], color=BLUE, linestyle="--", linewidth=1.8)
        axes.annotate("", (edge, cross), (0.65, cross), arrowprops={"arrowstyle": "-|>", "color": BLUE, "lw": 1.8})
        axes.text(0.75, 3.55, "keys\nand\nvalues", va="center", color=BLUE, fontsize=9)
        return finished(
            figure,
            "An encoder and a decoder, each a vertical line, the residual stream. Beside the encoder's line: "
            "self-attention and feed-forward. Beside the decoder's: masked self-attention, cross-attention and "
            "feed-forward. Each reads from its line and adds to it. The encoder's memory goes into cross-attention.",
        )


def _stack(axes: Axes, x: float, name: str, below: str, above: str, colour: str) -> None:
    """The residual stream of one stack at `x`, with its sublayers on the left."""
    from matplotlib.patches import FancyBboxPatch

    sums = [_FLOOR + _STEP * number + 0.25 for number in range(len(_SUBLAYERS[name]))]
    for low, high in zip([0.0, *(y + 0.13 for y in sums)], [y - 0.13 for y in sums]):
        axes.plot([x, x], [low, high], color=colour, linewidth=5, solid_capstyle="butt")
    thick = {"arrowstyle": "-|>", "color": colour, "linewidth": 5, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (x, _TOP), (x, sums[-1] + 0.13), arrowprops=thick)
    axes.text(x, -0.15, f"{below}\nembedding + position", ha="center", va="top", fontsize=9)
    axes.text(x, _TOP + 0.1, above, ha="center", va="bottom", fontsize=10, fontweight="bold", color=for_words(colour))
    (width, height), middle = _BOX, x - 1.6
    arrow = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
    for number, part in enumerate(_SUBLAYERS[name]):
        y, edge = _FLOOR + _STEP * number, middle + width / 2
        axes.add_patch(FancyBboxPatch((middle - width / 2, y - height / 2), width, height,
                       boxstyle="round,pad=0,rounding_size=0.12", facecolor="none", edgecolor=colour))  # fmt: skip
        axes.text(middle, y, part, ha="center", va="center")
        axes.annotate("", (edge, y - 0.25), (x, y - 0.25), arrowprops=arrow)
        axes.text((edge + x) / 2, y - 0.29, "reads", ha="center", va="top", color=INK, fontsize=8)
        axes.annotate("", (x - 0.13, y + 0.25), (edge, y + 0.25), arrowprops=arrow)
        axes.text((edge + x) / 2 - 0.08, y + 0.29, "adds", ha="center", va="bottom", color=INK, fontsize=8)
        axes.text(x, y + 0.25, "+", ha="center", va="center", color=INK, fontsize=11, fontweight="bold",
                  bbox={"boxstyle": "circle,pad=0.1", "facecolor": "none", "edgecolor": colour})  # fmt: skip
    top = _FLOOR + _STEP * (len(_SUBLAYERS[name]) - 1) + height / 2 + 0.1
    axes.text(middle, top, f"{name} layer, N times", ha="center", va="bottom", color=INK, fontsize=9)


# -- sentences -------------------------------------------------------------------------------------------------------


def alignment(english: str, french: str, places: Sequence[int]) -> Figure:
    """Two rows of words, and a line from every French word to the English one it comes from."""
    import matplotlib.pyplot as plt

    above, below = english.split(), french.split()
    crossing = sum(places[i] > places[j] for i in range(len(places)) for j in range(i + 1, len(places)))
    with styled():
        figure, axes = plt.subplots(figsize=(1.0 + 0.85 * max(len(above), len(below)), 1.9))
        left, right = _spread(above), _spread(below)
        for j, i in enumerate(places):
            moved = any((places[k] - i) * (k - j) < 0 for k in range(len(places)))
            axes.plot([left[i], right[j]], [0.86, 0.14], color=ORANGE if moved else GREY, linewidth=1.8)
        for words, at, y in ((above, left, 1.0), (below, right, 0.0)):
            for word, x in zip(words, at, strict=True):
                axes.text(x, y, word, ha="center", va="center", fontsize=11)
        axes.set(ylim=(-0.2, 1.2), xticks=[], yticks=[])
        axes.set_title("Word alignment")
        plain_axes(axes)
        return finished(figure, f"Word alignment of “{english}” and “{french}”. {crossing} pairs of lines cross.")


def _spread(words: Sequence[str]) -> list[float]:
    """Middles of words that are laid side by side, by their widths in letters."""
    middles, at = [], 0.0
    for word in words:
        middles.append(at + (len(word) + 2) / 2)
        at += len(word) + 2
    return [middle / at for middle in middles]


def by_length(lengths: Sequence[str], accuracy: Mapping[str, Sequence[float]]) -> Figure:
    """The share of several models' translations that are right, by name, for sentences of growing length."""
    import matplotlib.pyplot as plt

    with styled():
        figure, axes = plt.subplots(figsize=WIDE)
        for (name, values), colour, marker in zip(accuracy.items(), COLOURS, MARKERS):
            axes.plot(range(len(lengths)), [100 * v for v in values], color=colour, marker=marker, label=name)
        axes.set(title="Translations by length of sentence", xlabel="English words in the sentence")
        axes.set(ylabel="right to the last word, %")
        axes.set(ylim=(0, 104), xticks=range(len(lengths)))
        axes.set_xticklabels(lengths)
        axes.legend(loc="lower left")
        ends = ", ".join(f"{name} {values[0]:.0%} and {values[-1]:.0%}" for name, values in accuracy.items())
        return finished(
            figure, f"Translations right to the last word, for the shortest and the longest sentences: {ends}."
        )


def seconds_by_length(lengths: Sequence[int], seconds: Mapping[str, Sequence[float]]) -> Figure:
    """The time that each kind of layer, by name, takes for one text of growing length."""
    import matplotlib.pyplot as plt

    with styled():
        figure, axes = plt.subplots(figsize=SMALL)
        for (name, values), colour, marker in zip(seconds.items(), COLOURS, MARKERS):
            axes.loglog(lengths, [1000 * value for value in values], color=colour, marker=marker, label=name)
        axes.set(title="How long does one text take?", xlabel="tokens", ylabel="milliseconds")
        axes.set_xticks(lengths, [f"{length:,}" for length in lengths])
        axes.minorticks_off()
        axes.legend()
        ends = ", ".join(f"{name} {1000 * values[-1]:.1f} ms" for name, values in seconds.items())
        return finished(figure, f"Time for one text, forwards and backwards. For {lengths[-1]:,} tokens: {ends}.")


# -- layers ----------------------------------------------------------------------------------------------------------


def sizes_by_height(sizes: Mapping[str, Sequence[float]]) -> Figure:
    """How long a word's vector is after each layer of a fresh stack, a curve for each kind of norm."""
    import matplotlib.pyplot as plt

    with styled():
        figure, axes = plt.subplots(figsize=SMALL)
        for (name, values), colour, marker in zip(sizes.items(), COLOURS, MARKERS):
            axes.semilogy(range(len(values)), values, color=colour, marker=marker, markersize=4, label=name)
        axes.set(title="How long is a word's vector?", xlabel="layers passed", ylabel="length")
        axes.legend()
        ends = ", ".join(f"{name} {values[-1]:.3g}" for name, values in sizes.items())
        return finished(figure, f"Mean length of the words' vectors after each layer. At the top: {ends}.")


def schedule(rate: Callable[[int, int, int], float], d_model: int, warmup: int, steps: int) -> Figure:
    """The learning rate of every step, with its peak."""
    import matplotlib.pyplot as plt

    rates = [float(rate(step, d_model, warmup)) for step in range(1, steps + 1)]
    peak = max(range(steps), key=lambda i: rates[i])
    with styled():
        figure, axes = plt.subplots(figsize=SMALL)
        axes.plot(range(1, steps + 1), rates, color=BLUE)
        axes.plot(peak + 1, rates[peak], "o", color=ORANGE)
        axes.annotate(f"step {peak + 1}: {rates[peak]:.2g}", (peak + 1, rates[peak]), (8, -4), color=for_words(ORANGE),
                      textcoords="offset points")  # fmt: skip
        axes.set(title="Up in a line, down like 1/√step", xlabel="step", ylabel="learning rate")
        return finished(figure, f"Learning rate over {steps} steps, with its peak of {rates[peak]:.2g} at {peak + 1}.")


def architectures(
    masks: Callable[..., Mapping[str, Tensor | None]], src_length: int = 4, tgt_length: int = 5
) -> Figure:
    """The masks of all three architectures. The last source word and the last two target words are padding."""
    import matplotlib.pyplot as plt

    source, target = (torch.tensor([n, n - lost]) for n, lost in ((src_length, 1), (tgt_length, 2)))
    wanted = (
        ("A  decoder", masks("decoder", target), "decoder_self", tgt_length, tgt_length),
        ("B  encoder", masks("encoder", source), "encoder_self", src_length, src_length),
        *(("C  both", masks("encoder-decoder", source, target), key, *shape)
          for key, shape in (("encoder_self", (src_length, src_length)), ("decoder_self", (tgt_length, tgt_length)),
                             ("cross", (tgt_length, src_length)))),
    )  # fmt: skip
    with styled():
        widths = [asked for *_, asked in wanted]  # cells of one size in all five
        figure, row = plt.subplots(1, 5, figsize=(9.0, 2.4), width_ratios=widths)
        for axes, (name, found, key, asking, asked) in zip(row, wanted, strict=True):
            mask = found[key]
            seen = torch.zeros(asking, asked) if mask is None else mask.expand(2, 1, asking, asked)[1, 0].float()
            axes.imshow(seen.numpy(), vmin=-0.35, vmax=1.2, aspect="equal")
            axes.set_anchor("N")
            axes.set_title(f"{name}\n{key}", fontsize=9)
            axes.set(xlabel="key", xticks=[], yticks=[])
            plain_axes(axes)
            for i in range(asking):
                for j in range(asked):
                    if seen[i, j]:
                        axes.text(j, i, "•", ha="center", va="center", color="black")
        row[0].set_ylabel("looking")
        return finished(
            figure,
            "Five masks, a row for each query. A is a triangle, B a square, and C has a square, a triangle "
            "and a rectangle. Columns of padding are empty in all of them.",
        )


# -- attention -------------------------------------------------------------------------------------------------------


def cross_weights(model: nn.Module, src: Tensor, tgt_in: Tensor) -> Tensor:
    """Cross-attention of the target's words to the source: (layers, B, h, T, S), of modules `cross_attention`."""
    return torch.stack(_weights(model, "cross_attention", src, tgt_in)).cpu()


def _weights(model: nn.Module, attention: str, *inputs: Tensor) -> list[Tensor]:
    """The weights that the modules of this name return while the model runs, in the order of their calls."""
    caught: list[Tensor] = []
    layers = [part for name, part in model.named_modules() if name.split(".")[-1] == attention]
    hooks = [layer.register_forward_hook(lambda *call: caught.append(call[-1][1].detach())) for layer in layers]
    try:
        with torch.no_grad():
            model(*inputs)
    finally:
        for hook in hooks:
            hook.remove()
    return caught


def decoder_only(model: nn.Module, ids: Tensor, words: Sequence[str]) -> Figure:
    """What each word of ids (1, T) attends to in every layer, and on which words its logits depend."""
    import matplotlib.pyplot as plt

    layers = [weights[0].mean(0) for weights in _weights(model, "self_attention", ids)]
    moved = _moved(model, ids)
    with styled():
        n = len(layers) + 1
        figure, row = plt.subplots(1, n, figsize=(2.2 + 2.3 * n, 2.9), squeeze=False, sharey=True)
        for number, (axes, weights) in enumerate(zip(row[0], layers, strict=False), 1):
            image = _heat(axes, weights, words, words)
            axes.set(xlabel="looks at")
            axes.set_title(f"layer {number}")
        if layers:
            figure.colorbar(image, ax=row[0, :-1], label="weight", shrink=0.8)
        _heat(row[0, -1], moved, words, words)
        row[0, -1].set(xlabel="word that is replaced")
        row[0, -1].set_title("logits that change")
        row[0, 0].set_ylabel("word")
        kind = "every word" if moved.all() else "itself alone" if moved.sum() == len(words) else "some words"
        kind = "itself and the words before" if torch.equal(moved, torch.ones_like(moved).tril()) else kind
        return finished(figure, f"Attention in {len(layers)} layers. The logits of each word depend on {kind}.")


def _moved(model: nn.Module, ids: Tensor) -> Tensor:
    """(T, T), with 1 where another word at position j changes the logits of row i."""
    columns = []
    with torch.no_grad():
        before = model(ids)
        for j in range(ids.shape[1]):
            other = ids.clone()
            other[0, j] = int(ids[0, j] == 0)
            columns.append((model(other) - before).abs().amax(-1)[0] > 1e-6)
    return torch.stack(columns, dim=1).float().cpu()


def looks(model: nn.Module, src: Tensor, said: Tensor) -> Tensor:
    """Cross-attention while the model writes `said` (B, T), which has no sos: a row for each word."""
    return cross_weights(model, src, F.pad(said, (1, -1), value=phrases.SOS))


def cross_maps(weights: Tensor, french: Sequence[str], english: Sequence[str]) -> Figure:
    """A heat map of each layer's cross-attention (layers, h, T, S), the mean of its heads."""
    import matplotlib.pyplot as plt

    layers = weights.mean(1)
    with styled():
        size = (1.2 + len(layers) * (0.8 + 0.34 * len(english)), 1.5 + 0.3 * len(french))
        figure, row = plt.subplots(1, len(layers), figsize=size, squeeze=False, sharey=True)
        for number, (axes, layer) in enumerate(zip(row[0], layers, strict=True), 1):
            image = _heat(axes, layer, french, english)
            axes.set_title(f"layer {number}")
            axes.set(xlabel="looks at")
        figure.colorbar(image, ax=row[0], label="weight", shrink=0.8)
        row[0][0].set_ylabel("word being written")
        best = [english[int(i)] for i in layers[-1].argmax(-1)]
        pairs = ", ".join(f"{word}: {looked}" for word, looked in zip(french, best, strict=True))
        return finished(figure, f"Cross-attention by layer. In the last, the words look mostly at: {pairs}.")


def _heat(axes: Axes, weights: Tensor, rows: Sequence[str], columns: Sequence[str]) -> AxesImage:
    image = axes.imshow(weights.detach().cpu().float().numpy(), vmin=0.0, vmax=1.0, aspect="auto")
    axes.set_xticks(range(len(columns)), list(columns), rotation=60, ha="right")
    axes.set_yticks(range(len(rows)), list(rows))
    plain_axes(axes)
    return image


# -- the widget ------------------------------------------------------------------------------------------------------


class _Translation:
    """A sentence, its translation by the model, and the cross-attention of every word."""

    def __init__(self, model: nn.Module, decode: Decode, sentence: str) -> None:
        self.english = words_of(sentence)
        place = next(model.parameters()).device
        src = phrases.encode([self.english], "english").to(place)
        most = int(getattr(model, "max_len", src.shape[1]))
        if src.shape[1] > most:
            raise ValueError(
                f"The model reads at most {most} words, the end included. This sentence has {src.shape[1]}."
            )
        with torch.no_grad(), one_thread(place):
            ids = decode(model, src)
        self.french = phrases.decode(ids[0], "french")
        said = min(len(self.french) + 1, ids.shape[1])  # the end is included, unless the model never reached it
        with one_thread(place):
            weights = looks(model, src, ids[:, :said].to(place))
        self.weights = weights[:, 0]  # (layers, h, T, S), a row for each word that was said
        self.said = [*self.french, "(end)"][:said]
        self.expected = _by_the_grammar(self.english)

    def looks(self, layer: int, word: int) -> list[float]:
        """Shares over the English words and the end, heads averaged."""
        return self.weights[layer, :, word].mean(0).tolist()


def words_of(sentence: str) -> list[str]:
    """Words in lower case but for I, with a full stop if nothing ends them."""
    words = sentence.replace(".", " . ").replace("?", " ? ").split()
    words = [word if word == "I" else word.lower() for word in words]
    words = ["I" if word == "i" else word for word in words]
    return words if words[-1:] in (["."], ["?"]) else [*words, "."]


def _by_the_grammar(words: Sequence[str]) -> list[str] | None:
    try:
        return list(phrases.aligned(words)[0])
    except ValueError:
        return None


def translator(model: nn.Module, decode: Decode) -> VBox:
    """Translates what you type, and shows which English words the model looked at for the French word you choose."""
    import ipywidgets as widgets

    model.eval()
    wide = widgets.Layout(width="min(560px, 98%)")
    example = widgets.IntSlider(min=1, max=len(EXAMPLES), value=1, description="example", layout=wide)
    typed = widgets.Text(value=EXAMPLES[0], description="English", continuous_update=False, layout=wide)
    french = live.choice("French", [("…", 0)])
    made = _Translation(model, decode, EXAMPLES[0])
    n_layers = len(made.weights)
    layer = widgets.IntSlider(value=n_layers, min=1, max=n_layers, description="layer")
    looks, verdict = widgets.HTML(), widgets.HTML()
    busy = False

    def draw(_: Any = None) -> None:
        if not busy:
            looks.value = _coloured(made, layer.value - 1, french.value or 0)

    def translate(_: Any = None) -> None:
        nonlocal made, busy
        try:
            made = _Translation(model, decode, typed.value)
        except ValueError as error:
            verdict.value = f"<i>{html.escape(str(error))}</i>"
            return
        busy = True
        french.options = [(word, i) for i, word in enumerate(made.said)]
        french.value = min(3, len(made.said) - 1)
        busy = False
        verdict.value = _verdict(made)
        draw()

    def take(_: Any) -> None:
        typed.value = EXAMPLES[example.value - 1]

    example.observe(take, "value")
    typed.observe(translate, "value")
    french.observe(draw, "value")
    layer.observe(draw, "value")
    translate()
    known = widgets.HTML(f"<details><summary>words it knows</summary>{_known()}</details>")
    return live.panel([example, typed, french, layer, looks, verdict, known])


def _known() -> str:
    return html.escape(" ".join(phrases.vocabulary("english")[len(phrases.SPECIAL) :]))


def _coloured(made: _Translation, layer: int, word: int) -> str:
    """The English words, each on a tint as strong as its share of the attention, with the share below."""
    cells = "".join(
        f'<td style="text-align:center;padding:4px 7px;border-bottom:{1 + round(7 * share)}px solid {BLUE};'
        f'background:rgba(86,180,233,{0.04 + 0.4 * share:.2f})">{html.escape(name)}<br><small>{share:.0%}</small></td>'
        for name, share in zip([*made.english, "(end)"], made.looks(layer, word), strict=True)
    )
    label = html.escape(_spoken(made, layer, word))
    return f'<table aria-label="{label}"><tr>{cells}</tr></table>'


def _spoken(made: _Translation, layer: int, word: int) -> str:
    shares = made.looks(layer, word)
    names, said = [*made.english, "(end)"], [*made.french, "(end)"][word]
    best = sorted(range(len(shares)), key=lambda i: -shares[i])[:3]
    return f"To write “{said}”, the model looks at " + ", ".join(f"{names[i]} {shares[i]:.0%}" for i in best)


def _verdict(made: _Translation) -> str:
    if made.expected is None:
        return "The grammar has no such sentence, so it cannot tell whether this is right."
    if made.expected == made.french:
        return f'<span style="color:{GREEN}">✓</span> The grammar says the same.'
    right = html.escape(" ".join(made.expected))
    return f'<span style="color:{PINK}">✗</span> The grammar says: <b>{right}</b>'
