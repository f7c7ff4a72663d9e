"""What several exercises of this topic are examined with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from course.data import words_of
from course.exercise import Rng
from course.reference.tokens import Pair, Word, as_bytes, count_pairs, merge_pair

Best = Callable[[Counter[Pair], dict[bytes, int]], Pair | None]
"""Chooses the next pair by counts and by the numbers of pieces; None ends the training."""

Count = Callable[[Counter[Word]], Counter[Pair]]
"""Counts the pairs of words."""

WORKED_EXAMPLE = "hug hug hug pug pun pun bun hugs"
"""The notebook's worked example."""


def words(text: str) -> Counter[Word]:
    """The words of a text as bytes, and how often each occurs."""
    return Counter(as_bytes(word) for word in words_of(text))


def drawn_text(rng: Rng, letters: str, count: int, longest: int = 5) -> str:
    """`count` words of one to `longest` of these letters each."""
    lengths = [int(rng.integers(1, longest + 1, 1)) for _ in range(count)]
    return " ".join("".join(rng.choice(letters) for _ in range(length)) for length in lengths)


def count_without_overlaps(words: Counter[Word]) -> Counter[Pair]:
    """Pairs as often as they could be joined: a·a·a holds (a, a) once."""
    pairs: Counter[Pair] = Counter()
    for word, count in words.items():
        place = 0
        while place < len(word) - 1:
            pairs[word[place], word[place + 1]] += count
            place += 2 if word[place] == word[place + 1] else 1
    return pairs


def trained(counts: Counter[Word], merges: int, best: Best, count: Count = count_pairs) -> list[Pair]:
    """The loop of `train_bpe` over words that are counted already."""
    number = {bytes([byte]): byte for byte in range(256)}
    learned: list[Pair] = []
    while len(learned) < merges:
        pairs = count(counts)
        if not pairs or (pair := best(pairs, number)) is None:
            break
        learned.append(pair)
        number[pair[0] + pair[1]] = len(number)
        counts = Counter({merge_pair(word, pair): count for word, count in counts.items()})
    return learned


def oldest(pairs: Counter[Pair], number: dict[bytes, int]) -> Pair:
    """The commonest pair, of equals the older."""
    return min(pairs, key=lambda pair: (-pairs[pair], number[pair[0]], number[pair[1]]))
