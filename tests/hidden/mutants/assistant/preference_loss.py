"""Wrong answers to `preference_loss` that no misconception knows by name."""

from __future__ import annotations

from torch.nn import functional as F


def clamped(chosen, rejected):
    return -F.logsigmoid((chosen - rejected).clamp(-3, 3)).mean()


def one_loss_a_pair(chosen, rejected):
    return -F.logsigmoid(chosen - rejected)


def chosen_only(chosen, rejected):
    return -F.logsigmoid(chosen).mean()


def rejected_cut(chosen, rejected):
    return -F.logsigmoid(chosen - rejected.detach()).mean()


def with_a_small_number(chosen, rejected):
    return -((chosen - rejected).sigmoid() + 1e-6).log().mean()


def exponential_overflows(chosen, rejected):
    return (1 + (rejected - chosen).exp()).log().mean()


MUTANTS = [exponential_overflows, clamped, one_loss_a_pair, chosen_only, rejected_cut, with_a_small_number]
