"""Wrong answers to `sample_text` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import markov_ngrams as reference


def uniform_over_seen(P, start, length, generator):
    """n_uniform."""
    return reference.sample_text((P > 0) * 1.0, start, length, generator)


def sharpened(P, start, length, generator):
    return reference.sample_text(P**2, start, length, generator)


def flattened(P, start, length, generator):
    return reference.sample_text(P**0.5, start, length, generator)


def mixed_with_uniform(P, start, length, generator):
    return reference.sample_text(0.8 * P + 0.2 / len(P), start, length, generator)


def every_second_draw_forgotten(P, start, length, generator):
    text = []
    for t in range(length):
        drawn = int(torch.multinomial(P[start], 1, generator=generator))
        text.append(drawn)
        start = drawn if t % 2 == 0 else start
    return torch.tensor(text)


def one_too_many(P, start, length, generator):
    return reference.sample_text(P, start, length + 1, generator)


def floating_tokens(P, start, length, generator):
    return reference.sample_text(P, start, length, generator).float()


def backwards(P, start, length, generator):
    return reference.sample_text(P, start, length, generator).flip(0)


def global_generator(P, start, length, generator):
    return reference.sample_text(P, start, length, torch.default_generator)


MUTANTS = [
    uniform_over_seen,
    sharpened,
    flattened,
    mixed_with_uniform,
    every_second_draw_forgotten,
    one_too_many,
    floating_tokens,
    backwards,
    global_generator,
]
