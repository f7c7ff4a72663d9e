"""Wrong answers to `lstm_parameters`: a beginner's first attempts."""

from __future__ import annotations

from torch import nn


def one_gate(input_size, hidden_size, layers=1, bidirectional=False):
    directions, total, width = 1 + bidirectional, 0, input_size
    for _ in range(layers):
        total += directions * (hidden_size * width + hidden_size * hidden_size + hidden_size)
        width = directions * hidden_size
    return total


def layers_all_alike(input_size, hidden_size, layers=1, bidirectional=False):
    return layers * (1 + bidirectional) * 4 * hidden_size * (input_size + hidden_size + 1)


def _added_up(input_size, hidden_size, layers, directions, cell):
    widths = [input_size] + [directions * hidden_size] * (layers - 1)
    return sum(directions * cell(width, hidden_size) for width in widths)


def no_bias(input_size, hidden_size, layers=1, bidirectional=False):
    return _added_up(input_size, hidden_size, layers, 1 + bidirectional, lambda D, H: 4 * (H * D + H * H))


def one_number_for_each_bias(input_size, hidden_size, layers=1, bidirectional=False):
    return _added_up(input_size, hidden_size, layers, 1 + bidirectional, lambda D, H: 4 * (H * D + H * H + 1))


def as_pytorch_counts(input_size, hidden_size, layers=1, bidirectional=False):
    layer = nn.LSTM(input_size, hidden_size, layers, bidirectional=bidirectional)
    return sum(parameter.numel() for parameter in layer.parameters())


FIRST_ATTEMPTS = {
    one_gate: "How many pieces did you cut it into",
    layers_all_alike: "What does the second layer read",
    no_bias: "name every number that is learned",
    one_number_for_each_bias: "How many numbers are in b",
    as_pytorch_counts: "two biases for each gate",
}
