"""Hidden tests of `count_ngrams`: the windows of n tokens in a text, each with its count."""

from collections import Counter

from course.exercise import call, exercise
from course.reference import markov_ngrams as reference


@exercise(
    reference.count_ngrams,
    hints=(
        "Write `b a n a n a` on paper and put a window of two letters wherever it fits. How many places are there, "
        "and which windows do you see twice?",
        "In a text of T tokens, where does the first window of n tokens begin, and where does the last one begin? "
        "Try T = n, where exactly one window fits.",
        "Begin with one window. Cut the first two tokens out of a short list, turn them into something that a "
        "Counter can hold, and count it. Then let the place where the window begins move through the text.",
    ),
    calls=(
        "count_ngrams(list('banana'), 2)",
        "count_ngrams(list('aaaa'), 2)",
        "count_ngrams(list('abcd'), 4)",
        "count_ngrams(list('ab'), 3)",
        "count_ngrams(list('abab'), 1)",
        "count_ngrams(list('ab'), 0)",
    ),
)
def count_ngrams(rng):
    """Repeated windows that overlap, a window at the very end, texts shorter than the window, tokens of every kind."""
    yield call("the pairs of banana", list("banana"), 2, public=True)
    words = ["the", "cat", "and", "the", "dog", "and", "the", "cat", "and", "the", "cow"]
    yield call("three words at a time", words, 3, public=True)
    yield call("single tokens", rng.integers(0, 5, 23).tolist(), 1)
    yield call("numbers, windows of three", rng.integers(0, 3, 53).tolist(), 3)
    yield call("one token over and over", ["a"] * 7, 2)
    yield call("a window as long as the text", rng.integers(0, 9, 5).tolist(), 5, public=True)
    yield call("a text shorter than the window", [1, 2, 3], 5).counts_with("a window of nothing")  # else {} earns
    yield call("no text", [], 2).counts_with("a window of nothing")
    yield call("tokens of several letters", ["ab", "c", "a", "bc", "ab", "c"], 2)
    yield call("a window of nothing", [1, 2, 3], 0, public=True, raises="ValueError", weight=0.5)
    yield call("a window of less than nothing", [1, 2, 3], -2, raises="ValueError", weight=0.5)


def _windows_from(starts, tokens, n):
    """The windows that begin at these places of the text, counted."""
    if n < 1:
        raise ValueError("n < 1")
    return Counter(tuple(tokens[i : i + n]) for i in starts)


@count_ngrams.misconception(
    "Count by hand the windows of a text of three tokens, for n = 1, 2 and 3. Where does the last one begin?"
)
def misses_the_last(tokens, n):
    return _windows_from(range(len(tokens) - n), tokens, n)


@count_ngrams.misconception("How long is each tuple that you counted? Look at the tuples from the end of the text.")
def cut_off_windows(tokens, n):
    return _windows_from(range(len(tokens)), tokens, n)


@count_ngrams.misconception("Does every tuple that you counted occur in the text, token for token?")
def padded(tokens, n):
    return _windows_from(range(len(tokens)), [None] * (n - 1) + tokens, n)


@count_ngrams.misconception(
    "What stands beside a count in a Counter must never change. Print the type of the window that you cut out. Can you "
    "change one of its tokens?"
)
def lists_for_keys(tokens, n):
    return Counter(tokens[i : i + n] for i in range(len(tokens) - n + 1))


@count_ngrams.misconception("In `a b c`, the pair (b, c) begins inside the pair (a, b). Is (b, c) in your counts?")
def without_overlaps(tokens, n):
    return _windows_from(range(0, len(tokens) - n + 1, n), tokens, n)


@count_ngrams.misconception("In `a b c d e`, how far apart do two of your pairs begin? And how long is the last one?")
def without_overlaps_and_cut_off(tokens, n):
    return _windows_from(range(0, len(tokens), n), tokens, n)


@count_ngrams.misconception("How often does ('a', 'n') occur in `b a n a n a`, and what do your counts say?")
def each_window_once(tokens, n):
    return Counter(set(reference.count_ngrams(tokens, n)))


@count_ngrams.misconception("Is (a, b) the same window as (b, a)? What do your counts say?")
def order_lost(tokens, n):
    return Counter(tuple(sorted(window)) for window in reference.count_ngrams(tokens, n).elements())
