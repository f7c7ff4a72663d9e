"""Right answers to `hmm_forward` that look nothing like the reference."""

from __future__ import annotations

from functools import reduce

import torch


def state_by_state(log_start, log_A, log_E, seen):
    states = range(len(log_start))
    now = [log_start[j] + log_E[j, seen[:, 0]] for j in states]
    all_steps = [torch.stack(now, 1)]
    for t in range(1, seen.shape[1]):
        now = [reduce(torch.logaddexp, [now[i] + log_A[i, j] for i in states]) + log_E[j, seen[:, t]] for j in states]
        all_steps.append(torch.stack(now, 1))
    return torch.stack(all_steps, 1), reduce(torch.logaddexp, now)


def by_matrix_products(log_start, log_A, log_E, seen):
    """Probabilities over their largest, and the logarithm of that carried along."""
    A, p, scale, steps = log_A.exp(), torch.ones_like(log_start), 0.0, []
    for t in range(seen.shape[1]):
        emitted = log_E.t()[seen[:, t]]
        if t == 0:
            logs = log_start + emitted
        else:
            logs = (p @ A).log() + scale + emitted
        steps.append(logs)
        scale = logs.amax(1, keepdim=True).detach()
        scale = torch.where(scale.isinf(), torch.zeros_like(scale), scale)
        p = (logs - scale).exp()
    return torch.stack(steps, 1), p.sum(1).log() + scale[:, 0]


ALTERNATIVES = [state_by_state, by_matrix_products]
