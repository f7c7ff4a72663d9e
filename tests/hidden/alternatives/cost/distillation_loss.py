"""Right answers to `distillation_loss` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def by_cross_entropy(student, teacher, temperature=1.0):
    """Cross-entropy with the teacher's probabilities, less their entropy."""
    if not temperature > 0:
        raise ValueError("temperature")
    with torch.no_grad():
        p = torch.softmax(teacher / temperature, -1)
        entropy = -torch.special.xlogy(p, p).sum(-1)
    crossed = torch.logsumexp(student / temperature, -1) - (p * student / temperature).sum(-1)
    return (crossed - entropy).mean() * temperature * temperature


def by_torch(student, teacher, temperature=1.0):
    if temperature <= 0:
        raise ValueError("temperature")
    width = student.shape[-1]
    log_q = F.log_softmax(student / temperature, -1).reshape(-1, width)
    p = F.softmax(teacher.detach() / temperature, -1).reshape(-1, width)
    return F.kl_div(log_q, p, reduction="batchmean") * temperature**2


ALTERNATIVES = [by_cross_entropy, by_torch]
