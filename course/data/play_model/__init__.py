"""The weights of a small GPT that read topic 15's play until it knew whose surname comes next.

`model_card.md`, beside this file, describes its training, how its weights were chosen, and what it can do. The weights
were made by `make play` (`tests/training/pretrain_play.py`).

    model = blocks.OpenGPT(**play_model.SIZES).load_published(play_model.weights())
    logits, _ = model(play.draw(1, generator)[:, :-1])
"""

from __future__ import annotations

from pathlib import Path

from safetensors.torch import load_file
from torch import Tensor

from .. import play

FOLDER = Path(__file__).parent
WEIGHTS, CARD = FOLDER / "weights.safetensors", FOLDER / "model_card.md"
SIZES = {"vocab": len(play.words()), "d_model": 64, "n_layers": 2, "n_heads": 4, "n_groups": 2, "d_ff": 128}
"""The arguments with which the GPT was built."""
SEED = 1
"""The seed of its training, chosen among three: see the model card."""


def weights() -> dict[str, Tensor]:
    """Return the weights by their published names: float16 tensors on the CPU, new ones at each call."""
    return dict(load_file(WEIGHTS))


def card() -> str:
    """Return the model card, in Markdown."""
    return CARD.read_text(encoding="utf-8")
