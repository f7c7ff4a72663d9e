"""Wrong answers to `next_token` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.gpt import next_token as right


def generator_ignored(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    return right(logits, temperature, top_k, top_p, torch.Generator().manual_seed(0))


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


MUTANTS = [
    generator_ignored,
    zero_is_a_small_temperature,
    kth_logit_of_the_first_row,
    as_many_for_top_p_as_the_first_row,
]
