"""Wrong answers to `warmup_schedule` that no misconception knows by name."""

from __future__ import annotations

import math


def steps_per_warmup(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step / warmup)


def cosine_after_the_peak(step, d_model, warmup):
    peak = (d_model * warmup) ** -0.5
    if step <= warmup:
        return peak * step / warmup
    return peak * 0.5 * (1 + math.cos(math.pi * min(1, (step - warmup) / (10 * warmup))))


def constant_peak_of_one(step, d_model, warmup):
    return min(step / warmup, (warmup / step) ** 0.5)


def whole_steps(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, (step // 2) * 2 * warmup**-1.5)


MUTANTS = [steps_per_warmup, cosine_after_the_peak, constant_peak_of_one, whole_steps]
