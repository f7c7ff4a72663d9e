"""Wrong answers to `sample_text`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import markov_ngrams as reference

# -- first attempts ----------------------------------------------------------------------------------------------------


def never_moves_on(P, start, length, generator):
    return torch.tensor([torch.multinomial(P[start], 1, generator=generator).item() for _ in range(length)])


def generator_forgotten(P, start, length, generator):
    text, current = [], start
    for _ in range(length):
        current = torch.multinomial(P[current], 1).item()
        text.append(current)
    return torch.tensor(text)


def start_among_the_tokens(P, start, length, generator):
    text = [start]
    for _ in range(length):
        text.append(torch.multinomial(P[text[-1]], 1, generator=generator).item())
    return torch.tensor(text)


FIRST_ATTEMPTS = {
    never_moves_on: "Which row of P is used",
    generator_forgotten: "Does every random number come from `generator`?",
    start_among_the_tokens: "without the start",
}

# -- others ------------------------------------------------------------------------------------------------------------


def uniform_over_seen(P, start, length, generator):
    """Draw uniformly from the tokens that were seen after the current one."""
    return reference.sample_text((P > 0) * 1.0, start, length, generator)


def floating_tokens(P, start, length, generator):
    return reference.sample_text(P, start, length, generator).float()


def backwards(P, start, length, generator):
    return reference.sample_text(P, start, length, generator).flip(0)


MUTANTS = [uniform_over_seen, floating_tokens, backwards]
