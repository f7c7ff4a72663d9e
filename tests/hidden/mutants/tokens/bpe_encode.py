"""Wrong answers to `bpe_encode` that no misconception knows by name."""

from __future__ import annotations

from course.reference import tokens as reference


def in_small_letters(text, merges):
    return reference.bpe_encode(text.lower(), merges)


def text_stripped(text, merges):
    return reference.bpe_encode(text.strip(), merges)


MUTANTS = [in_small_letters, text_stripped]
