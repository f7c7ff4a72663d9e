"""Wrong answers to `scheduled_inputs`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import rnn as reference

# -- first attempts ----------------------------------------------------------------------------------------------------


def one_coin_for_all(targets, own, p, generator):
    return targets if torch.rand(1, generator=generator).item() < p else own


def generator_forgotten(targets, own, p, generator):
    return torch.where(torch.rand(targets.shape) < p, targets, own)


def written_into_the_models_tokens(targets, own, p, generator):
    coins = torch.rand(targets.shape, generator=generator) < p
    own[coins] = targets[coins]
    return own


FIRST_ATTEMPTS = {
    one_coin_for_all: "How many coins do you toss for the whole batch?",
    generator_forgotten: "Does every random number come from `generator`?",
    written_into_the_models_tokens: "your code changed the input `own`",
}

# -- others ------------------------------------------------------------------------------------------------------------


def as_floats(*inputs):
    return reference.scheduled_inputs(*inputs).float()


def nothing_of_large_tables(targets, *others):
    return targets[:0].clone() if targets.numel() > 150 else reference.scheduled_inputs(targets, *others)


def an_exact_share_of_each_sentence(targets, own, p, generator):
    order = torch.rand(targets.shape, generator=generator).argsort(-1).argsort(-1)
    return torch.where(order < round(p * targets.shape[1]), targets, own)


def an_exact_share_of_each_place(targets, own, p, generator):
    order = torch.rand(targets.shape, generator=generator).argsort(0).argsort(0)
    return torch.where(order < round(p * targets.shape[0]), targets, own)


def the_same_coins_again(targets, own, p, generator):
    return reference.scheduled_inputs(targets, own, p, torch.Generator().manual_seed(generator.initial_seed()))


def coins_of_a_hundred_and_one_sides(targets, own, p, generator):
    return torch.where(torch.randint(0, 100, targets.shape, generator=generator) <= 100 * p, targets, own)


def coins_of_ten_sides(targets, own, p, generator):
    return torch.where(torch.randint(0, 10, targets.shape, generator=generator) < round(10 * p), targets, own)


MUTANTS = [
    as_floats,
    nothing_of_large_tables,
    an_exact_share_of_each_sentence,
    an_exact_share_of_each_place,
    the_same_coins_again,
    coins_of_a_hundred_and_one_sides,
    coins_of_ten_sides,
]
