"""Wrong answers to `rms_norm` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import gpt as reference


def default_eps_always(x, gamma, eps=1e-6):
    return reference.rms_norm(x, gamma)


def divisor_detached(x, gamma, eps=1e-6):
    return gamma * x / (x.square().mean(-1, keepdim=True) + eps).sqrt().detach()


def bfloat16_becomes_float32(x, gamma, eps=1e-6):
    wide = x.float() if x.dtype == torch.bfloat16 else x
    return gamma * wide * (wide.square().mean(-1, keepdim=True) + eps).rsqrt()


MUTANTS = [default_eps_always, divisor_detached, bfloat16_becomes_float32]
