"""Wrong answers to `generate`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import rnn as reference

# -- first attempts ----------------------------------------------------------------------------------------------------


def _sampled(logits, temperature, generator):
    return torch.multinomial(torch.softmax(logits[0] / temperature, dim=-1), 1, generator=generator)


def _write(step, h0, start, length, temperature, generator, *, draw=_sampled, feeds=True, keeps=True):
    """Write text as a beginner. Each attempt gets one line wrong."""
    token, h, written = torch.tensor([start]), h0, []
    for _ in range(length):
        logits, new = step(token if feeds else torch.tensor([start]), h)
        token, h = draw(logits, temperature, generator), new if keeps else h
        written.append(token)
    return torch.cat(written)


def generator_forgotten(*inputs):
    return _write(*inputs, draw=lambda logits, T, _: torch.multinomial(torch.softmax(logits[0] / T, -1), 1))


def a_number_for_a_tensor(step, h0, start, *others):
    return _write(lambda token, h: step(token.item(), h), h0, start, *others)


FIRST_ATTEMPTS = {
    generator_forgotten: "Does every random number come from `generator`?",
    a_number_for_a_tensor: "step takes a LongTensor of shape (1,)",
}

# -- others ------------------------------------------------------------------------------------------------------------


def floats(*inputs):
    return reference.generate(*inputs).float()


def _at(change):
    """Return the right text at another temperature."""

    def write(step, h0, start, length, temperature, generator):
        return reference.generate(step, h0, start, length, change(temperature), generator)

    write.__name__ = change.__name__
    return write


@_at
def square_root_of_the_temperature(temperature):
    return temperature**0.5


@_at
def never_below_one(temperature):
    return max(temperature, 1.0)


def begins_the_generator_anew(*inputs):
    *others, generator = inputs
    return reference.generate(*others, torch.Generator().manual_seed(generator.initial_seed()))


MUTANTS = [floats, square_root_of_the_temperature, never_below_one, begins_the_generator_anew]
