"""Wrong answers to `build_vocab`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

from collections import Counter

# -- first attempts ----------------------------------------------------------------------------------------------------


def numbered_as_they_come(tokens, min_count=1):
    vocab = {"<unk>": 0}
    for token in tokens:
        if token not in vocab:
            vocab[token] = len(vocab)
    return vocab


def most_common_and_ties_as_they_come(tokens, min_count=1):
    vocab = {"<unk>": 0}
    for word, count in Counter(tokens).most_common():
        if count >= min_count:
            vocab[word] = len(vocab)
    return vocab


def everything_reversed(tokens, min_count=1):
    counts = Counter(tokens)
    words = sorted(counts, key=lambda word: (counts[word], word), reverse=True)
    return {"<unk>": 0} | {word: i + 1 for i, word in enumerate(words) if counts[word] >= min_count}


def rarest_first(tokens, min_count=1):
    counts = Counter(tokens)
    words = sorted((word for word in counts if counts[word] >= min_count), key=lambda word: (counts[word], word))
    return {"<unk>": 0} | {word: i + 1 for i, word in enumerate(words)}


def unknown_forgotten(tokens, min_count=1):
    counts = Counter(tokens)
    words = sorted(counts, key=lambda word: (-counts[word], word))
    return {word: i for i, word in enumerate(words) if counts[word] >= min_count}


def more_often_than_min_count(tokens, min_count=1):
    counts = Counter(tokens)
    words = [word for word in counts if counts[word] > min_count]
    return {"<unk>": 0} | {word: i + 1 for i, word in enumerate(sorted(words, key=lambda word: (-counts[word], word)))}


def counts_for_ids(tokens, min_count=1):
    return {"<unk>": 0} | {word: count for word, count in Counter(tokens).items() if count >= min_count}


FIRST_ATTEMPTS = {
    numbered_as_they_come: "the order in which words first appear",
    most_common_and_ties_as_they_come: "What decides between equal counts?",
    everything_reversed: "reverses both parts of a pair",
    rarest_first: "Which end of the list has the frequent words?",
    unknown_forgotten: "a word get that is not in the vocabulary?",
    more_often_than_min_count: "occurs exactly min_count times",
    counts_for_ids: "words apart that share an id?",
}

# -- others ------------------------------------------------------------------------------------------------------------


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
