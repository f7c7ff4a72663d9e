"""Wrong answers to `build_vocab` that no misconception knows by name."""

from __future__ import annotations

from collections import Counter


def starts_at_one(tokens, min_count=1):
    ranked = sorted(set(tokens), key=lambda w: (-tokens.count(w), w))
    return {w: i + 2 for i, w in enumerate(ranked) if tokens.count(w) >= min_count} | {"<unk>": 1}


def gaps_where_words_were_dropped(tokens, min_count=1):
    counts = Counter(tokens)
    return {"<unk>": 0} | {w: i + 1 for i, w in enumerate(sorted(counts)) if counts[w] >= min_count}


def ties_by_length(tokens, min_count=1):
    counts = Counter(tokens)
    ranked = sorted((w for w in counts if counts[w] >= min_count), key=lambda w: (-counts[w], len(w), w[::-1]))
    return {w: i for i, w in enumerate(["<unk>", *ranked])}


def a_list_of_words(tokens, min_count=1):
    counts = Counter(tokens)
    return ["<unk>", *sorted((w for w in counts if counts[w] >= min_count), key=lambda w: (-counts[w], w))]


def words_by_id(tokens, min_count=1):
    return dict(enumerate(a_list_of_words(tokens, min_count)))


def words_of_letters_only(tokens, min_count=1):
    counts = Counter(token for token in tokens if token.isalpha())
    ranked = sorted((w for w in counts if counts[w] >= min_count), key=lambda w: (-counts[w], w))
    return {w: i for i, w in enumerate(["<unk>", *ranked])}


def alphabet_without_case(tokens, min_count=1):
    counts = Counter(tokens)
    ranked = sorted((w for w in counts if counts[w] >= min_count), key=lambda w: (-counts[w], w.lower()))
    return {w: i for i, w in enumerate(["<unk>", *ranked])}


def changes_its_input(tokens, min_count=1):
    counts = Counter(tokens)
    tokens.clear()
    ranked = sorted((w for w in counts if counts[w] > min_count), key=lambda w: (-counts[w], w))
    return {w: i for i, w in enumerate(["<unk>", *ranked])}


MUTANTS = [
    starts_at_one,
    gaps_where_words_were_dropped,
    ties_by_length,
    a_list_of_words,
    words_by_id,
    words_of_letters_only,
    alphabet_without_case,
    changes_its_input,
]
