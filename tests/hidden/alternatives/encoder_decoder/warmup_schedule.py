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


ALTERNATIVES = [schedule_by_cases, schedule_by_tensors]
