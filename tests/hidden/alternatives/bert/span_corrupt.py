"""Right answers to `span_corrupt` that look nothing like the reference."""

from __future__ import annotations

from itertools import groupby


def from_the_back(ids, starts, lengths, sentinels):
    inputs, targets = list(ids), [sentinels[len(starts)]]
    for start, length, sentinel in reversed(list(zip(starts, lengths, sentinels))):
        targets[:0] = [sentinel, *inputs[start : start + length]]
        inputs[start : start + length] = [sentinel]
    return inputs, targets


def by_groups(ids, starts, lengths, sentinels):
    number = {start + i: k for k, (start, n) in enumerate(zip(starts, lengths)) for i in range(n)}
    inputs, targets = [], []
    for span, places in groupby(range(len(ids)), number.get):
        words = [ids[place] for place in places]
        inputs += words if span is None else [sentinels[span]]
        targets += [] if span is None else [sentinels[span], *words]
    return inputs, targets + sentinels[len(starts) : len(starts) + 1]


ALTERNATIVES = [from_the_back, by_groups]
