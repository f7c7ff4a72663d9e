"""Wrong answers to `generate_text`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.gpt import generate_text as right
from course.reference.gpt import next_token

# -- first attempts ----------------------------------------------------------------------------------------------------


def how_forgotten(model, ids, n, generator, **how):
    return right(model, ids, n, generator)


def temperature_alone(model, ids, n, generator, **how):
    return right(model, ids, n, generator, temperature=how.get("temperature", 1.0))


def one_token_for_all_texts(model, ids, n, generator, **how):
    read, cache, written = ids, None, []
    for _ in range(n):
        logits, cache = model(read, cache)
        read = next_token(logits[:1, -1], generator=generator, **how).expand(len(ids), 1)
        written.append(read)
    return torch.cat(written, 1)


FIRST_ATTEMPTS = {
    how_forgotten: "What becomes of `how`?",
    temperature_alone: "Call it with top_k=1, twice with different generators.",
    one_token_for_all_texts: "Let two unlike texts go on",
}

# -- others ------------------------------------------------------------------------------------------------------------


def throws_of_its_own(model, ids, n, generator, **how):
    return right(model, ids, n, torch.Generator().manual_seed(0), **how)


def top_p_is_not_handed_on(model, ids, n, generator, top_p=None, **how):
    return right(model, ids, n, generator, **how)


MUTANTS = [throws_of_its_own, top_p_is_not_handed_on]
