"""Wrong answers to `warmup_schedule` that no misconception knows by name."""

from __future__ import annotations


def whole_steps(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, (step // 2) * 2 * warmup**-1.5)


MUTANTS = [whole_steps]
