"""Wrong answers to `next_token` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.gpt import next_token as right


def generator_ignored(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    return right(logits, temperature, top_k, top_p, torch.Generator().manual_seed(0))


def temperature_ignored(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    return right(logits, 1.0 if temperature else 0.0, top_k, top_p, generator)


def zero_is_a_small_temperature(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    return right(logits, max(temperature, 1e-5), top_k, top_p, generator)


def kth_logit_of_the_first_row(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if top_k is not None:
        least = logits[0].topk(min(top_k, logits.shape[-1])).values[-1]
        logits = logits.masked_fill(logits < least, -60.0)
    return right(logits, temperature, None, top_p, generator)


def as_many_for_top_p_as_the_first_row(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if top_p is not None and temperature > 0:
        p = (logits[0] / temperature).softmax(-1).sort(descending=True).values
        top_k = min(top_k or len(p), int((p.cumsum(-1) - p < top_p).sum()))
    return right(logits, temperature, top_k, None, generator)


def everything_that_stays_alike(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if top_k is None and top_p is None:
        return right(logits, temperature, None, None, generator)
    kept = torch.stack([right(logits, temperature, top_k, top_p, generator) for _ in range(30)])
    return kept.gather(0, torch.randint(30, (1, len(logits)), generator=generator))[0].clamp(max=1)


def rows_of_the_first(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    return right(logits[:1].expand_as(logits), temperature, top_k, top_p, generator)


MUTANTS = [
    generator_ignored,
    temperature_ignored,
    zero_is_a_small_temperature,
    kth_logit_of_the_first_row,
    as_many_for_top_p_as_the_first_row,
    everything_that_stays_alike,
    rows_of_the_first,
]
