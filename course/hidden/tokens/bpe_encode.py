"""Hidden tests of `bpe_encode`: the merges applied in their order, word by word."""

from __future__ import annotations

from itertools import pairwise

from course.data import words_of
from course.exercise import call, exercise
from course.hidden.tokens.scaffold import WORKED_EXAMPLE, drawn_text
from course.reference import tokens as reference


@exercise(
    reference.bpe_encode,
    hints=(
        "Cut `abc` on paper with the merges b·c and a·b, learned in this order. Which pair is joined first, and is the "
        "other pair still there afterwards?",
        "Which merges may join the end of one word to the beginning of the next? Which bytes must your pieces give "
        "when you join them?",
        "Begin with one word as a tuple of bytes. Apply the first merge to it, then the second, and print the word "
        "after each. How do the pieces of all words come into one list?",
    ),
    calls=(
        "bpe_encode('ab', [(b'a', b'b')])",
        "bpe_encode('abab', [(b'a', b'b')])",
        "bpe_encode('abc', [(b'b', b'c'), (b'a', b'b')])",
        "bpe_encode('abc', [(b'a', b'b'), (b'b', b'c')])",
        "bpe_encode('abc', [(b'a', b'b'), (b'ab', b'c')])",
        "bpe_encode('abc', [(b'ab', b'c')])",
    ),
)
def bpe_encode(rng):
    """Texts that the merges were not learned from; places where the longest piece, or the leftmost, is another one."""
    yield call("the worked example", f"{WORKED_EXAMPLE} thugs", reference.train_bpe(WORKED_EXAMPLE, 6), public=True)
    order = [(b"b", b"c"), (b"a", b"b"), (b"a", b"bc"), (b"e", b"f"), (b"d", b"e")]
    yield call("the earlier merge, not the longer piece", "abd abc def abab", order, public=True)
    twice = [(b"a", b"b"), (b"b", b"c"), (b"a", b"bc")]
    yield call("a piece that could be made in two ways", "abc bc cabc", twice, public=True)
    yield call("several spaces", "a    b  c", [(b" ", b" ")], public=True)
    merges = reference.train_bpe(drawn_text(rng, "abcd", 199), 41)
    yield call("another text of the same letters", drawn_text(rng, "abcd", 61, 9), merges, weight=3.0)
    yield call("runs of one letter", drawn_text(rng, "aab", 41, 9), reference.train_bpe(drawn_text(rng, "aab", 67), 13))
    learned = reference.train_bpe(f"né née naïve 🙂 {drawn_text(rng, 'éñ🙂', 37)}", 19)
    yield call("accents and emoji", f"né ñandú 🙂🙂 {drawn_text(rng, 'éñ🙂', 17)}", learned, weight=2.0)
    spaces = "a    b      c\n\n\n\nd        e " * 3
    yield call("spaces", f"{spaces} {drawn_text(rng, 'ab', 11)}   .", reference.train_bpe(spaces, 7), weight=2.0)
    ends = reference.train_bpe("  Ab ab AB ab\nAb\n  Ab  \n\n", 9)
    yield call("capitals, and white space at both ends", "  AB Ab ab  \n\n", ends)
    yield call("no merges", drawn_text(rng, "aéz", 5), [], weight=0.5).counts_with("the worked example")
    yield call("no text", "", merges, weight=0.25).counts_with("the worked example")


def _encoded(text, encode_word):
    return [piece for word in words_of(text) for piece in encode_word(reference.as_bytes(word))]


@bpe_encode.misconception(
    "You take the longest piece that fits. Apply the merges to the word one after the other, on paper. Is it the same?"
)
def the_longest_piece(text, merges):
    known = {first + second for first, second in merges}

    def longest(word):
        rest, pieces = b"".join(word), []
        while rest:
            ends = (end for end in range(len(rest), 1, -1) if rest[:end] in known)
            end = next(ends, 1)
            pieces.append(rest[:end])
            rest = rest[end:]
        return pieces

    return _encoded(text, longest)


@bpe_encode.misconception(
    "Two known pairs stand in the word a·b·c. Which of the two was learned first, and which do you merge first?"
)
def any_known_pair_from_the_left(text, merges):
    known = set(merges)

    def leftmost(word):
        while pair := next((pair for pair in pairwise(word) if pair in known), None):
            place = next(place for place, other in enumerate(pairwise(word)) if other == pair)
            word = (*word[:place], pair[0] + pair[1], *word[place + 2 :])
        return word

    return _encoded(text, leftmost)


@bpe_encode.misconception(
    "Two known pairs stand in the word a·b·c. Which of the two was learned first, and which do you merge first?"
)
def last_merge_first(text, merges):
    rank = {pair: place for place, pair in enumerate(merges)}

    def latest(word):
        while known := [pair for pair in pairwise(word) if pair in rank]:
            word = reference.merge_pair(word, max(known, key=rank.__getitem__))
        return word

    return _encoded(text, latest)


@bpe_encode.misconception(
    "Encode `abc` with the merges a·b, b·c and a·bc. Which pair makes your last piece, and which merge joins that pair?"
)
def any_pair_that_makes_a_known_piece(text, merges):
    rank = {first + second: place for place, (first, second) in enumerate(merges)}

    def joined(word):
        while known := [pair for pair in pairwise(word) if pair[0] + pair[1] in rank]:
            word = reference.merge_pair(word, min(known, key=lambda pair: rank[pair[0] + pair[1]]))
        return word

    return _encoded(text, joined)


@bpe_encode.misconception(
    "Where does one word end and the next begin? Print `words_of` of a text with three spaces in a row."
)
def the_text_as_one_word(text, merges):
    word = reference.as_bytes(text)
    for pair in merges:
        word = reference.merge_pair(word, pair)
    return list(word)


@bpe_encode.misconception("Join your pieces. Which bytes of the text are missing?")
def spaces_thrown_away(text, merges):
    return [piece for word in text.split() for piece in reference.bpe_encode(word, merges)]


@bpe_encode.misconception("How many pieces is `é` before the first merge? Print the word as bytes.")
def characters_for_bytes(text, merges):
    pieces = []
    for word in words_of(text):
        letters = tuple(letter.encode() for letter in word)
        for pair in merges:
            letters = reference.merge_pair(letters, pair)
        pieces += letters
    return pieces


@bpe_encode.misconception("Merge (a, b) in a·b·a·b. How many of the two places are joined in your answer?")
def each_merge_once_a_word(text, merges):
    def once(word):
        for pair in merges:
            place = next((place for place, other in enumerate(pairwise(word)) if other == pair), None)
            if place is not None:
                word = (*word[:place], pair[0] + pair[1], *word[place + 2 :])
        return word

    return _encoded(text, once)
