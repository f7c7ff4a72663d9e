"""Wrong answers to `train_bpe` that no misconception knows by name."""

from __future__ import annotations

from course.hidden.tokens.scaffold import oldest, trained, words


def one_merge_too_few(text, merges):
    return trained(words(text), merges - 1, oldest)


def younger_second_half(text, merges):
    """Of equals with the same first half, the younger second."""
    return trained(
        words(text), merges, lambda pairs, number: min(pairs, key=lambda p: (-pairs[p], number[p[0]], -number[p[1]]))
    )


def joined_pieces_for_pairs(text, merges):
    return [first + second for first, second in trained(words(text), merges, oldest)]


def longest_first(text, merges):
    return trained(words(text), merges, lambda pairs, number: max(pairs, key=lambda p: (pairs[p], len(p[0] + p[1]))))


def in_small_letters(text, merges):
    return trained(words(text.lower()), merges, oldest)


def text_stripped(text, merges):
    return trained(words(text.strip()), merges, oldest)


MUTANTS = [
    in_small_letters,
    text_stripped,
    one_merge_too_few,
    younger_second_half,
    joined_pieces_for_pairs,
    longest_first,
]
