"""Learns the merges that topic 13's widget works with, and writes `course/data/bpe_merges.safetensors`.

    python -m tests.training.learn_merges

The docstrings differ a little from one version of Python to the next, so the file is committed, and
`tests/data/test_bpe_merges.py` asks what it can do and not how it came to be.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import safetensors.torch
import torch

from course import data
from course.data import bpe_merges
from course.reference.tokens import train_bpe

MERGES = 1000


def write_merges(merges: Sequence[tuple[bytes, bytes]], file: Path) -> None:
    """Write pairs of pieces as `bpe_merges.read_merges` reads them, each made of bytes or of the pairs before it."""
    number = {bytes([byte]): byte for byte in range(256)}
    number |= {first + second: 256 + place for place, (first, second) in enumerate(merges)}
    rows = [[number[first], number[second]] for first, second in merges]
    safetensors.torch.save_file({"merges": torch.tensor(rows, dtype=torch.int16)}, file)


def main() -> None:
    """Learns the merges and writes the file."""
    text = "\n".join(data.load("docstrings", split="train")["text"])
    merges = train_bpe(text, MERGES)
    write_merges(merges, bpe_merges.FILE)
    print(f"{len(merges)} merges, {bpe_merges.FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
