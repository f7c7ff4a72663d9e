"""Wrong answers to `rnn_task` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.hidden.rnn.rnn_task import _window


def says_nothing(ids, lengths):
    return torch.zeros(len(ids), 2)


MUTANTS = [says_nothing, _window]
