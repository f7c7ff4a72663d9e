"""Wrong answers to `bpe_encode` that no misconception knows by name."""

from __future__ import annotations

from course.data import words_of
from course.reference import tokens as reference


def as_text(text, merges):
    return [piece.decode("utf-8", errors="replace") for piece in reference.bpe_encode(text, merges)]


def a_list_for_each_word(text, merges):
    return [reference.bpe_encode(word, merges) for word in words_of(text)]


def each_word_stripped(text, merges):
    return [piece for word in words_of(text) for piece in reference.bpe_encode(word.strip(" "), merges)]


def all_but_the_last_merge(text, merges):
    return reference.bpe_encode(text, merges[:-1])


def in_small_letters(text, merges):
    return reference.bpe_encode(text.lower(), merges)


def text_stripped(text, merges):
    return reference.bpe_encode(text.strip(), merges)


MUTANTS = [
    as_text,
    a_list_for_each_word,
    each_word_stripped,
    all_but_the_last_merge,
    in_small_letters,
    text_stripped,
]
