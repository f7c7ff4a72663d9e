"""Right answers to `wordpiece_encode` that look nothing like the reference."""

from __future__ import annotations


def two_loops(word, vocab):
    pieces, start = [], 0
    while start < len(word):
        end = len(word)
        while end > start:
            piece = word[start:end] if start == 0 else "##" + word[start:end]
            if piece in vocab:
                break
            end -= 1
        if end == start:
            return ["[UNK]"]
        pieces.append(piece)
        start = end
    return pieces


def longest_of_those_that_fit(word, vocab):
    rest, pieces = word, []
    while rest:
        mark = "##" if pieces else ""
        fitting = [piece for piece in vocab if piece.startswith(mark) and rest.startswith(piece.removeprefix(mark))]
        fitting = [piece for piece in fitting if len(piece) > len(mark)]
        if not fitting:
            return ["[UNK]"]
        pieces.append(max(fitting, key=len))
        rest = rest[len(pieces[-1]) - len(mark) :]
    return pieces


ALTERNATIVES = [two_loops, longest_of_those_that_fit]
