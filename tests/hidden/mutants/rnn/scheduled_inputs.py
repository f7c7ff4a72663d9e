"""Wrong answers to `scheduled_inputs` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import rnn as reference


def teacher_always(targets, own, p, generator):
    return targets.clone()


def own_always(targets, own, p, generator):
    return own.clone()


def on_the_spot(targets, own, p, generator):
    coins = torch.rand(targets.shape, generator=generator) < p
    own[coins] = targets[coins]
    return own


def as_floats(targets, own, p, generator):
    return reference.scheduled_inputs(targets, own, p, generator).float()


def squared(targets, own, p, generator):
    return reference.scheduled_inputs(targets, own, p * p, generator)


def nothing_of_large_tables(targets, own, p, generator):
    return targets[:0].clone() if targets.numel() > 150 else reference.scheduled_inputs(targets, own, p, generator)


def an_exact_share_of_each_sentence(targets, own, p, generator):
    order = torch.rand(targets.shape, generator=generator).argsort(-1).argsort(-1)
    return torch.where(order < round(p * targets.shape[1]), targets, own)


def an_exact_share_of_each_place(targets, own, p, generator):
    order = torch.rand(targets.shape, generator=generator).argsort(0).argsort(0)
    return torch.where(order < round(p * targets.shape[0]), targets, own)


def its_own_coins(targets, own, p, generator):
    return reference.scheduled_inputs(targets, own, p, torch.Generator().manual_seed(0))


def the_same_coins_again(targets, own, p, generator):
    return reference.scheduled_inputs(targets, own, p, torch.Generator().manual_seed(generator.initial_seed()))


def coins_from_elsewhere(targets, own, p, generator):
    return torch.where(torch.rand(targets.shape) < p, targets, own)


def coins_of_a_hundred_and_one_sides(targets, own, p, generator):
    return torch.where(torch.randint(0, 100, targets.shape, generator=generator) <= 100 * p, targets, own)


def coins_of_ten_sides(targets, own, p, generator):
    return torch.where(torch.randint(0, 10, targets.shape, generator=generator) < round(10 * p), targets, own)


MUTANTS = [
    teacher_always,
    own_always,
    on_the_spot,
    as_floats,
    squared,
    nothing_of_large_tables,
    an_exact_share_of_each_sentence,
    an_exact_share_of_each_place,
    its_own_coins,
    the_same_coins_again,
    coins_from_elsewhere,
    coins_of_a_hundred_and_one_sides,
    coins_of_ten_sides,
]
