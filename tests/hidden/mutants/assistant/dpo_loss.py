"""Wrong answers to `dpo_loss` that no misconception knows by name."""

from __future__ import annotations

from torch.nn import functional as F

from course.reference import assistant as reference


def rejected_cut(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta):
    return reference.dpo_loss(policy_chosen, policy_rejected.detach(), ref_chosen, ref_rejected, beta)


def one_reference_learns(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta):
    moved = (policy_chosen - ref_chosen.detach()) - (policy_rejected - ref_rejected)
    return -F.logsigmoid(beta * moved).mean()


def one_loss_a_pair(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta):
    moved = (policy_chosen - ref_chosen.detach()) - (policy_rejected - ref_rejected.detach())
    return -F.logsigmoid(beta * moved)


def no_gradient_at_the_start(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta):
    gap = beta * ((policy_chosen - ref_chosen.detach()) - (policy_rejected - ref_rejected.detach()))
    return ((-gap).relu() + (-gap.abs()).exp().log1p()).mean()  # both slopes are 0 at a gap of exactly 0


MUTANTS = [no_gradient_at_the_start, rejected_cut, one_reference_learns, one_loss_a_pair]
