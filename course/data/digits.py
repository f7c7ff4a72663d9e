"""Handwritten digits: 1,797 scans of 8 × 8 pixels, written by 13 people, and a larger canvas to place them on.

    . 3 8 2 .        A scan has ten classes, one channel, and values between 0 (paper) and 1 (ink). All of them stand
    . . 5 7 .        upright in the middle. `place` puts each at a random position on an empty canvas, so that no pixel
    . 1 6 . .        belongs to a stroke any more, and a model must find the digit first.

Glossary: B images, H x W pixels, one channel.

Source: E. Alpaydin and C. Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning Repository, 1998,
the test part, which comes with scikit-learn (`sklearn.datasets.load_digits`); no network is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from .cache import datasets_library, kept

if TYPE_CHECKING:
    from datasets import DatasetDict

CLASSES = 10
SIZE = 8
"""Pixels along each side of a scan."""
CANVAS = 12
"""Pixels along each side of the canvas, which leaves 5 × 5 positions for a scan."""
TRAIN = 1400
"""Number of scans for training. The other 397 are held out."""
BATCH = 50
"""Images in a training batch."""
GREYS = 16
"""Ink is counted in sixteenths, because each pixel was 4 × 4 black or white ones."""


def _scan() -> tuple[Tensor, Tensor]:
    """Return all scans in the order of their split: images (1797, 8, 8) in [0, 1] and labels (1797,)."""
    from sklearn.datasets import load_digits

    found = load_digits()
    images = torch.from_numpy(found.images).float() / GREYS
    labels = torch.from_numpy(found.target).long()
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(0))
    return images[order], labels[order]


def load() -> DatasetDict:
    """Return splits `train` (1,400 scans) and `test` (397), always the same ones, with columns `image` and `label`.

    An image is a float array (8, 8) with values in [0, 1], a label a digit. The split is a random permutation,
    so the same people wrote in both.
    """
    library = datasets_library()
    features = library.Features(
        {
            "image": library.Array2D((SIZE, SIZE), "float32"),
            "label": library.ClassLabel(names=[str(digit) for digit in range(CLASSES)]),
        }
    )

    def make() -> DatasetDict:
        images, labels = _scan()
        parts = {"train": slice(TRAIN), "test": slice(TRAIN, None)}
        rows = {name: {"image": images[part].numpy(), "label": labels[part].tolist()} for name, part in parts.items()}
        return library.DatasetDict({name: library.Dataset.from_dict(row, features) for name, row in rows.items()})

    return kept(f"digits-{TRAIN}", make)


@lru_cache(maxsize=1)
def _tensors() -> dict[str, tuple[Tensor, Tensor]]:
    splits = load().with_format("torch")
    return {name: (split["image"][:].unsqueeze(1), split["label"][:]) for name, split in splits.items()}


def scans(part: str = "train") -> tuple[Tensor, Tensor]:
    """Return the scans of one split, `train` or `test`, as tensors: images (B, 1, 8, 8) and labels (B,).

    Raises:
        ValueError: there is no such split.
    """
    if part not in _tensors():
        raise ValueError(f"no split is called {part!r}; there are {', '.join(_tensors())}")
    images, labels = _tensors()[part]
    return images.clone(), labels.clone()


def place(images: Tensor, generator: torch.Generator, canvas: int = CANVAS) -> Tensor:
    """Put each image at a random position on an empty canvas: (B, 1, H, W) -> (B, 1, canvas, canvas).

    Every position where the whole image fits is equally likely. A canvas as large as the image has only one.

    Raises:
        ValueError: the canvas is smaller than the images.
    """
    n, channels, height, width = images.shape
    if canvas < max(height, width):
        raise ValueError(f"images of shape {tuple(images.shape)} do not fit on a canvas of {canvas} × {canvas}")
    top = torch.randint(canvas - height + 1, (n, 1, 1, 1), generator=generator)
    left = torch.randint(canvas - width + 1, (n, 1, 1, 1), generator=generator)
    row = torch.arange(canvas).view(1, 1, -1, 1) - top  # the image's own row at each row of the canvas
    column = torch.arange(canvas).view(1, 1, 1, -1) - left
    inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
    pixels = row.clamp(0, height - 1) * width + column.clamp(0, width - 1)  # (B, 1, canvas, canvas)
    found = images.flatten(2).gather(2, pixels.expand(n, channels, canvas, canvas).flatten(2))
    return torch.where(inside, found.view(n, channels, canvas, canvas), torch.zeros((), dtype=images.dtype))


def batches(generator: torch.Generator, canvas: int = CANVAS) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield endless training batches: images (B, 1, canvas, canvas), each at a new random position, and labels (B,).

    Every scan comes once before any comes again.
    """
    images, labels = scans("train")
    while True:
        for chosen in torch.randperm(len(labels), generator=generator).split(BATCH):
            yield place(images[chosen], generator, canvas), labels[chosen]
