"""Wrong answers to `attention_for_one`: a beginner's first attempts."""

from __future__ import annotations

import torch


def _weights(query, keys):
    return torch.softmax(keys @ query / len(query) ** 0.5, 0)


def query_before_the_keys(query, keys, values):
    return torch.softmax(query @ keys / len(query) ** 0.5, 0) @ values


def a_second_axis(query, keys, values):
    return torch.softmax(keys @ query / len(query) ** 0.5, dim=1) @ values


def not_scaled(query, keys, values):
    return torch.softmax(keys @ query, 0) @ values


def divided_by_two(query, keys, values):
    return torch.softmax(keys @ query / 2, 0) @ values


def not_mixed(query, keys, values):
    return _weights(query, keys)


def weights_times_values(query, keys, values):
    return (_weights(query, keys) * values).sum(0)


def summed_over_the_width(query, keys, values):
    return (_weights(query, keys)[:, None] * values).sum(1)


FIRST_ATTEMPTS = {
    query_before_the_keys: "The sizes that meet have to be equal.",
    a_second_axis: "over which one does your softmax run?",
    not_scaled: "what does softmax make of them?",
    divided_by_two: "The text's vectors have four numbers.",
    not_mixed: "Which of the four steps comes after them?",
    weights_times_values: "The sizes that meet have to be equal.",
    summed_over_the_width: "Which axis should disappear when you mix them?",
}
