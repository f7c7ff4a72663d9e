"""The prose of the notebooks: short sentences, joined by words. The bounds are a floor, and readers are the aim."""

from __future__ import annotations

import pytest

from course.syllabus import TOPICS, Topic
from tests.prose import measures, sentences_of

COLONS, SEMICOLONS = 0.12, 0.03
"""The largest shares of sentences with a colon, or a semicolon, within them."""

BEFORE = {
    "01_markov_ngrams": (0.252, 0.094, 0.0, 0.065, 0.036),
    "02_cbow": (0.216, 0.108, 0.0, 0.095, 0.054),
    "03_rnn": (0.258, 0.074, 0.0, 0.147, 0.018),
    "04_lstm_gru": (0.259, 0.077, 0.0, 0.189, 0.084),
    "05_bahdanau_attention": (0.233, 0.104, 0.0, 0.178, 0.086),
    "06_self_attention": (0.205, 0.086, 0.0, 0.093, 0.06),
    "07_multi_head_attention": (0.208, 0.075, 0.0, 0.119, 0.082),
    "08_positional_encoding": (0.284, 0.158, 0.0, 0.115, 0.104),
    "09_masking": (0.226, 0.091, 0.0, 0.081, 0.081),
    "10_encoder_decoder": (0.242, 0.137, 0.0, 0.152, 0.062),
    "11_vit_patches": (0.267, 0.106, 0.0, 0.087, 0.106),
    "12_lora": (0.183, 0.128, 0.0, 0.133, 0.083),
}
"""Shares of sentences in version 0.1.0: with a colon, a semicolon, a dash, a parenthesis, and of over 30 words."""


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.folder)
def test_sentences_are_joined_by_words(topic: Topic) -> None:
    found = measures(topic)
    assert found.colon <= COLONS
    assert found.semicolon <= SEMICOLONS
    if topic.folder in BEFORE:
        _colon, _semicolon, dash, parenthesis, long = BEFORE[topic.folder]
        assert found.dash <= dash
        assert found.parenthesis <= parenthesis
        assert found.long <= long


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
