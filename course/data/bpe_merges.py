"""Read merges of byte-pair encoding from files. A thousand were learned from the standard library's docstrings.

Learning those takes 20 seconds, and a notebook needs them at once. `tests/training/learn_merges.py` learns them and
writes their file. A file holds two numbers for each merge, (M, 2), which are the indices of its two pieces: byte b is
piece b, and the k-th merge (from 0) makes piece 256 + k.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from safetensors.torch import load

FILE = Path(__file__).with_name("bpe_merges.safetensors")


def trained_merges() -> list[tuple[bytes, bytes]]:
    """Return the merges in the order in which they were learned, as pairs of pieces."""
    return read_merges(FILE)


def read_merges(file: Path) -> list[tuple[bytes, bytes]]:
    """Return the pairs of pieces in a file, in order."""
    pieces = [bytes([byte]) for byte in range(256)]
    merges = []
    for first, second in load(file.read_bytes())["merges"].tolist():
        merges.append((pieces[first], pieces[second]))
        pieces.append(pieces[first] + pieces[second])
    return merges


def apply_merges(word: bytes, ranks: Mapping[tuple[bytes, bytes], int]) -> list[bytes]:
    """Return the pieces of a word. Of the pairs in it that can be merged, the one of the lowest rank goes first."""
    parts = [bytes([byte]) for byte in word]
    while len(parts) > 1:
        first = min(range(len(parts) - 1), key=lambda i: ranks.get((parts[i], parts[i + 1]), len(ranks)))
        if (parts[first], parts[first + 1]) not in ranks:
            break
        parts[first : first + 2] = [parts[first] + parts[first + 1]]
    return parts
