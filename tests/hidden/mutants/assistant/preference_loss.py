"""Wrong answers to `preference_loss` that no misconception knows by name."""

from __future__ import annotations

from torch.nn import functional as F


def rejected_cut(chosen, rejected):
    return -F.logsigmoid(chosen - rejected.detach()).mean()


MUTANTS = [rejected_cut]
