"""Pretrained weights: those of a small Vision Transformer that reads the original digits.

It was trained on the 1,400 scans of `digits` for 2,000 batches and reads 98 % of the others. It has never seen rotated
negatives. `tests/training/pretrain.py` trained it and writes the file.

    model = blocks.ViT(**pretrained.SIZES)
    model.load_state_dict(pretrained.weights())
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from safetensors.torch import load
from torch import Tensor

FILE = Path(__file__).with_name("pretrained.safetensors")
SIZES = {
    "image_size": 8,
    "patch": 2,
    "channels": 1,
    "classes": 10,
    "d_model": 40,
    "n_heads": 4,
    "d_ff": 80,
    "n_layers": 2,
}
"""The arguments with which `blocks.ViT` was built: sixteen patches of four pixels, 28,000 numbers in all."""


@lru_cache(maxsize=1)
def _content() -> bytes:
    return FILE.read_bytes()


def weights() -> dict[str, Tensor]:
    """Return the weights by their names in the model's `state_dict()`: float32 tensors on the CPU, new at each call."""
    return dict(load(_content()))
