"""Wrong answers to `next_token` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.gpt import next_token as right


def generator_ignored(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    return right(logits, temperature, top_k, top_p, torch.Generator().manual_seed(0))


def top_k_ignored(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    return right(logits, temperature, None, top_p, generator)


def top_p_ignored(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    return right(logits, temperature, top_k, None, generator)


def temperature_ignored(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    return right(logits, 1.0 if temperature else 0.0, top_k, top_p, generator)


def zero_is_a_small_temperature(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    return right(logits, max(temperature, 0.5), top_k, top_p, generator)


def everything_that_stays_alike(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if top_k is None and top_p is None:
        return right(logits, temperature, None, None, generator)
    kept = torch.stack([right(logits, temperature, top_k, top_p, generator) for _ in range(30)])
    return kept.gather(0, torch.randint(30, (1, len(logits)), generator=generator))[0].clamp(max=1)


def rows_of_the_first(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    return right(logits[:1].expand_as(logits), temperature, top_k, top_p, generator)


MUTANTS = [
    generator_ignored,
    top_k_ignored,
    top_p_ignored,
    temperature_ignored,
    zero_is_a_small_temperature,
    everything_that_stays_alike,
    rows_of_the_first,
]
