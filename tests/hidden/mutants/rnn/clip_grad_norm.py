"""Wrong answers to `clip_grad_norm`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import rnn as reference

# -- first attempts ----------------------------------------------------------------------------------------------------


def each_for_itself(grads, max_norm):
    clipped = [g * min(1.0, max_norm / g.norm().item()) for g in grads]
    return clipped, sum(g.norm().item() ** 2 for g in grads) ** 0.5


def sum_of_the_norms(grads, max_norm):
    total = sum(g.norm().item() for g in grads)
    return [g * min(1.0, max_norm / total) for g in grads], total


def root_forgotten(grads, max_norm):
    total = sum((g**2).sum().item() for g in grads)
    return [g * min(1.0, max_norm / total) for g in grads], total


def always_scaled(grads, max_norm):
    total = sum((g**2).sum().item() for g in grads) ** 0.5
    return [g * max_norm / total for g in grads], total


def norm_of_what_is_left(grads, max_norm):
    total = sum((g**2).sum().item() for g in grads) ** 0.5
    clipped = [g * min(1.0, max_norm / total) for g in grads]
    return clipped, sum((g**2).sum().item() for g in clipped) ** 0.5


def changed_in_place(grads, max_norm):
    total = sum((g**2).sum().item() for g in grads) ** 0.5
    for g in grads:
        g *= min(1.0, max_norm / total)
    return grads, total


FIRST_ATTEMPTS = {
    each_for_itself: "How many norms do you compute",
    sum_of_the_norms: "the sum of the lengths of its parts?",
    root_forgotten: "Which step is missing?",
    always_scaled: "Is it still that short?",
    norm_of_what_is_left: "the one before clipping or the one after?",
    changed_in_place: "your code changed the input `grads`",
}

# -- others ------------------------------------------------------------------------------------------------------------


def zero_divided_by_zero(grads, max_norm):
    total = torch.stack([(g**2).sum() for g in grads]).sum().sqrt()
    return [g * torch.clamp(max_norm / total, max=1.0) if total else g * (total / total) for g in grads], float(total)


def a_tuple_of_gradients(grads, max_norm):
    clipped, total = reference.clip_grad_norm(grads, max_norm)
    return tuple(clipped), total


MUTANTS = [zero_divided_by_zero, a_tuple_of_gradients]
