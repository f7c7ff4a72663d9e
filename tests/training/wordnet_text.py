"""WordNet 3.0's definitions as lines `word (kind): definition`, and merges for them.

The text comes from a folder with WordNet's `data.noun`, `data.verb`, `data.adj` and `data.adv`, or from Debian's
package wordnet-base, which is fetched into a temporary folder. It is not part of this project.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from course.data import words_of

PACKAGE = "wordnet-base"
WAY = 'Say make weights ARGS="--wordnet FOLDER".'
WORDS, LONGEST, HELD_OUT, SEED = 2, 240, 4000, 0
FILES = ("noun", "verb", "adj", "adv")
ADJECTIVES, ADVERBS, VERBS = (0, 1, 44), (2,), range(29, 44)
NOUNS = {
    3: "thing",
    4: "act",
    5: "animal",
    6: "made thing",
    7: "attribute",
    8: "body part",
    9: "idea",
    10: "communication",
    11: "event",
    12: "feeling",
    13: "food",
    14: "group",
    15: "place",
    16: "motive",
    17: "natural thing",
    18: "person",
    19: "phenomenon",
    20: "plant",
    21: "possession",
    22: "process",
    23: "quantity",
    24: "relation",
    25: "shape",
    26: "state",
    27: "substance",
    28: "time",
}
"""WordNet's lexicographer files by their numbers (lexnames(5WN))."""

KIND = {
    **NOUNS,
    **dict.fromkeys(ADJECTIVES, "adjective"),
    **dict.fromkeys(ADVERBS, "adverb"),
    **dict.fromkeys(VERBS, "verb"),
}


@dataclass(frozen=True)
class Text:
    """Lines to train on, and lines of other definitions that are held out."""

    train: list[str]
    held_out: list[str]


def fetched(folder: Path) -> Path:
    """Fetch Debian's package into `folder`, and return where WordNet's files lie in it."""
    try:
        subprocess.run(["apt-get", "download", PACKAGE], cwd=folder, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        raise SystemExit(f"apt-get fetched no {PACKAGE}. Name a folder that holds WordNet's data.noun. {WAY}") from None
    (package,) = folder.glob(f"{PACKAGE}_*.deb")
    subprocess.run(["dpkg", "-x", package, folder], check=True)
    return folder / "usr/share/wordnet"


def read(folder: Path | None) -> Text:
    """Read WordNet from `folder`, or fetch it where that is None; 4,000 definitions are held out."""
    if folder is None:
        with tempfile.TemporaryDirectory() as temporary:
            return read(fetched(Path(temporary)))
    if not (folder / "data.noun").is_file():
        raise SystemExit(f"{folder} holds no data.noun of WordNet 3.0. Name the folder that does. {WAY}")
    found = [lines for part in FILES for lines in definitions((folder / f"data.{part}").read_text(encoding="utf-8"))]
    random.Random(SEED).shuffle(found)
    train, held_out = found[HELD_OUT:], found[:HELD_OUT]
    return Text([line for lines in train for line in lines], [line for lines in held_out for line in lines])


def definitions(data: str) -> Iterator[list[str]]:
    """The lines of each definition in one of WordNet's data files (wndb(5WN)), one for each of its first words."""
    for line in data.splitlines():
        if line.startswith("  "):  # the licence
            continue
        fields, gloss = line.split(" | ", 1)
        _, file, _, count, *words = fields.split(" ")
        names = [spelt(word) for word in words[: 2 * min(WORDS, int(count, 16)) : 2]]
        lines = [f"{name} ({KIND[int(file)]}): {without_examples(gloss)}" for name in names]
        yield [line for line in lines if len(line) <= LONGEST]


def spelt(word: str) -> str:
    """A word as people write it: WordNet has underscores for blanks, and marks such as (a) behind adjectives."""
    return re.sub(r"\((a|p|ip)\)$", "", word).replace("_", " ")


def without_examples(gloss: str) -> str:
    """The definition alone, without the sentences in quotation marks behind it."""
    return re.split(r'[;:,]?\s*"', gloss.strip(), maxsplit=1)[0].rstrip(" ;:,") or gloss.strip()


def trained_merges(lines: list[str], merges: int) -> list[tuple[bytes, bytes]]:
    """The first `merges` merges of byte-pair encoding for the words of `lines`, by the library `tokenizers`.

    It breaks ties as the course does, the older pair first, if byte b is the b-th letter of its alphabet.
    """
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    alphabet = [chr(0x4E00 + b) for b in range(256)]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(vocab_size=256 + merges, initial_alphabet=alphabet, show_progress=False)
    letters = (" ".join("".join(alphabet[b] for b in word.encode()) for word in words_of(line)) for line in lines)
    tokenizer.train_from_iterator(letters, trainer)
    learned = json.loads(tokenizer.to_str())["model"]["merges"]
    return [tuple(bytes(ord(letter) - 0x4E00 for letter in part) for part in pair) for pair in learned]
