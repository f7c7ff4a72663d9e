"""Right answers to `train_bpe` that look nothing like the reference."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from course.data import words_of


def with_numbers_for_pieces(text, merges):
    """Words as lists of numbers: the rule for ties compares these, and no table of ages is needed."""
    pieces = [bytes([byte]) for byte in range(256)]
    words = [(list(word.encode()), count) for word, count in Counter(words_of(text)).items()]
    learned = []
    for _ in range(merges):
        pairs = Counter()
        for word, count in words:
            for pair in pairwise(word):
                pairs[pair] += count
        if not pairs:
            break
        first, second = max(pairs, key=lambda pair: (pairs[pair], -pair[0], -pair[1]))
        for word, _count in words:
            place = 0
            while place < len(word) - 1:
                if word[place : place + 2] == [first, second]:
                    word[place : place + 2] = [len(pieces)]
                place += 1
        learned.append((pieces[first], pieces[second]))
        pieces.append(pieces[first] + pieces[second])
    return learned


def token_by_token(text, merges):
    """No counting of words: every token of the text is merged by itself."""
    words = [[bytes([byte]) for byte in word.encode()] for word in words_of(text)]
    ages = [bytes([byte]) for byte in range(256)]
    learned = []
    while len(learned) < merges:
        pairs = Counter(pair for word in words for pair in pairwise(word))
        if not pairs:
            return learned
        most = max(pairs.values())
        pair = min((ages.index(a), ages.index(b), a, b) for (a, b), count in pairs.items() if count == most)[2:]
        learned.append(pair)
        ages.append(pair[0] + pair[1])
        for word in words:
            for place in range(len(word) - 1):
                if place + 1 < len(word) and (word[place], word[place + 1]) == pair:
                    word[place : place + 2] = [pair[0] + pair[1]]
    return learned


ALTERNATIVES = [with_numbers_for_pieces, token_by_token]
