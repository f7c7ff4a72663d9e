"""Hidden tests of `merge_pair`: a pair joined wherever it stands, from left to right, without overlap."""

from __future__ import annotations

from course.exercise import call, exercise
from course.reference import tokens as reference


@exercise(
    reference.merge_pair,
    hints=(
        "Merge (a, b) in a·b·c·a·b by hand, and then (a, a) in a·a·a. How many pieces are left each time?",
        "Walk through the word with a finger. By how many pieces does it move on after a merge? And otherwise?",
        "Begin with an empty list and a place that starts at 0. Look at the two pieces that begin at the place. What "
        "goes into the list, and where do you look next?",
    ),
    calls=(
        "merge_pair((b'a', b'b', b'c'), (b'a', b'b'))",
        "merge_pair((b'a', b'a', b'a'), (b'a', b'a'))",
        "merge_pair((b'a', b'b', b'a', b'b'), (b'a', b'b'))",
        "merge_pair((), (b'a', b'b'))",
        "merge_pair((b'c', b'a', b'b'), (b'a', b'b'))",
        "merge_pair((b'a',), (b'a', b'b'))",
    ),
)
def merge_pair(rng):
    """The pair at both ends, twice, in runs, and nowhere; pairs whose bytes look like other pieces or their ends."""

    def case(title, word, pair, **options):
        return call(title, tuple(word), tuple(pair), **options)

    yield case("one merge of the worked example", [b"h", b"u", b"g", b"s"], [b"u", b"g"], public=True)
    yield case("three of a kind", [b"a"] * 3, [b"a", b"a"], public=True)
    yield case("a piece that ends as the pair begins", [b"ba", b"b", b"a", b"b"], [b"a", b"b"], public=True)
    yield case("pieces that hold any byte", [bytes([byte]) for byte in range(256)], [b"a", b"b"])
    a, b, c = (bytes([byte]) for byte in rng.permutation(256)[:3].tolist())
    yield case("at both ends and in the middle", [a, b, c, a, b, a, c, a, b], [a, b], weight=2.0)
    yield case("a run of five", [c, a, a, a, a, a, b], [a, a])
    yield case("pieces of several bytes", [a + b, c, a, b + c, a + b, c], [a + b, c], weight=2.0)
    yield case("the pair the other way round", [b, a, c, b, a, b, c], [a, b])
    yield case("the joined piece is there already", [a + b, a, b, a + b], [a, b])
    word = [rng.choice([a, b]) for _ in range(41)]
    yield case("a long word of two letters", word, [a, b])
    yield case("a long word, a pair of equals", word, [a, a])
    yield case("the pair is not there", [a, c, b], [a, b], weight=0.5).counts_with("three of a kind")
    yield case("a single piece", [c], [a, b], weight=0.5).counts_with("three of a kind")


def _walk(word, is_pair, step=2):
    """The pieces of a walk from the left, joined where `is_pair` says so, which goes on by `step` after a merge."""
    pieces, place = [], 0
    while place < len(word):
        if place + 1 < len(word) and is_pair(word[place], word[place + 1]):
            pieces.append(word[place] + word[place + 1])
            place += step
        else:
            pieces.append(word[place])
            place += 1
    return tuple(pieces)


@merge_pair.misconception("Merge (a, b) in a·b·a·b. Which of the two places does your function join?")
def only_the_first(word, pair):
    for place in range(len(word) - 1):
        if word[place : place + 2] == pair:
            return (*word[:place], pair[0] + pair[1], *word[place + 2 :])
    return word


@merge_pair.misconception("How many letters has your answer to a·a·a? A piece that is used up cannot be joined again.")
def overlaps(word, pair):
    return _walk(word, lambda first, second: (first, second) == pair, step=1)


@merge_pair.misconception("Merge (a, a) in a·a·a. The text is read from the left. Which two meet first?")
def from_the_right(word, pair):
    pieces, place = [], len(word)
    while place:
        width = 2 if word[max(place - 2, 0) : place] == pair else 1
        pieces.insert(0, b"".join(word[place - width : place]))
        place -= width
    return tuple(pieces)


@merge_pair.misconception("Is (ab, c) the same pair as (a, bc)? Which of the two does your comparison see?")
def compares_the_joined_bytes(word, pair):
    return _walk(word, lambda first, second: first + second == pair[0] + pair[1])


@merge_pair.misconception("Merge (a, b) in ba·b. Does your comparison see whole pieces, or only where they touch?")
def replaced_between_blanks(word, pair):
    return tuple(b" ".join(word).replace(b" ".join(pair), b"".join(pair)).split(b" "))


@merge_pair.misconception("Print the last piece of the word and of your answer, where the pair is not at the end.")
def last_piece_lost(word, pair):
    pieces, place = [], 0
    while place < len(word) - 1:
        width = 2 if word[place : place + 2] == pair else 1
        pieces.append(b"".join(word[place : place + width]))
        place += width
    return tuple(pieces)


@merge_pair.misconception("The order of a pair matters. Does your function join (b, a), too, when (a, b) is asked for?")
def either_order(word, pair):
    return _walk(word, lambda first, second: pair in ((first, second), (second, first)))
