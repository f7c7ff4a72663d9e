"""Wrong answers to `next_token`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.gpt import next_token as right

# -- first attempts ----------------------------------------------------------------------------------------------------


def more_than_there_are(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if top_k is not None:
        logits = logits.masked_fill(logits < logits.topk(top_k).values[:, -1:], -torch.inf)
    return right(logits, temperature, None, top_p, generator)


def top_p_first(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if top_p is not None:
        likeliest, tokens = logits.softmax(-1).sort(-1, descending=True)
        kept = likeliest.masked_fill(likeliest.cumsum(-1) - likeliest >= top_p, 0.0)
        logits = torch.zeros_like(logits).scatter(-1, tokens, kept).log()
    return right(logits, temperature, top_k, None, generator)


def one_row_kept(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    if top_k is not None:
        least = logits.topk(min(top_k, logits.shape[-1])).values[0, -1]
        logits = logits.masked_fill(logits < least, -60.0)
    return right(logits, temperature, None, top_p, generator)


FIRST_ATTEMPTS = {
    more_than_there_are: "more than there are: raised RuntimeError: selected index k out of range",
    top_p_first: "Is top_p told of the temperature?",
    one_row_kept: "Give it two unlike rows at once",
}

# -- others ------------------------------------------------------------------------------------------------------------


def generator_ignored(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    return right(logits, temperature, top_k, top_p, torch.Generator().manual_seed(0))


def zero_is_a_small_temperature(logits, temperature=1.0, top_k=None, top_p=None, generator=None):
    return right(logits, max(temperature, 1e-5), top_k, top_p, generator)


MUTANTS = [generator_ignored, zero_is_a_small_temperature]
