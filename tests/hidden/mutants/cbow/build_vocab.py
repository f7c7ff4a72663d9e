"""Wrong answers to `build_vocab` that no misconception knows by name."""

from __future__ import annotations

from collections import Counter


def words_of_letters_only(tokens, min_count=1):
    return unknown_kept([token for token in tokens if token.isalpha()], min_count, key=str)


def alphabet_without_case(tokens, min_count=1):
    return unknown_kept(tokens, min_count, key=str.lower)


def unknown_kept(tokens, min_count, key):
    counts = Counter(tokens)
    ranked = sorted((w for w in counts if counts[w] >= min_count), key=lambda w: (-counts[w], key(w)))
    return {w: i for i, w in enumerate(["<unk>", *ranked])}


def changes_its_input(tokens, min_count=1):
    vocab = unknown_kept(list(tokens), min_count, key=str)
    tokens.clear()
    return vocab


MUTANTS = [words_of_letters_only, alphabet_without_case, changes_its_input]
