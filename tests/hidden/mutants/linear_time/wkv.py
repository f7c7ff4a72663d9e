"""Wrong answers to `wkv` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import linear_time as reference


def all_values_alike(k, v, w, u):
    return reference.wkv(0 * k, v, w, u)


def one_decay_for_all(k, v, w, u):
    return reference.wkv(k, v, w.mean().expand_as(w), u)


def backwards(k, v, w, u):
    return reference.wkv(k.flip(1), v.flip(1), w, u).flip(1)


def bonus_in_the_state(k, v, w, u):
    return reference.wkv(k + u, v, w, torch.zeros_like(u))


def fades_once(k, v, w, u):
    """Only the oldest token's weight fades."""
    return torch.cat([v[:, :1], reference.wkv(k, v, torch.zeros_like(w), u)[:, 1:]], 1) + 0 * w


def clamped(k, v, w, u):
    return reference.wkv(k.clamp(-80, 80), v, w, u)


MUTANTS = [all_values_alike, one_decay_for_all, backwards, bonus_in_the_state, fades_once, clamped]
