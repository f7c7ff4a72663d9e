"""Wrong answers to `selective_scan` that no misconception knows by name."""

from __future__ import annotations

from course.reference import linear_time as reference


def backwards(x, delta, A, B, C):
    return reference.selective_scan(*(each.flip(1) for each in (x, delta)), A, B.flip(1), C.flip(1)).flip(1)


def writes_with_the_last_B(x, delta, A, B, C):
    return reference.selective_scan(x, delta, A, B.roll(1, 1), C)


def reads_with_B(x, delta, A, B, C):
    return reference.selective_scan(x, delta, A, B, B)


def B_and_C_exchanged(x, delta, A, B, C):
    return reference.selective_scan(x, delta, A, C, B)


def one_decay_for_all_states(x, delta, A, B, C):
    return reference.selective_scan(x, delta, A.mean(1, keepdim=True).expand_as(A), B, C)


def one_decay_for_all_channels(x, delta, A, B, C):
    return reference.selective_scan(x, delta, A.mean(0, keepdim=True).expand_as(A), B, C)


def one_B_for_the_text(x, delta, A, B, C):
    return reference.selective_scan(x, delta, A, B[:, :1].expand_as(B), C)


def no_gradient_to_the_steps(x, delta, A, B, C):
    return reference.selective_scan(x, delta.detach(), A, B, C)


def steps_held_below_one(x, delta, A, B, C):
    return reference.selective_scan(x, delta.clamp(max=1.0), A, B, C)


def steps_of_a_ten_thousandth_at_least(x, delta, A, B, C):
    return reference.selective_scan(x, delta.clamp(min=1e-4), A, B, C)


MUTANTS = [
    backwards,
    writes_with_the_last_B,
    reads_with_B,
    B_and_C_exchanged,
    one_decay_for_all_states,
    one_decay_for_all_channels,
    one_B_for_the_text,
    no_gradient_to_the_steps,
    steps_held_below_one,
    steps_of_a_ten_thousandth_at_least,
]
