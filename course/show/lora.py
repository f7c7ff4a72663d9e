"""Pictures of topic 12: accuracy against what it costs, an update and its two factors, and a matrix at every rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from . import live
from .style import BLUE, COLOURS, DIVERGING, FAINT, GREY, INK, MARKERS, ORANGE, WIDE, finished, plain_axes, styled

if TYPE_CHECKING:
    from ipywidgets import VBox
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BestRank = Callable[[Tensor, int], tuple[Tensor, Tensor]]
"""W (out, in) and r -> B (out, r) and A (r, in)."""
Spent = tuple[int, float]
"""How many numbers were trained, and the share of right answers that came of it."""


# -- figures ---------------------------------------------------------------------------------------------------------


def by_parameters(lora: Mapping[int, Spent], others: Mapping[str, Spent], untouched: float) -> Figure:
    """Accuracy against trainable numbers (logarithmic) for LoRA by rank, other ways, and the untouched model."""
    import matplotlib.pyplot as plt

    with styled():
        figure, axes = plt.subplots(figsize=WIDE)
        numbers = [spent[0] for spent in lora.values()]
        axes.semilogx(numbers, [100 * spent[1] for spent in lora.values()], color=BLUE, marker="o", label="LoRA")
        for r, (n, right) in lora.items():
            axes.annotate(f"r = {r}", (n, 100 * right), (0, -14), textcoords="offset points", ha="center", color=BLUE)
        for (name, (n, right)), colour, marker in zip(others.items(), COLOURS[1:], MARKERS[1:]):
            axes.plot(n, 100 * right, color=colour, marker=marker, linestyle="", markersize=9, label=name)
        axes.axhline(100 * untouched, color=GREY, linestyle=":", linewidth=1.5)
        right_edge = max([*numbers, *(n for n, _ in others.values())])
        axes.annotate("untouched", (right_edge, 100 * untouched), (0, 4), textcoords="offset points", color=INK)
        axes.texts[-1].set_ha("right")
        axes.set(title="What accuracy costs", xlabel="numbers trained", ylabel="right answers, %", ylim=(0, 105))
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 0.14), ncols=2)
        every = {**{f"LoRA r = {r}": spent for r, spent in lora.items()}, **others}
        words = ", ".join(f"{name} {right:.0%} with {n:,}" for name, (n, right) in every.items())
        return finished(figure, f"Accuracy against numbers trained: {words}. The untouched model has {untouched:.0%}.")


def update(W: Tensor, B: Tensor, A: Tensor, scaling: float) -> Figure:
    """The weight W (out, in), both factors B (out, r) and A (r, in) of its update, and what is added: scaling · B A."""
    import matplotlib.pyplot as plt

    W, B, A = (part.detach().cpu().float() for part in (W, B, A))
    added = scaling * B @ A
    parts = {"W, frozen": W, "B": B, "A": A, "added to W": added}
    with styled():
        figure, row = plt.subplots(1, 4, figsize=(8.4, 2.9), width_ratios=[part.shape[1] for part in parts.values()])
        for axes, (name, part) in zip(row, parts.items()):
            _signed(axes, part, float(part.abs().max()))
            axes.set_title(name, fontsize=10, loc="center")
            axes.set_xlabel(f"{part.shape[0]} × {part.shape[1]}", fontsize=9)
        figure.get_layout_engine().set(wspace=0.12)  # four separate matrices
        share = float(added.norm() / W.norm())
        return finished(
            figure,
            f"A weight of {W.shape[0]} × {W.shape[1]}, B and A of rank {B.shape[1]}, and their product, "
            f"{share:.0%} as large as the weight.",
        )


def spectra(matrices: Mapping[str, Tensor]) -> Figure:
    """Singular values of several matrices, by name, each as a share of its own largest."""
    import matplotlib.pyplot as plt

    needed = []
    with styled():
        figure, axes = plt.subplots(figsize=WIDE)
        for (name, matrix), colour, marker in zip(matrices.items(), COLOURS, MARKERS):
            values = _singular_values(matrix)
            axes.plot(range(1, len(values) + 1), values / values[0], color=colour, marker=marker, ms=4, label=name)
            needed.append(f"{name} needs {_rank_for(values, 0.9)} of {len(values)}")
        axes.set(title="Singular values", xlabel="number", ylabel="share of the largest", ylim=(0, 1.05))
        axes.legend(loc="upper right")
        return finished(figure, f"For nine tenths of the squared entries {', '.join(needed)} singular values.")


# -- the widget ------------------------------------------------------------------------------------------------------


def explorer(matrices: Mapping[str, Tensor], best_rank_r: BestRank) -> VBox:
    """Controls for a matrix and a rank, with its singular values, its best approximation, and what that costs."""
    import ipywidgets as widgets

    def widest(name: str) -> int:
        return min(matrices[name].shape)

    layout = widgets.Layout(width="320px")
    matrix = live.choice("matrix", list(matrices))
    rank = widgets.IntSlider(value=2, min=1, max=widest(matrix.value), description="rank r", layout=layout)
    picture, spoken = live.picture("singular values, the matrix, and its best approximation of a rank"), live.spoken()
    figure = _three_panels()

    def redraw(_: Any = None) -> None:
        spoken.value = _draw(figure, matrices, best_rank_r, matrix.value, rank.value)
        picture.value = live.drawn(figure)

    def choose(_: Any) -> None:
        before = rank.value
        rank.max = widest(matrix.value)  # may lower the rank, which draws
        if rank.value == before:
            redraw()

    rank.observe(redraw, "value")
    matrix.observe(choose, "value")
    redraw()
    return live.panel([widgets.HBox([matrix, rank], layout=widgets.Layout(flex_flow="row wrap")), picture, spoken])


# -- drawing ---------------------------------------------------------------------------------------------------------


def _three_panels() -> Figure:
    sizes: dict[str, Any] = {"width_ratios": (1.3, 1, 1), "wspace": 0.12}
    return live.stage((8.2, 3.1), columns=3, left=0.06, right=0.99, bottom=0.16, top=0.86, **sizes)


def _draw(figure: Figure, matrices: Mapping[str, Tensor], best_rank_r: BestRank, name: str, r: int) -> str:
    """Fill the three panels with the matrix called `name` and its best rank r. Returns a description in words."""
    W = matrices[name].detach().cpu().float()
    B, A = (factor.detach().cpu().float() for factor in best_rank_r(W, r))
    values, largest = _singular_values(W), float(W.abs().max())
    with styled():
        left, middle, right = live.wiped(figure)
        numbers = range(1, len(values) + 1)
        left.bar(numbers, values.tolist(), color=[BLUE if n <= r else FAINT for n in numbers])
        left.axvline(r + 0.5, color=ORANGE, linestyle="--", linewidth=1.5)
        left.set(title=f"singular values, {r} kept", xlabel="number")
        for axes, matrix, title in ((middle, W, name), (right, B @ A, f"rank {r}")):
            _signed(axes, matrix, largest)
            axes.set_title(title, fontsize=11, loc="center")
    return _in_words(name, W, B, A)


def _signed(axes: Axes, matrix: Tensor, largest: float) -> None:
    """A matrix that is clear at zero, positive entries red and negative ones blue."""
    limit = max(largest, 1e-12)
    axes.imshow(matrix.numpy(), cmap=DIVERGING, vmin=-limit, vmax=limit, interpolation="nearest")
    axes.set(xticks=[], yticks=[])
    plain_axes(axes)


def _singular_values(matrix: Tensor) -> Tensor:
    values: Tensor = torch.linalg.svdvals(matrix.detach().cpu().double())
    return values


def _rank_for(values: Tensor, share: float) -> int:
    """How many of the largest singular values hold that share of the sum of squares."""
    held = values.square().cumsum(0) / values.square().sum()
    return int((held < share).sum()) + 1


def _in_words(name: str, W: Tensor, B: Tensor, A: Tensor) -> str:
    error = float((W - B @ A).norm() / W.norm())
    return (
        f"{name} is {W.shape[0]} × {W.shape[1]}. At rank {B.shape[1]} the error is {error:.0%} of its size, and "
        f"{B.numel() + A.numel():,} numbers replace {W.numel():,}."
    )
