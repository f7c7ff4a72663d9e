"""The merges in the package are what byte-pair encoding of the docstrings gives, and enough to cut any text."""

from __future__ import annotations

import pytest

from course import data
from course.data.bpe_merges import FILE, trained_merges
from course.reference.tokens import bpe_decode, bpe_encode, train_bpe


def test_each_merge_joins_pieces_that_are_there():
    known = {bytes([byte]) for byte in range(256)}
    for first, second in trained_merges():
        assert {first, second} <= known and first + second not in known
        known.add(first + second)
    assert len(known) == 1256 and FILE.stat().st_size < 5000


def test_they_cut_new_text_to_a_third():
    text = "\n".join(data.load("docstrings", split="held_out")["text"])[:20_000]
    pieces = bpe_encode(text, trained_merges())
    assert bpe_decode(pieces) == text
    assert 2.7 < len(text.encode()) / len(pieces) < 3.3


def test_another_python_learns_nearly_the_same():
    """The first merges, from a tenth of the text: its docstrings differ a little from one version to the next."""
    text = "\n".join(data.load("docstrings", split="train")["text"])[:100_000]
    ours, again = set(trained_merges()[:150]), set(train_bpe(text, 100))
    assert len(again & ours) >= 80


@pytest.mark.slow
def test_the_script_learns_them_again():
    text = "\n".join(data.load("docstrings", split="train")["text"])
    assert len(set(train_bpe(text, 300)) & set(trained_merges()[:300])) >= 285
