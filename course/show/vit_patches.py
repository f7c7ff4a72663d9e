"""Pictures of topic 11: scans, cuts, puzzles, sound, what positions learned, and where the `[CLS]` token looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from . import live
from .style import BLUE, COLOURS, FAINT, GREY, INK, MARKERS, ORANGE, WIDE, finished, for_words, plain_axes, styled

if TYPE_CHECKING:
    from ipywidgets import VBox
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Patchify = Callable[[Tensor, int], Tensor]
Maps = Callable[[Tensor], Tensor]
"""images (B, C, H, W) -> attention maps (n_layers, B, h, N + 1, N + 1), the `[CLS]` token at place 0."""


# -- figures ---------------------------------------------------------------------------------------------------------


def scans(images: Tensor, labels: Tensor, columns: int = 10) -> Figure:
    """Images (B, 1, H, W) with their labels, in rows of `columns`."""
    import matplotlib.pyplot as plt

    rows = -(-len(images) // columns)
    with styled():
        figure, grid = plt.subplots(rows, columns, figsize=(0.72 * columns, 0.9 * rows), squeeze=False)
        for axes in grid.flat[len(images) :]:
            axes.axis("off")
        for axes, image, label in zip(grid.flat, images, labels.tolist()):
            _picture(axes, image)
            axes.set_title(str(label), fontsize=9, loc="center", pad=2)
        shape = " x ".join(map(str, images.shape[-2:]))
        return finished(figure, f"{len(images)} scans of handwritten digits, {shape} pixels each, with their labels.")


def in_a_row(images: Mapping[str, Tensor]) -> Figure:
    """Single images (C, H, W) side by side, by name. All values are drawn from white (0) to black (1)."""
    import matplotlib.pyplot as plt

    with styled():
        figure, row = plt.subplots(1, len(images), figsize=(1.75 * len(images), 2.0), squeeze=False)
        for axes, (name, image) in zip(row[0], images.items()):
            _picture(axes, image)
            axes.set_title(name, fontsize=10, loc="center")
        return finished(figure, f"Images side by side: {', '.join(images)}.")


def cut(image: Tensor, patchify: Patchify, p: int) -> Figure:
    """An image (C, H, W) with the cuts drawn in, and its patches in the order in which `patchify` gives them."""
    import matplotlib.pyplot as plt

    patches = patchify(image[None], p)[0].unflatten(1, (-1, p, p))  # (N, C, p, p)
    N = len(patches)
    columns = image.shape[2] // p
    rows = -(-N // 8)
    with styled():
        figure = plt.figure(figsize=(7.2, max(2.4, 0.8 * rows + 0.4)))
        left, right = figure.subfigures(1, 2, width_ratios=(1, 2.2))
        axes = left.subplots()
        _picture(axes, image)
        _lines(axes, image.shape[1:], p)
        for n in range(N):
            corner, back = (
                (n % columns * p - 0.35, n // columns * p - 0.3),
                {"facecolor": "white", "alpha": 0.8, "lw": 0},
            )
            axes.text(*corner, str(n), color="black", fontsize=8, va="top", bbox=back | {"pad": 0.5})
        axes.set_title(f"cut with p = {p}", fontsize=10)
        for n, (axes, patch) in enumerate(zip(right.subplots(rows, 8, squeeze=False).flat, [*patches, *[None] * 8])):
            if patch is None:
                axes.axis("off")
                continue
            _picture(axes, patch)
            axes.set_title(str(n), fontsize=8, loc="center", pad=2, color=for_words(ORANGE))
        return finished(
            figure, f"An image cut into {N} patches of {p} × {p}, and the patches in the order they come in."
        )


def similarity(positions: Tensor) -> Figure:
    """For each patch the cosine of its positional embedding with all of positions (N + 1, D), the paper's figure 7.

    Row 0, the `[CLS]` token's, is left out. The other rows make a square grid.
    """
    import matplotlib.pyplot as plt

    embeddings = positions.detach().cpu().float()[1:]
    side = round(len(embeddings) ** 0.5)
    embeddings = embeddings / embeddings.norm(dim=1, keepdim=True)
    alike = (embeddings @ embeddings.T).view(side, side, side, side)
    near = _mean_by_distance(alike)
    with styled():
        figure, grid = plt.subplots(side, side, figsize=(5.6, 5.0), squeeze=False)
        for i in range(side):
            for j in range(side):
                drawn = grid[i, j].imshow(alike[i, j].numpy(), vmin=-0.5, vmax=0.5)
                grid[i, j].set(xticks=[], yticks=[])
                grid[i, j].plot(j, i, "+", color=ORANGE, markersize=7, markeredgewidth=1.8)
                plain_axes(grid[i, j])
        figure.suptitle("How similar is each positional embedding to all others?", fontsize=11, fontweight="bold")
        figure.supxlabel("column of the patch", fontsize=10)
        figure.supylabel("row of the patch", fontsize=10)
        figure.colorbar(drawn, ax=grid, shrink=0.7, label="cosine", ticks=[-0.5, 0, 0.5], extend="both")
        words = ", ".join(f"{value:+.2f} at distance {k}" for k, value in enumerate(near) if k)
        return finished(
            figure, f"Cosine of each patch's positional embedding with all {len(embeddings)}. On average {words}."
        )


def disorder(curves: Mapping[str, Sequence[float]], moved: Sequence[int]) -> Figure:
    """Accuracy of several models, by name, against the number of patches that were moved to other places."""
    import matplotlib.pyplot as plt

    with styled():
        figure, axes = plt.subplots(figsize=WIDE)
        for (name, values), colour, marker in zip(curves.items(), COLOURS, MARKERS):
            axes.plot(moved, [100 * value for value in values], color=colour, marker=marker, label=name)
        _guessing(axes, moved[-1])
        axes.set(title="Patches in another order", xlabel="patches moved", ylabel="right answers, %", ylim=(0, 105))
        axes.set_xticks(list(moved))
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 0.12))
        last = ", ".join(f"{name} {values[0]:.0%} and {values[-1]:.0%}" for name, values in curves.items())
        return finished(figure, f"Accuracy with no patch moved and with {moved[-1]} moved: {last}.")


def by_examples(curves: Mapping[str, Sequence[float]], examples: Sequence[int], title: str = "") -> Figure:
    """Accuracy of several models, by name, against the number of examples they learned from (logarithmic)."""
    import matplotlib.pyplot as plt

    with styled():
        figure, axes = plt.subplots(figsize=WIDE)
        for (name, values), colour, marker in zip(curves.items(), COLOURS, MARKERS):
            axes.semilogx(examples, [100 * value for value in values], color=colour, marker=marker, label=name)
        axes.set(title=title, xlabel="scans to learn from", ylabel="right answers, %", ylim=(None, 101))
        axes.set_xticks(list(examples), [f"{n:,}" for n in examples])
        axes.minorticks_off()
        axes.legend(loc="lower right")
        ends = ", ".join(f"{name} {values[0]:.0%} and {values[-1]:.0%}" for name, values in curves.items())
        return finished(figure, f"Accuracy learned from {examples[0]} scans and from {examples[-1]:,}: {ends}.")


def spectrogram(spec: Tensor, p: int, stride: int, shown: int = 3) -> Figure:
    """A spectrogram (F, T), low frequencies at the bottom, with the first patches of its lowest band drawn in."""
    import matplotlib.pyplot as plt
    from matplotlib.patches import Rectangle

    bands, times = ((size - p) // stride + 1 for size in spec.shape)
    with styled():
        figure, axes = plt.subplots(figsize=WIDE)
        axes.imshow(spec.numpy(), origin="lower", aspect="auto", interpolation="nearest")
        for n in range(min(shown, times)):
            begins, ends, height = n * stride - 0.5, n * stride + p - 0.5, (4 + n) * p / 2
            dash = ("-", "--", ":")[n % 3]
            axes.add_patch(Rectangle((begins, -0.5), p, p, fill=False, edgecolor="white", linewidth=2, linestyle=dash))
            # Where it lies in time, one above the other: outlines that overlap hide each other's numbers.
            axes.plot([begins, ends], [height, height], color="white", marker="|", linewidth=1.5, linestyle=dash)
            axes.text(begins + p / 6, height + p / 12, str(n), color="white")
        axes.set(title=f"{bands} × {times} patches of {p} × {p}", xlabel="time, steps", ylabel="frequency, steps")
        axes.grid(False)
        return finished(
            figure,
            f"A spectrogram of {spec.shape[0]} frequencies and {spec.shape[1]} times, with a patch every {stride}.",
        )


def looks(maps: Tensor, images: Tensor, labels: Tensor, said: Tensor) -> Figure:
    """Where the `[CLS]` token looks, layer by layer (mean of the heads): maps (n_layers, B, h, N + 1, N + 1)."""
    import matplotlib.pyplot as plt

    layers = len(maps)
    with styled():
        size = (1.3 * (len(images) + 0.6), 1.4 * (layers + 1))
        figure, grid = plt.subplots(layers + 1, len(images), figsize=size, squeeze=False)
        for b, image in enumerate(images):
            _picture(grid[0, b], image)
            grid[0, b].set_title(f"{int(labels[b])}, read as {int(said[b])}", fontsize=9, loc="center")
            for layer in range(layers):
                _overlay(grid[layer + 1, b], image, maps[layer, b].mean(0)[0])
        for layer in range(layers):
            grid[layer + 1, 0].set_ylabel(f"layer {layer + 1}")
        return finished(figure, f"Attention of the [CLS] token over {len(images)} images, in {layers} layers.")


# -- the widget ------------------------------------------------------------------------------------------------------


def explorer(attention_maps: Maps, images: Tensor, patchify: Patchify, p: int = 3) -> VBox:
    """Controls for an image, a patch size, a layer and a head, the cut, its cost, and the `[CLS]` token's attention.

    `attention_maps(images)` is that of a model trained with patches of `p`.
    """
    import ipywidgets as widgets

    with torch.no_grad():
        maps = attention_maps(images).cpu()  # (n_layers, B, h, N + 1, N + 1)
    layers, _, heads = maps.shape[:3]
    pictures, size = images.cpu(), images.shape[-1]
    sizes = [n for n in range(1, size + 1) if size % n == 0]
    row = widgets.Layout(flex_flow="row wrap")

    def slider(name: str, last: int) -> Any:
        layout = widgets.Layout(width="280px")
        return widgets.IntSlider(value=1, min=1, max=last, description=name, layout=layout)

    image, layer = slider("image", len(images)), slider("layer", layers)
    layer.value = layers
    patch = widgets.SelectionSlider(
        options=sizes, value=p, description="patch size", layout=widgets.Layout(width="280px")
    )
    head = live.choice("heads", [("mean of all", 0), *((f"head {i}", i) for i in range(1, heads + 1))])
    figure = _two_panels()
    drawn, spoken = live.picture("the image in patches, and where the [CLS] token attends"), live.spoken()

    def redraw(_: Any = None) -> None:
        b, at, one = image.value - 1, layer.value - 1, head.value - 1 if head.value else None
        _draw(figure, pictures[b], maps[:, b], patchify, patch.value, at, one)
        drawn.value = live.drawn(figure)
        spoken.value = _in_words(pictures[b], maps[:, b], patch.value, at, one)

    for control in (image, patch, layer, head):
        control.observe(redraw, "value")
    redraw()
    return live.panel([widgets.HBox([image, patch, layer, head], layout=row), drawn, spoken])


# -- drawing ---------------------------------------------------------------------------------------------------------


def _draw(
    figure: Figure, image: Tensor, maps: Tensor, patchify: Patchify, p: int, layer: int, head: int | None
) -> None:
    """Left the patches of p of the image, right the `[CLS]` token's attention, from maps (n_layers, h, ...)."""
    with styled():
        left, right = live.wiped(figure)
        _picture(left, _apart(image, patchify, p))
        N = len(patchify(image[None], p)[0])
        left.set_title(f"patches of {p}: {N + 1} tokens, {(N + 1) ** 2:,} scores per head")
        _overlay(right, image, _row(maps, layer, head))
        who = "all heads" if head is None else f"head {head + 1}"
        right.set_title(f"attention of [CLS], layer {layer + 1}, {who}")


def _row(maps: Tensor, layer: int, head: int | None) -> Tensor:
    """The `[CLS]` token's attention (N + 1,) in one layer."""
    return maps[layer].mean(0)[0] if head is None else maps[layer, head, 0]


def _apart(image: Tensor, patchify: Patchify, p: int) -> Tensor:
    """The patches of an image (C, H, W) laid out with gaps of a pixel between them. A gap is NaN, drawn blue-grey."""
    rows, columns = (size // p for size in image.shape[1:])
    patches = patchify(image[None], p)[0].unflatten(1, (-1, p, p))
    page = torch.full((image.shape[0], rows * (p + 1) - 1, columns * (p + 1) - 1), float("nan"))
    for n, patch in enumerate(patches):
        y, x = n // columns * (p + 1), n % columns * (p + 1)
        page[:, y : y + p, x : x + p] = patch
    return page


def _in_words(image: Tensor, maps: Tensor, p: int, layer: int, head: int | None) -> str:
    tokens = image.shape[1] // p * (image.shape[2] // p) + 1
    row = _row(maps, layer, head)
    side = round((len(row) - 1) ** 0.5)
    best = int(row[1:].argmax())
    who = "On average over its heads" if head is None else f"With head {head + 1}"
    return (
        f"With patches of {p} × {p} pixels the image has {tokens} tokens. {who}, the [CLS] token of layer {layer + 1} "
        f"attends most to the patch in row {best // side + 1}, column {best % side + 1} ({float(row[1 + best]):.0%}), "
        f"and to itself with {float(row[0]):.0%}."
    )


def _picture(axes: Axes, image: Tensor) -> None:
    """An image (C, H, W) of one channel as ink on paper, of three in colour."""
    import matplotlib as mpl

    ink = mpl.colormaps["Greys"].with_extremes(bad=f"{BLUE}60")
    pixels = image.detach().cpu().float()
    axes.imshow(pixels[0].numpy() if len(pixels) == 1 else pixels.movedim(0, -1).numpy(), cmap=ink, vmin=0.0, vmax=1.0)
    axes.set(xticks=[], yticks=[])
    axes.grid(False)
    for spine in axes.spines.values():  # white paper on a white page needs an edge
        spine.set(visible=True, color=FAINT, linewidth=0.8)


def _overlay(axes: Axes, image: Tensor, row: Tensor) -> None:
    """Attention (N + 1,) of the `[CLS]` token in colour, over the outlines of the image's ink."""
    side = round((len(row) - 1) ** 0.5)
    height, width = image.shape[1:]
    row = row.detach().cpu().float()
    heat = row[1:].view(side, side)
    extent = (-0.5, width - 0.5, height - 0.5, -0.5)
    axes.imshow(heat.numpy(), extent=extent, vmin=0.0, vmax=max(float(row.max()), 1e-6), interpolation="nearest")
    axes.contour(image[0].cpu().float().numpy(), levels=[0.4], colors="white", linewidths=1.4)
    axes.set(xticks=[], yticks=[])
    plain_axes(axes)


def _lines(axes: Axes, shape: Sequence[int], p: int) -> None:
    for y in range(p, shape[0], p):
        axes.axhline(y - 0.5, color=BLUE, linewidth=1)
    for x in range(p, shape[1], p):
        axes.axvline(x - 0.5, color=BLUE, linewidth=1)


def _guessing(axes: Axes, end: float) -> None:
    axes.axhline(10, color=GREY, linestyle=":", linewidth=1.5)
    axes.annotate("guessing", (end, 10), (0, 4), textcoords="offset points", color=INK, ha="right")


def _mean_by_distance(alike: Tensor) -> list[float]:
    """Mean cosine of embeddings whose patches lie 0, 1, 2, ... apart (the larger of rows and columns apart)."""
    side = len(alike)
    place = torch.arange(side)
    far = torch.maximum(
        (place[:, None, None, None] - place[:, None]).abs(), (place[:, None, None] - place).abs()
    )  # (row, column, row, column)
    return [float(alike[far == k].mean()) for k in range(side)]


def _two_panels() -> Figure:
    return live.stage((8.2, 3.9), columns=2, left=0.02, right=0.98, bottom=0.03, top=0.9, wspace=0.1)
