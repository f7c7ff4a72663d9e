"""What simpler models need for a byte of WordNet's held-out definitions: topic 01's n-grams, and a bigram of pieces.

    python -m tests.training.wordnet_baselines --wordnet /usr/share/wordnet

The n-gram is `NGramModel` of topic 01 over bytes, by the same formula (Witten and Bell's). It is counted with sorted
arrays here, since the text has 13 million bytes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from course.data import wordnet
from tests.training import wordnet_text

ALPHA = 0.1
"""Added to each count of the lowest order, as in topic 01's notebook."""


def counted(keys: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """How often each of `asked` occurs among `keys`."""
    known, counts = np.unique(keys, return_counts=True)
    place = np.searchsorted(known, asked).clip(max=len(known) - 1)
    return np.where(known[place] == asked, counts[place], 0)


def windows(symbols: np.ndarray, length: int, base: int) -> np.ndarray:
    """Every run of `length` symbols as one number, the run that ends at each place from `length - 1` on."""
    found = np.zeros(len(symbols) - length + 1, dtype=np.uint64)
    for i in range(length):
        found = found * np.uint64(base) + symbols[i : len(symbols) - length + 1 + i].astype(np.uint64)
    return found


def bits_by_order(train: np.ndarray, test: np.ndarray, base: int, longest: int) -> list[float]:
    """Bits a symbol of `test` for n-grams of 1 to `longest` symbols; runs go over the ends of lines."""
    counts = np.bincount(train, minlength=base) + ALPHA
    p = (counts / counts.sum())[test]
    found = [-np.log2(p).mean()]
    for n in range(2, longest + 1):
        runs, contexts = windows(train, n, base), windows(train, n - 1, base)[:-1]
        asked, before = windows(test, n, base), windows(test, n - 1, base)[:-1]
        seen, kinds = counted(contexts, before), counted(np.unique(runs) // np.uint64(base), before)
        mixed = (counted(runs, asked) + kinds * p[n - 1 :]) / np.maximum(seen + kinds, 1)
        p[n - 1 :] = np.where(seen > 0, mixed, p[n - 1 :])
        found.append(-np.log2(p).mean())
    return found


def main() -> None:
    """Print bits per byte for n-grams of bytes, and of pieces."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wordnet", type=Path, help="the folder with data.noun; else Debian's package is fetched")
    text = wordnet_text.read(parser.parse_args().wordnet)
    whole = ["\0".join(lines).encode() + b"\0" for lines in (text.train, text.held_out)]
    train, test = (np.frombuffer(part, dtype=np.uint8) for part in whole)
    for n, bits in enumerate(bits_by_order(train, test, 256, 8), 1):
        print(f"bytes, n = {n}: {bits:.3f} bits per byte", flush=True)
    pieces = [
        np.array([token for line in lines for token in (*wordnet.encode(line), wordnet.END)])
        for lines in (text.train, text.held_out)
    ]
    for n, bits in enumerate(bits_by_order(*pieces, wordnet.SIZES["vocab"], 3), 1):
        print(f"pieces, n = {n}: {bits * len(pieces[1]) / len(test):.3f} bits per byte", flush=True)
    print(f"{len(train):,} bytes and {len(pieces[0]):,} tokens to count, {len(test):,} bytes held out")


if __name__ == "__main__":
    main()
