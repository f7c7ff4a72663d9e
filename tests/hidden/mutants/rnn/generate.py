"""Wrong answers to `generate` that no misconception knows by name."""

from __future__ import annotations

import math

import torch

from course.reference import rnn as reference


def reads_the_start_twice(step, h0, start, length, temperature, generator):
    _, h = step(torch.tensor([start]), h0)
    return reference.generate(step, h, start, length, temperature, generator)


def one_too_many(step, h0, start, length, temperature, generator):
    return reference.generate(step, h0, start, length + 1, temperature, generator)


def a_list(step, h0, start, length, temperature, generator):
    return reference.generate(step, h0, start, length, temperature, generator).tolist()


def a_column(step, h0, start, length, temperature, generator):
    return reference.generate(step, h0, start, length, temperature, generator)[:, None]


def floats(step, h0, start, length, temperature, generator):
    return reference.generate(step, h0, start, length, temperature, generator).float()


def square_root_of_the_temperature(step, h0, start, length, temperature, generator):
    return reference.generate(step, h0, start, length, temperature**0.5, generator)


def never_below_one(step, h0, start, length, temperature, generator):
    return reference.generate(step, h0, start, length, max(temperature, 1.0), generator)


def greedy_below_one(step, h0, start, length, temperature, generator):
    return reference.generate(step, h0, start, length, temperature if temperature >= 1 else 1e-3, generator)


def only_the_likeliest_three(step, h0, start, length, temperature, generator):
    def narrow(token, h):
        logits, h = step(token, h)
        return logits.masked_fill(logits < logits.topk(3).values[..., -1:], -math.inf), h

    return reference.generate(narrow, h0, start, length, temperature, generator)


def only_what_makes_up_95_percent(step, h0, start, length, temperature, generator):
    """Nucleus sampling."""

    def narrow(token, h):
        logits, h = step(token, h)
        p, order = torch.softmax(logits / temperature, -1).sort(descending=True)
        rare = torch.zeros_like(logits).bool().scatter(-1, order, p.cumsum(-1) - p >= 0.95)
        return logits.masked_fill(rare, -math.inf), h

    return reference.generate(narrow, h0, start, length, temperature, generator)


def its_own_seed(step, h0, start, length, temperature, generator):
    return reference.generate(step, h0, start, length, temperature, torch.Generator().manual_seed(0))


def begins_the_generator_anew(*inputs):
    *others, generator = inputs
    return reference.generate(*others, torch.Generator().manual_seed(generator.initial_seed()))


def another_source_of_chance(step, h, start, length, temperature, generator):
    written = [torch.tensor([start])]
    for _ in range(length):
        logits, h = step(written[-1], h)
        written.append(torch.multinomial(torch.softmax(logits / temperature, -1), 1)[0])
    return torch.cat(written[1:])


MUTANTS = [
    reads_the_start_twice,
    one_too_many,
    a_list,
    a_column,
    floats,
    square_root_of_the_temperature,
    never_below_one,
    greedy_below_one,
    only_the_likeliest_three,
    only_what_makes_up_95_percent,
    its_own_seed,
    begins_the_generator_anew,
    another_source_of_chance,
]
