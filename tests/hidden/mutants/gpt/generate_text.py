"""Wrong answers to `generate_text` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.gpt import generate_text as right
from course.reference.gpt import next_token


def first_text_alone(model, ids, n, generator, **how):
    return right(model, ids[:1], n, generator, **how).expand(len(ids), n)


def prompt_token_by_token(model, ids, n, generator, **how):
    cache = None
    for token in ids.split(1, dim=1):
        logits, cache = model(token, cache)
    written = []
    for t in range(n):
        written.append(next_token(logits[:, -1], generator=generator, **how)[:, None])
        if t + 1 < n:
            logits, cache = model(written[-1], cache)
    return torch.cat(written, 1)


def last_token_alone(model, ids, n, generator, **how):
    return right(model, ids[:, -1:], n, generator, **how)


def throws_of_its_own(model, ids, n, generator, **how):
    return right(model, ids, n, torch.Generator().manual_seed(0), **how)


def top_p_is_not_handed_on(model, ids, n, generator, top_p=None, **how):
    return right(model, ids, n, generator, **how)


def one_too_few(model, ids, n, generator, **how):
    return right(model, ids, max(n - 1, 1), generator, **how)


def a_list_of_columns(model, ids, n, generator, **how):
    return list(right(model, ids, n, generator, **how).unbind(1))


MUTANTS = [
    first_text_alone,
    prompt_token_by_token,
    last_token_alone,
    throws_of_its_own,
    top_p_is_not_handed_on,
    one_too_few,
    a_list_of_columns,
]
