"""The answers of the assistant's model card, not chosen: the words of `wordnet_samples`, one seed each.

python -m tests.training.chat_samples
"""

from __future__ import annotations

import torch

from course.data import chat, wordnet
from course.reference.assistant import chat_ids
from course.reference.gpt import GPT, generate_text
from tests.training.tune_chat import asked_and_answered
from tests.training.wordnet_samples import WORDS


def answered(model: GPT, question: str, seed: int, n: int = 60) -> str:
    """What the assistant says at temperature 0.5, up to its end; an ellipsis where it has not come to one."""
    ids, _ = chat_ids([("user", wordnet.encode(question))], chat.SPECIAL)
    asked = torch.cat([ids, torch.tensor([chat.SPECIAL["assistant"]])])[None]
    said = generate_text(model, asked, n, torch.Generator().manual_seed(seed), temperature=0.5)[0].tolist()
    end = chat.SPECIAL["end"]
    return wordnet.decode(said[: said.index(end)]) if end in said else wordnet.decode(said) + " …"


def main() -> None:
    """Print a question about each word, and the answer; the seed is the line's number from 0 on."""
    model = GPT(**wordnet.SIZES).load_published(chat.weights()).eval()
    for seed, (word, kind) in enumerate(WORDS):
        pair = asked_and_answered(f"{word} ({kind}): something")
        assert pair is not None
        print(f"- {pair[0]} {answered(model, pair[0], seed)}")


if __name__ == "__main__":
    main()
