"""`make chat`: tunes topic 15's published GPT to answer in chats, and writes `course/data/chat/adapter.safetensors`.

    python -m tests.training.tune_chat --wordnet /usr/share/wordnet

Only a LoRA adapter learns, and the vectors of the four special tokens. Half of the batches are questions about words,
answered from WordNet's definitions. The other half ask which word stands in front of the question. There the word is
given as it is, or blurred: `PATCHES` vectors, each a sum of the vectors of several words in which the right one has the
largest weight on average. What a linear map makes of a picture is such a sum.
"""

from __future__ import annotations

import argparse
import random
import re
import time
from collections.abc import Iterator
from pathlib import Path

import safetensors.torch
import torch
from torch import Tensor, nn

from course import blocks
from course.data import chat, wordnet
from course.reference import assistant, lora
from tests.training import wordnet_text
from tests.training.pretrain_gpt import rate

SEED, STEPS, BATCH, RANK = 0, 1_200, 32, 16
RATE, CLIP = 4e-3, 1.0
TARGETS = ("W_q", "W_k", "W_v", "W_o", "W_gate", "W_up", "W_down")
PATCHES, LONGEST = 17, 90
LOGGED, KEPT = 100, 500
QUESTIONS = {
    "noun": ("What is {a}?", "{A} is {gloss}."),
    "name": ("What is {a}?", "{A} is {gloss}."),
    "verb": ("What does it mean to {a}?", "To {a} is to {gloss}."),
    "adjective": ("What does {a} mean?", "{A} means {gloss}."),
}
"""A question and its answer, by the kind of word."""
SYSTEM = "Answer in one sentence."

Chat = list[tuple[str, list[int]]]


def asked_and_answered(line: str) -> tuple[str, str] | None:
    """A question and its answer, of a line `word (kind): definition`; None where it makes no sentence."""
    found = re.fullmatch(r"(.+?) \(([a-z ]+)\): (?:\([^)]*\) ?)?([a-z'][^;:()]*)(?:;.*)?", line)
    if found is None or len(found[3]) > LONGEST or found[2] == "adverb":
        return None
    word, kind, gloss = found[1], found[2], found[3].strip()
    if kind in ("verb", "adjective"):
        part, named = kind, word
    elif word[0].isupper() or gloss.startswith(("the ", "any ", "all ")):
        part, named = "name", word
    else:
        part, named = "noun", f"{'an' if word[0] in 'aeiou' else 'a'} {word}"
    question, answer = QUESTIONS[part]
    parts = {"a": named, "A": named[0].upper() + named[1:], "gloss": gloss}
    return question.format(**parts), answer.format(**parts)


def talks(lines: list[str]) -> Iterator[Chat]:
    """Chats about words without end: one question, or two, now and then behind a system's turn."""
    pairs = [pair for pair in map(asked_and_answered, lines) if pair]
    shuffle = random.Random(SEED)
    print(f"{len(pairs)} questions, such as {pairs[:4]}", flush=True)
    while True:
        turns: Chat = [("system", wordnet.encode(SYSTEM))] if shuffle.random() < 0.1 else []
        for _ in range(1 + (shuffle.random() < 0.15)):
            question, answer = shuffle.choice(pairs)
            turns += [("user", wordnet.encode(question)), ("assistant", wordnet.encode(answer))]
        yield turns


def padded(chats: list[Chat]) -> tuple[Tensor, Tensor]:
    """Ids and learned (B, T) of chats, with `END` behind the shorter ones."""
    rows = [assistant.chat_ids(turns, chat.SPECIAL) for turns in chats]
    ids = nn.utils.rnn.pad_sequence([ids for ids, _ in rows], batch_first=True, padding_value=wordnet.END)
    return ids, nn.utils.rnn.pad_sequence([learned for _, learned in rows], batch_first=True)


def readings(words: list[str], shuffle: random.Random, n: int) -> tuple[list[str], list[Chat]]:
    """`n` chats that ask which word stands in front, at an image token; the words that are right."""
    right = [shuffle.choice(chat.DIGITS) if shuffle.random() < 0.7 else shuffle.choice(words) for _ in range(n)]
    kind = {True: "digit", False: "word"}
    said = [
        [
            ("user", [chat.IMAGE, *wordnet.encode(f"Which {kind[word in chat.DIGITS]} is this?")]),
            ("assistant", wordnet.encode(f"It is {word}.")),
        ]
        for word in right
    ]
    return right, said


class Reader:
    """Vectors in place of a picture: words as they are, or blurred."""

    def __init__(self, model: blocks.GPT, words: list[str]) -> None:
        self.model, self.words = model, words
        self.shuffle, self.chance = random.Random(SEED + 1), torch.Generator().manual_seed(SEED)
        self.first = {word: wordnet.encode(f" {word}")[0] for word in (*words, *chat.DIGITS)}

    def batch(self) -> tuple[Tensor, Tensor, Tensor]:
        """Vectors (B, T, D), ids and learned (B, T), of one kind of slot."""
        right, chats = readings(self.words, self.shuffle, BATCH)
        ids, learned = padded(chats)
        patches = self.plain(right) if self.shuffle.random() < 0.3 else self.blurred(right)
        N = patches.shape[1]
        vectors = assistant.insert_patches(self.model.embed(ids), ids, chat.IMAGE, patches)
        return vectors, *assistant.stretch(ids, learned, chat.IMAGE, N)

    def plain(self, right: list[str]) -> Tensor:
        """The first piece of each word, once or several times."""
        times = self.shuffle.choice((1, 2, 4, PATCHES))
        return self.model.embed(torch.tensor([[self.first[word]] * times for word in right]))

    def blurred(self, right: list[str]) -> Tensor:
        """Sums of ten words' vectors at every place, and noise; the right word weighs most on average."""
        B, own = len(right), torch.rand(len(right), PATCHES, generator=self.chance)
        names = [self._ten(word) for word in right]  # the right one first
        vectors = self.model.embed(torch.tensor([[self.first[word] for word in ten] for ten in names]))  # (B, 10, D)
        noise = torch.rand(B, 1, 1, generator=self.chance)
        weights = noise * torch.randn(B, PATCHES, len(names[0]), generator=self.chance)  # (B, N, 10)
        weights[..., 0] += own * (0.5 + 2 * torch.rand(B, 1, generator=self.chance))
        grain = 0.3 * noise * torch.randn(B, PATCHES, vectors.shape[-1], generator=self.chance)
        return weights @ vectors + grain * vectors.std()

    def _ten(self, word: str) -> list[str]:
        others = list(chat.DIGITS) if word in chat.DIGITS else self.shuffle.sample(self.words, 10)
        return [word, *(other for other in others if other != word)][:10]


def in_vocabulary() -> list[str]:
    """Words that are one token, behind a blank, of four letters or more."""
    pieces = (piece.decode(errors="replace") for piece in wordnet.pieces())
    return [piece[1:] for piece in pieces if re.fullmatch(r" [a-z]{4,}", piece)]


def adapted() -> blocks.GPT:
    """The published GPT, of which an adapter and the special tokens' vectors learn."""
    model = blocks.GPT(**wordnet.SIZES).load_published(wordnet.weights())
    lora.add_lora(model, RANK, RANK, TARGETS)
    marks = torch.zeros(wordnet.SIZES["vocab"], 1)
    marks[[*chat.SPECIAL.values()]] = 1.0
    with torch.no_grad():  # no text had them, so they all have one vector; words of all days are another beginning
        typical = model.words.weight[256:].norm(dim=1).mean()
        fresh = torch.randn(len(chat.SPECIAL), wordnet.SIZES["d_model"], generator=torch.Generator().manual_seed(SEED))
        model.words.weight[[*chat.SPECIAL.values()]] = typical * fresh / fresh.norm(dim=1, keepdim=True)
    model.words.weight.requires_grad_()
    model.words.weight.register_hook(lambda grad: grad * marks)
    return model


def write(model: blocks.GPT) -> None:
    """Save A, B and the special tokens' vectors in half precision."""
    state = {name: tensor.detach().half().contiguous() for name, tensor in lora.lora_state(model).items()}
    state[chat.SPECIAL_ROWS] = model.words.weight.detach()[[*chat.SPECIAL.values()]].half()
    safetensors.torch.save_file(state, chat.ADAPTER)


def train(lines: list[str], steps: int, minutes: float) -> blocks.GPT:
    """The model after so many steps, of which each reads a batch of talk and one of words; or after so many minutes."""
    torch.manual_seed(SEED)
    model = adapted()
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=RATE, betas=(0.9, 0.98), weight_decay=0.0)
    stream, reader = talks(lines), Reader(model, in_vocabulary())
    begun, totals = time.monotonic(), [0.0, 0.0]
    for step in range(1, steps + 1):
        gone = (time.monotonic() - begun) / 60 / minutes
        optimizer.param_groups[0]["lr"] = RATE * rate(max(step, round(gone * steps)), steps + 1)
        if gone >= 1:
            break
        talk, said = padded([next(stream) for _ in range(BATCH)])
        for kind, (read, ids, learned) in enumerate(((talk, talk, said), reader.batch())):
            with torch.autocast("cpu", torch.bfloat16):
                logits, _ = model(read)
            loss = -assistant.sequence_log_prob(logits.float(), ids, learned).sum() / learned[:, 1:].sum()
            loss.backward()
            totals[kind] += loss.item() / LOGGED
        nn.utils.clip_grad_norm_(weights, CLIP)
        optimizer.step()
        optimizer.zero_grad()
        if step % LOGGED == 0:
            print(
                f"step {step:6}  words {totals[0]:.3f}  reading {totals[1]:.3f}  {60 * gone * minutes:6.0f} s",
                flush=True,
            )
            totals = [0.0, 0.0]
        if step % KEPT == 0:
            write(model)
    write(model)
    return model


def main() -> None:
    """Read WordNet, and tune."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wordnet", type=Path, help="the folder with data.noun; else Debian's package is fetched")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--minutes", type=float, default=120.0, help="when the learning rate is zero at the latest")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    train(wordnet_text.read(asked.wordnet).train, asked.steps, asked.minutes)


if __name__ == "__main__":
    main()
