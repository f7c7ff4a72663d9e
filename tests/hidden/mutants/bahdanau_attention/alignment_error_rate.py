"""Wrong answers to `alignment_error_rate`: a beginner's first attempts."""

from __future__ import annotations

import torch


def _real(gold, lengths):
    return torch.arange(gold.shape[1]) < lengths[:, None]


def padding_too(weights, gold, lengths):
    return (weights.argmax(-1) != gold).float().mean()


def largest_of_all(weights, gold, lengths):
    return (weights.argmax() != gold).float().mean()


def largest_over_the_targets(weights, gold, lengths):
    return (weights.argmax(1) != gold).float().mean()


def rate_of_hits(weights, gold, lengths):
    real = _real(gold, lengths)
    return ((weights.argmax(-1) == gold) & real).sum() / real.sum()


def misses_over_everything(weights, gold, lengths):
    return ((weights.argmax(-1) != gold) & _real(gold, lengths)).float().mean()


def misses_counted(weights, gold, lengths):
    return ((weights.argmax(-1) != gold) & _real(gold, lengths)).sum()


def lengths_without_an_axis(weights, gold, lengths):
    real = torch.arange(gold.shape[1]) < lengths
    return ((weights.argmax(-1) != gold) & real).sum() / real.sum()


FIRST_ATTEMPTS = {
    padding_too: "Make the padding longer.",
    largest_of_all: "Which axis of the weights counts the source's positions?",
    largest_over_the_targets: "Which axis of the weights counts the source's positions?",
    rate_of_hits: "when every token looks where it should",
    misses_over_everything: "What do you divide by?",
    misses_counted: "What do you divide by?",
    lengths_without_an_axis: "Which axis is missing where you compare them",
}
