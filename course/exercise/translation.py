"""Measure translations against the expected ones: by exact match and by BLEU.

Source: K. Papineni et al., "BLEU: a Method for Automatic Evaluation of Machine Translation", ACL 2002, section 2.3.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from torch import Tensor

LONGEST = 4
"""Largest length of the n-grams that BLEU compares."""


def sentences(ids: Tensor, eos: int) -> list[list[int]]:
    """Return rows of ids (B, T), each up to its first `eos`, or whole if it has none."""
    rows = ids.long().tolist()
    return [row[: row.index(eos)] if eos in row else row for row in rows]


def exact_match(said: Sequence[Sequence[int]], expected: Sequence[Sequence[int]]) -> float:
    """Return the share of sentences that match completely."""
    return sum(list(one) == list(other) for one, other in zip(said, expected, strict=True)) / len(expected)


def bleu(said: Sequence[Sequence[int]], expected: Sequence[Sequence[int]]) -> float:
    """Return BLEU of a whole corpus, between 0 and 1, with one expected translation for each sentence."""
    logs = 0.0
    for n in range(1, LONGEST + 1):
        found, all_said = 0, 0
        for one, other in zip(said, expected, strict=True):
            runs = _runs(one, n)
            found += (runs & _runs(other, n)).total()
            all_said += runs.total()
        if not found:
            return 0.0
        logs += math.log(found / all_said) / LONGEST
    words, wanted = sum(map(len, said)), sum(map(len, expected))
    return math.exp(logs + min(0.0, 1 - wanted / words))


def _runs(words: Sequence[int], n: int) -> Counter[tuple[int, ...]]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
