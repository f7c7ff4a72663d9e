"""Trains the reader of upright digits that topic 12 begins with, and writes `course/data/pretrained.safetensors`.

    python -m tests.training.pretrain

One thread, one seed: the same machine and the same torch write the same file. Another torch may round otherwise, so
the file is committed, and `tests/data/test_pretrained.py` asks what it can do and not how it came to be.
"""

from __future__ import annotations

import itertools

import safetensors.torch
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course import blocks
from course.data import digits, pretrained

SEED, STEPS, RATE = 0, 2000, 2e-3


def batches(generator: torch.Generator):
    """Upright scans, every one once before any comes again."""
    images, labels = digits.scans("train")
    while True:
        for chosen in torch.randperm(len(labels), generator=generator).split(digits.BATCH):
            yield images[chosen], labels[chosen]


def trained(steps: int = STEPS) -> nn.Module:
    """The reader after so many batches, with a learning rate that falls to a twentieth."""
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    model = blocks.ViT(**pretrained.SIZES)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    falling = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, total_iters=steps)
    for images, labels in itertools.islice(batches(torch.Generator().manual_seed(SEED)), steps):
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        falling.step()
    return model.eval()


@torch.no_grad()
def accuracy(model: nn.Module, images: Tensor, labels: Tensor) -> float:
    """The share of images that the model reads rightly."""
    return (model(images).argmax(1) == labels).double().mean().item()


def main() -> None:
    """Trains, says how well it reads, and writes the file."""
    model = trained()
    safetensors.torch.save_file(model.state_dict(), pretrained.FILE)
    print(f"{accuracy(model, *digits.scans('test')):.1%} right, {pretrained.FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
