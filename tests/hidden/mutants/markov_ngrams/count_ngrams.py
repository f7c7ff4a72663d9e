"""Wrong answers to `count_ngrams`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

from collections import Counter

from course.reference import markov_ngrams as reference

# -- first attempts ----------------------------------------------------------------------------------------------------


def stops_one_window_early(tokens, n):
    counts = Counter()
    for i in range(len(tokens) - n):
        counts[tuple(tokens[i : i + n])] += 1
    return counts


def slices_beyond_the_end(tokens, n):
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens)))


def strings_for_tuples(tokens, n):
    return Counter("".join(map(str, tokens[i : i + n])) for i in range(len(tokens) - n + 1))


def nothing_returned(tokens, n):
    counts = Counter()
    for i in range(len(tokens) - n + 1):
        counts[tuple(tokens[i : i + n])] += 1


FIRST_ATTEMPTS = {
    stops_one_window_early: "Where does the last one begin?",
    slices_beyond_the_end: "How long is each tuple",
    strings_for_tuples: "expected a tuple as a key, got a string",
    nothing_returned: "Is a `return` missing?",
}

# -- others ------------------------------------------------------------------------------------------------------------


def complains_about_short_texts(tokens, n):
    if n > len(tokens):
        raise ValueError
    return reference.count_ngrams(tokens, n)


def accepts_nothing(tokens, n):
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


MUTANTS = [complains_about_short_texts, accepts_nothing]
