"""Wrong answers to `dpo_loss` that no misconception knows by name."""

from __future__ import annotations


def no_gradient_at_the_start(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta):
    gap = beta * ((policy_chosen - ref_chosen.detach()) - (policy_rejected - ref_rejected.detach()))
    return ((-gap).relu() + (-gap.abs()).exp().log1p()).mean()  # both slopes are 0 at a gap of exactly 0


MUTANTS = [no_gradient_at_the_start]
