"""Wrong answers to `markov_ngrams_task` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import markov_ngrams as reference
from tests.hidden.mutants.markov_ngrams.scaffold import Counts


def three_characters(vocab_size):
    return reference.NGramModel(3, vocab_size, 0.1)


def louder_than_one(vocab_size):
    return Counts(5, vocab_size, 0.1)


class _OutOfNothing(reference.NGramModel):
    """A model that gives every token probability 1, and balances the sum with a token outside of the vocabulary."""

    def next_distribution(self, context):
        return torch.cat([torch.ones(self.vocab_size), torch.tensor([1.0 - self.vocab_size])]).double()


def certain_of_everything(vocab_size):
    return _OutOfNothing(1, vocab_size, 0.1)


def a_class_for_a_model(vocab_size):
    return reference.NGramModel


MUTANTS = [
    three_characters,
    louder_than_one,
    certain_of_everything,
    a_class_for_a_model,
]
