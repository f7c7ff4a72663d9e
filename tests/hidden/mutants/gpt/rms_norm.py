"""Wrong answers to `rms_norm` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import gpt as reference


def default_eps_always(x, gamma, eps=1e-6):
    return reference.rms_norm(x, gamma)


def divisor_detached(x, gamma, eps=1e-6):
    return gamma * x / (x.square().mean(-1, keepdim=True) + eps).sqrt().detach()


def doubled(x, gamma, eps=1e-6):
    return reference.rms_norm(x.double(), gamma.double(), eps)


def bfloat16_becomes_float32(x, gamma, eps=1e-6):
    wide = x.float() if x.dtype == torch.bfloat16 else x
    return gamma * wide * (wide.square().mean(-1, keepdim=True) + eps).rsqrt()


def gamma_under_the_root(x, gamma, eps=1e-6):
    return x / ((gamma * x).square().mean(-1, keepdim=True) + eps).sqrt()


def absolute_values(x, gamma, eps=1e-6):
    return gamma * x / (x.abs().mean(-1, keepdim=True) + eps)


MUTANTS = [
    default_eps_always,
    divisor_detached,
    doubled,
    bfloat16_becomes_float32,
    gamma_under_the_root,
    absolute_values,
]
