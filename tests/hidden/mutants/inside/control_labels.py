"""Wrong answers to `control_labels`, a beginner's first attempts."""

from __future__ import annotations

import torch


def a_label_for_each_type_alone(words, labels, generator):
    return labels[torch.randint(len(labels), (len(words.unique()),), generator=generator)]


def without_replacement(words, labels, generator):
    types, of_type = words.unique(return_inverse=True)
    return labels[torch.randperm(len(labels), generator=generator)[: len(types)]][of_type]


def generator_forgotten(words, labels, generator):
    types, of_type = words.unique(return_inverse=True)
    return labels[torch.randint(len(labels), (len(types),))][of_type]


FIRST_ATTEMPTS = {
    a_label_for_each_type_alone: "expected a label for each of 8 tokens, got shape (3,)",
    without_replacement: "Does each type draw for itself, with replacement?",
    generator_forgotten: "Does all chance come from `generator`?",
}
