"""Let topic 15's published GPT write the texts of topic 19: `python -m tests.training.draw_definitions`.

Each text is 64 tokens, drawn at temperature 1 behind `END`, and has two or three definitions. It takes ten seconds, and
writes `course/data/definitions.safetensors`. Another processor or another torch may write other texts.
"""

from __future__ import annotations

import torch
from safetensors.torch import save_file

from course.data import definitions, wordnet
from course.reference.gpt import GPT, generate_text

SEED = 19
AT_ONCE = 268


def texts(n: int, generator: torch.Generator) -> torch.Tensor:
    """Return n texts, ids (n, PLACES), each begun with `END`."""
    model = GPT(**wordnet.SIZES).load_published(wordnet.weights())
    begun = torch.full((AT_ONCE, 1), wordnet.END)
    some = [generate_text(model, begun, definitions.PLACES - 1, generator) for _ in range(n // AT_ONCE)]
    return torch.cat([torch.cat([begun, written], dim=1) for written in some])


def main() -> None:
    """Draw the texts of training and of judging, and write them."""
    n = definitions.TEXTS + definitions.HELD_OUT
    drawn = texts(n, torch.Generator().manual_seed(SEED))
    save_file({"ids": drawn.to(torch.int16)}, definitions.FILE)
    print(f"{len(drawn)} texts of {definitions.PLACES} tokens: {definitions.FILE.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
