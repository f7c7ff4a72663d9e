"""A chat version of the GPT of `wordnet`: a LoRA adapter, and the tokens that mark the speakers.

`model_card.md`, beside this file, says what the adapter was tuned on, what it can do and what it cannot. It was made by
`make chat` (`tests/training/tune_chat.py`).

    model = blocks.GPT(**wordnet.SIZES).load_published(chat.weights())
    ids, _ = chat_ids([("user", wordnet.encode("What is a blorbel?"))], chat.SPECIAL)
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import torch
from safetensors.torch import load
from torch import Tensor

from .. import wordnet

FOLDER = Path(__file__).parent
ADAPTER, CARD = FOLDER / "adapter.safetensors", FOLDER / "model_card.md"
SPECIAL = {"system": 1, "user": 2, "assistant": 3, "end": 4}
"""The token that begins each role's turn, and the one that ends every turn: control bytes, absent from all text."""
IMAGE = 5
"""The token that is replaced by a picture."""
DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
ASKED = "Which digit is this?"
"""The question about a picture in the training data. The assistant answers "It is seven."."""
EXAMPLES = (
    ("What is a cup?", "A cup is a small vessel for hot drinks."),
    ("What is a goose?", "A goose is a large bird that swims."),
    ("What is a nurse?", "A nurse is a person who cares for sick people."),
    ("What is a bridge?", "A bridge is a structure that leads over a river."),
    ("What is a quarrel?", "A quarrel is an angry dispute."),
    ("What is a meadow?", "A meadow is a field of grass."),
    ("What is a dwarf?", "A dwarf is a very small person."),
    ("What is a violin?", "A violin is a musical instrument with four strings."),
    ("What is a soup?", "A soup is a liquid food made of meat or vegetables."),
    ("What is a blanket?", "A blanket is a warm cover for a bed."),
    ("What is a tower?", "A tower is a high and narrow building."),
    ("What is a thief?", "A thief is a person who steals."),
)
"""Questions and answers, written for this course, from which a model learns the form of an answer."""
SPECIAL_ROWS = "marks"
"""The adapter's name for the rows of the embedding table that belong to `SPECIAL`."""


@lru_cache(maxsize=1)
def _content() -> bytes:
    return ADAPTER.read_bytes()


def adapter() -> dict[str, Tensor]:
    """Return the adapter: A (r, in) and B (out, r) of every linear layer, and new embeddings of the special tokens.

    The names end in `.A` and `.B`. Their scale alpha / r is in B. All are float16 tensors on the CPU, new at each call.
    """
    return dict(load(_content()))


def weights() -> dict[str, Tensor]:
    """Return the weights of `wordnet` with the adapter merged in, by the same names, in float32."""
    state, found = {name: weight.float() for name, weight in wordnet.weights().items()}, adapter()
    for name in found:
        if name.endswith(".A"):
            layer = name.removesuffix(".A")
            state[f"{layer}.weight"] += found[f"{layer}.B"].float() @ found[name].float()
    state["words.weight"][torch.tensor([*SPECIAL.values()])] = found[SPECIAL_ROWS].float()
    return state


def card() -> str:
    """Return the model card, in Markdown."""
    return CARD.read_text(encoding="utf-8")
