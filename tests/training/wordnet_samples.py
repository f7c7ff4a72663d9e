"""The twenty definitions of the model card, not chosen: words of ours, one seed each.

python -m tests.training.wordnet_samples
"""

from __future__ import annotations

import torch

from course.data import wordnet
from course.reference.gpt import GPT, generate_text

WORDS = (
    ("blorbel", "plant"),
    ("snorkfish", "animal"),
    ("quibblement", "act"),
    ("neuralist", "person"),
    ("overgrok", "verb"),
    ("Mount Zibble", "place"),
    ("flimmer", "food"),
    ("drizzlewort", "plant"),
    ("gramble", "feeling"),
    ("tasket", "made thing"),
    ("hyperquill", "made thing"),
    ("moonish", "adjective"),
    ("squarely-eyed", "adjective"),
    ("unbegin", "verb"),
    ("pluffing", "act"),
    ("thurnic acid", "substance"),
    ("nightjarrel", "animal"),
    ("Veldoria", "place"),
    ("quandle", "quantity"),
    ("dapplement", "state"),
)


def main() -> None:
    """Print a definition of each, at temperature 0.7 and top-p 0.9; the seed is the line's number from 0 on."""
    model = GPT(**wordnet.SIZES).load_published(wordnet.weights()).eval()
    for seed, (word, kind) in enumerate(WORDS):
        generator = torch.Generator().manual_seed(seed)
        tokens = generate_text(model, wordnet.prompt(word, kind), 60, generator, temperature=0.7, top_p=0.9)
        print(f"- {word} ({kind}):{wordnet.decode(tokens[0].tolist())}")


if __name__ == "__main__":
    main()
