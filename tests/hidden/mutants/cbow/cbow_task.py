"""Wrong answers to `cbow_task` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.data import grammar


class _Fixed:
    def __init__(self, E, logits):
        self.E, self.logits = E, logits
        self.__name__ = logits.__name__

    def __call__(self, contexts):
        return self.logits(contexts)


def _by_kind():
    return grammar.class_table().float()


def repeats_the_context(contexts):
    return F.one_hot(contexts, len(grammar.language().words)).float().amax(1) * 10


def sees_the_word_before_alone(contexts):
    p = grammar.language().next_word(contexts[:, 1:2], running=True)[:, -1]
    return p.clamp(min=1e-9).log()


def knows_the_order(contexts):
    return grammar.language().centre(contexts).clamp(min=1e-9).log()


def not_a_number(contexts):
    return torch.full((len(contexts), len(grammar.language().words)), torch.nan)


MUTANTS = [
    _Fixed(_by_kind(), repeats_the_context),
    _Fixed(_by_kind(), sees_the_word_before_alone),
    _Fixed(_by_kind(), knows_the_order),
    _Fixed(_by_kind(), not_a_number),
    _Fixed(_by_kind().T, sees_the_word_before_alone),
]
