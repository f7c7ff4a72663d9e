"""The prose of the notebooks: short sentences, joined by words. The bounds are a floor, and readers are the aim."""

from __future__ import annotations

import pytest

from course.syllabus import OURS, Topic
from tests.prose import measures, sentences_of

BOUNDS = {"colon": 0.03, "semicolon": 0.01, "dash": 0.0, "parenthesis": 0.12, "long": 0.03}
"""The largest shares of sentences with a colon, a semicolon, a dash or a parenthesis in them, and of over 30 words."""


@pytest.mark.parametrize("topic", OURS, ids=lambda topic: topic.folder)
def test_sentences_are_joined_by_words(topic: Topic) -> None:
    found = measures(topic)
    assert {name for name, bound in BOUNDS.items() if getattr(found, name) > bound} == set()


def test_what_counts_as_a_sentence() -> None:
    text = """\
# A heading: with a colon

First one; with a semicolon. Second one (with a parenthesis) has `code: x` in it:

- an item
- another: with a colon

| a | table: |
$$x: y$$
"""
    assert list(sentences_of(text)) == [
        "First one; with a semicolon.",
        "Second one (with a parenthesis) has code in it.",
        "an item",
        "another: with a colon",
    ]
