"""Learns the merges that topic 13's widget works with, and writes `course/data/bpe_merges.safetensors`.

    python -m tests.training.learn_merges

The docstrings differ a little from one version of Python to the next, so the file is committed, and
`tests/data/test_bpe_merges.py` asks what it can do and not how it came to be.
"""

from __future__ import annotations

import safetensors.torch
import torch

from course import data
from course.data import bpe_merges
from course.reference.tokens import train_bpe

MERGES = 1000


def main() -> None:
    """Learns the merges and writes the file."""
    text = "\n".join(data.load("docstrings", split="train")["text"])
    number = {bytes([byte]): byte for byte in range(256)}
    rows = []
    for first, second in train_bpe(text, MERGES):
        rows.append([number[first], number[second]])
        number[first + second] = len(number)
    safetensors.torch.save_file({"merges": torch.tensor(rows, dtype=torch.int16)}, bpe_merges.FILE)
    print(f"{len(rows)} merges, {bpe_merges.FILE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
