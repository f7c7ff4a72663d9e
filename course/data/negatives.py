"""The digits of another scanner: rotated photographic negatives, a second domain for a trained model.

        . 3 8       8 11 10      `turned` exchanges ink and paper, and rotates the scan a quarter turn to the left (here
        . . 5  ->  13 16 15      in sixteenths). No information is lost, but a network that was trained on one domain
        . 1 6      16 16 16      fails on the other.

The scans are those of `digits`, in the same split.

Glossary: B images, H x W pixels, one channel.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from . import digits
from .cache import datasets_library, kept

if TYPE_CHECKING:
    from datasets import DatasetDict

BATCH = digits.BATCH
"""Images in a training batch."""


def turned(images: Tensor) -> Tensor:
    """Return negatives of images with values in [0, 1], a quarter turn to the left: (B, C, H, W) -> (B, C, W, H)."""
    return 1 - images.rot90(1, (-2, -1))


def load() -> DatasetDict:
    """Return splits `train` (1,400 scans) and `test` (397), with columns `image` and `label`, like `digits`."""

    def make() -> DatasetDict:
        library = datasets_library()
        upright = digits.load()
        parts = {name: digits.scans(name) for name in upright}
        rows = {
            name: {"image": turned(images)[:, 0].numpy(), "label": labels.tolist()}
            for name, (images, labels) in parts.items()
        }
        features = upright["train"].features
        return library.DatasetDict({name: library.Dataset.from_dict(row, features) for name, row in rows.items()})

    return kept(f"negatives-{digits.TRAIN}", make)


def scans(part: str = "train") -> tuple[Tensor, Tensor]:
    """Return the negatives of one split, `train` or `test`, as tensors: images (B, 1, 8, 8) and labels (B,).

    Raises:
        ValueError: there is no such split.
    """
    upright, labels = digits.scans(part)
    return turned(upright), labels


def batches(generator: torch.Generator) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield endless training batches: negatives (B, 1, 8, 8), labels (B,). All scans come before any comes again."""
    images, labels = scans("train")
    while True:
        for chosen in torch.randperm(len(labels), generator=generator).split(BATCH):
            yield images[chosen], labels[chosen]
