"""Wrong answers to `hidden_states_task` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.hidden.hidden_states.hidden_states_task import ReadsByRule


class EightDigitsAtMost(ReadsByRule):
    def collapse(self, path):
        return super().collapse(path)[:8]


class TurnedRound(ReadsByRule):
    def collapse(self, path):
        return super().collapse(path)[::-1]


class SaysTheSame(ReadsByRule):
    def __call__(self, x):
        return super().__call__(torch.zeros_like(x))

    def read(self, x, lengths):
        return [[5, 5, 5]] * len(x)


MUTANTS = [EightDigitsAtMost(), TurnedRound(), SaysTheSame()]
