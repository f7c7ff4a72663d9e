"""Wrong answers to `wordpiece_encode` that no misconception knows by name."""

from __future__ import annotations

from course.reference.tokens import wordpiece_encode


def in_small_letters(word, vocab):
    return wordpiece_encode(word.lower(), vocab)


def nothing_is_unknown(word, vocab):
    return wordpiece_encode(word, vocab) or ["[UNK]"]


MUTANTS = [in_small_letters, nothing_is_unknown]
