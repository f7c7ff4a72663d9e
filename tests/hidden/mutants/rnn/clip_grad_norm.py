"""Wrong answers to `clip_grad_norm` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import rnn as reference


def largest_value(grads, max_norm):
    total = max(float(g.abs().max()) for g in grads)
    return [g * min(1.0, max_norm / max(total, 1e-12)) for g in grads], total


def root_mean_square(grads, max_norm):
    total = (sum(float((g**2).sum()) for g in grads) / sum(g.numel() for g in grads)) ** 0.5
    return [g * min(1.0, max_norm / max(total, 1e-12)) for g in grads], total


def never_clips(grads, max_norm):
    return list(grads), reference.clip_grad_norm(grads, max_norm)[1]


def zero_divided_by_zero(grads, max_norm):
    total = torch.stack([(g**2).sum() for g in grads]).sum().sqrt()
    return [g * torch.clamp(max_norm / total, max=1.0) if total else g * (total / total) for g in grads], float(total)


def in_place(grads, max_norm):
    clipped, total = reference.clip_grad_norm(grads, max_norm)
    for g, c in zip(grads, clipped, strict=True):
        g.copy_(c)
    return grads, total


def gradients_alone(grads, max_norm):
    return reference.clip_grad_norm(grads, max_norm)[0]


def a_tuple_of_gradients(grads, max_norm):
    clipped, total = reference.clip_grad_norm(grads, max_norm)
    return tuple(clipped), total


def clips_the_last_only(grads, max_norm):
    clipped, total = reference.clip_grad_norm(grads, max_norm)
    return [*grads[:-1], clipped[-1]], total


MUTANTS = [
    largest_value,
    root_mean_square,
    never_clips,
    zero_divided_by_zero,
    in_place,
    gradients_alone,
    a_tuple_of_gradients,
    clips_the_last_only,
]
