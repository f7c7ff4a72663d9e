"""Wrong answers to `train_bpe` that no misconception knows by name."""

from __future__ import annotations

from course.hidden.tokens.scaffold import oldest, trained, words


def in_small_letters(text, merges):
    return trained(words(text.lower()), merges, oldest)


def text_stripped(text, merges):
    return trained(words(text.strip()), merges, oldest)


MUTANTS = [in_small_letters, text_stripped]
