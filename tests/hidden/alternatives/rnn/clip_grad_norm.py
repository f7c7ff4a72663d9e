"""Right answers to `clip_grad_norm` that look nothing like the reference."""

from __future__ import annotations

import math

import numpy as np
import torch


def clip_as_torch_does(grads, max_norm):
    total = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(g) for g in grads]))
    factor = torch.clamp(max_norm / (total + 1e-6), max=1.0)
    return [g * factor.to(g.dtype) for g in grads], total


def clip_in_python(grads, max_norm):
    norm = math.sqrt(sum(value**2 for g in grads for value in g.flatten().tolist()))
    return [g / max(norm / max_norm, 1.0) for g in grads], np.float64(norm)


ALTERNATIVES = [clip_as_torch_does, clip_in_python]
