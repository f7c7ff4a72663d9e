"""Wrong answers to `lstm_parameters` that no misconception knows by name."""

from __future__ import annotations


def _count(D, H, layers, d, *, gates=4, extra=0, first=None):
    widths = [D] + [d * H] * (layers - 1)
    return sum((first or d) * gates * H * (width + H + 1) + extra for width in widths)


def with_peepholes(input_size, hidden_size, layers=1, bidirectional=False):
    return _count(input_size, hidden_size, layers, 1 + bidirectional, extra=3 * hidden_size * (1 + bidirectional))


def with_a_readout(input_size, hidden_size, layers=1, bidirectional=False):
    return _count(input_size, hidden_size, layers, 1 + bidirectional) + hidden_size


def with_the_start(input_size, hidden_size, layers=1, bidirectional=False):
    d = 1 + bidirectional
    return _count(input_size, hidden_size, layers, d, extra=2 * d * hidden_size)


def divided_with_a_dot(input_size, hidden_size, layers=1, bidirectional=False):
    return str(_count(input_size, hidden_size, layers, 1 + bidirectional))


MUTANTS = [
    with_peepholes,
    with_a_readout,
    with_the_start,
    divided_with_a_dot,
]
