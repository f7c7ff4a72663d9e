"""Right answers to `merge_pair` that look nothing like the reference."""

from __future__ import annotations


def onto_a_stack(word, pair):
    """Push pieces onto a stack, and join the top two where they are the pair."""
    pieces = []
    for piece in word:
        if pieces and (pieces[-1], piece) == pair:
            pieces[-1] = pieces[-1] + piece
        else:
            pieces.append(piece)
    return tuple(pieces)


def by_recursion(word, pair):
    for place in range(len(word) - 1):
        if word[place : place + 2] == pair:
            return (*word[:place], pair[0] + pair[1], *by_recursion(word[place + 2 :], pair))
    return word


ALTERNATIVES = [onto_a_stack, by_recursion]
