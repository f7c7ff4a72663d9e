"""Words for a tokenizer: nothing of a text is lost, and each kind of character stays with its own."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course.data import words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It's 10.5", ["It", "'", "s", " 10", ".", "5"]),
        ("a   b", ["a", "  ", " b"]),
        ("x_1==10", ["x", "_", "1", "==", "10"]),
        ("two\n\nlines ", ["two", "\n", "\n", "lines", " "]),
        ("", []),
    ],
)
def test_words_by_hand(text, words):
    assert words_of(text) == words


def test_every_character_is_in_a_word():
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    assert "".join(words_of(every)) == every


@given(st.text())
def test_words_join_to_the_text(text):
    assert "".join(words_of(text)) == text
