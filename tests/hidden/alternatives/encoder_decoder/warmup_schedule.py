"""Right answers to `warmup_schedule` that look nothing like the reference."""

from __future__ import annotations

import math

import torch


def schedule_by_cases(step, d_model, warmup):
    if step <= warmup:
        return step / (warmup * math.sqrt(warmup * d_model))
    return 1 / math.sqrt(step * d_model)


def schedule_by_tensors(step, d_model, warmup):
    step = torch.tensor(float(step), dtype=torch.float64)
    return torch.minimum(step.rsqrt(), step * warmup**-1.5) / math.sqrt(d_model)


def schedule_by_the_peak(step, d_model, warmup):
    peak = (d_model * warmup) ** -0.5
    return peak * min(step / warmup, (warmup / step) ** 0.5)


ALTERNATIVES = [schedule_by_cases, schedule_by_tensors, schedule_by_the_peak]
