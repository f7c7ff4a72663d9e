"""Hidden tests of `count_pairs`: neighbours within words, as often as their words occur."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from course.exercise import call, exercise
from course.hidden.tokens.scaffold import WORKED_EXAMPLE, count_without_overlaps, drawn_text, words
from course.reference import tokens as reference


@exercise(
    reference.count_pairs,
    hints=(
        "Write the neighbours of h·u·g down. How many pairs has a word of three pieces, and how many a word of one "
        "piece?",
        "Count by hand for the word a·a·a, which occurs twice in a text. How often does (a, a) occur in all?",
        "Begin with an empty `Counter` and a loop over the words and their counts. `pairwise`, which is imported, "
        "gives the neighbours of one word. What does each of them add?",
    ),
    calls=(
        "count_pairs(Counter({(b'a', b'b'): 3}))",
        "count_pairs(Counter({(b'a', b'a', b'a'): 2}))",
        "count_pairs(Counter({(b'a',): 7}))",
        "count_pairs(Counter({(b'a', b'b'): 3, (b'a', b'b', b'c'): 2}))",
        "count_pairs(Counter({(b'a', b'b', b'a'): 1}))",
        "count_pairs(Counter({(b'a', b'b'): 1, (b'c', b'd'): 1}))",
    ),
)
def count_pairs(rng):
    """Words that occur more than once, runs of one piece, pieces of several bytes, and words without any pair."""
    yield call("the worked example", words(WORKED_EXAMPLE), public=True)
    yield call("a run of one piece", Counter({(b"a",) * 3: 2, (b"a", b"b"): 5}), public=True)
    yield call("a longer text", words(drawn_text(rng, "abcd", 61)), weight=2.0)
    yield call("pieces of several bytes", _in_pieces(rng), weight=2.0)
    yield call("accents and an emoji", words("né née 🙂 naïve 🙂🙂 " + drawn_text(rng, "é🙂", 13)))
    alone = Counter({(bytes([byte]),): 3 for byte in rng.permutation(200)[:7].tolist()})
    yield call("words of one piece", alone, weight=0.5).counts_with("a longer text")
    yield call("no words", Counter(), weight=0.5).counts_with("a longer text")


def _in_pieces(rng):
    known = [b"a", b"ab", b"aba", b" a", b"\xc3"]
    made = [tuple(rng.choice(known) for _ in range(int(rng.integers(1, 6, 1)))) for _ in range(23)]
    return Counter({word: int(rng.integers(1, 9, 1)) for word in made})


@count_pairs.misconception("The word `hug` occurs three times. How often do its neighbours h and u occur?")
def each_word_counted_once(words):
    return Counter(pair for word in words for pair in pairwise(word))


@count_pairs.misconception("Two words hold the pair (h, u). What does your table say after the first, and after both?")
def the_last_word_alone(words):
    return Counter({pair: count for word, count in words.items() for pair in pairwise(word)})


@count_pairs.misconception("Count for the two words `ab` and `cd` by hand. Is (b, c) among your pairs?")
def across_words(words):
    return Counter(pairwise(piece for word in words.elements() for piece in word))


@count_pairs.misconception("How many pairs of neighbours has a·a·a? Every neighbour counts, overlapping or not.")
def each_pair_once_a_word(words):
    pairs = Counter()
    for word, count in words.items():
        for pair in set(pairwise(word)):
            pairs[pair] += count
    return pairs


count_pairs.mistakes(
    "How many pairs of neighbours has a·a·a? Every neighbour counts, overlapping or not.",
    no_overlaps=count_without_overlaps,
)


@count_pairs.misconception("What are the two pieces of your key? (ab, c) and (a, bc) are different pairs.")
def keys_joined(words):
    pairs = Counter()
    for word, count in words.items():
        for first, second in pairwise(word):
            pairs[first + second] += count
    return pairs


@count_pairs.misconception("A word of four pieces has three pairs. Which one does your loop never reach?")
def last_pair_lost(words):
    pairs = Counter()
    for word, count in words.items():
        for place in range(len(word) - 2):
            pairs[word[place], word[place + 1]] += count
    return pairs
