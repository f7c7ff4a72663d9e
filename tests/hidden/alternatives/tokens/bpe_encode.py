"""Right answers to `bpe_encode` that look nothing like the reference."""

from __future__ import annotations

from course.data import words_of


def merge_after_merge(text, merges):
    """Every merge, in order, over every word."""
    pieces = []
    for word in words_of(text):
        current = [bytes([byte]) for byte in word.encode()]
        for first, second in merges:
            place = 0
            while place < len(current) - 1:
                if current[place] == first and current[place + 1] == second:
                    current[place : place + 2] = [first + second]
                place += 1
        pieces += current
    return pieces


def earliest_place_first(text, merges):
    """One place at a time: the earliest merge that is there, at its leftmost place."""
    rank = {pair: number for number, pair in enumerate(merges)}
    pieces = []
    for word in words_of(text):
        current = [bytes([byte]) for byte in word.encode()]
        while len(current) > 1:
            best = min(range(len(current) - 1), key=lambda i: rank.get((current[i], current[i + 1]), len(rank)))
            if (current[best], current[best + 1]) not in rank:
                break
            current[best : best + 2] = [current[best] + current[best + 1]]
        pieces += current
    return pieces


ALTERNATIVES = [merge_after_merge, earliest_place_first]
