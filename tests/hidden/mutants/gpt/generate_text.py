"""Wrong answers to `generate_text` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.gpt import generate_text as right


def throws_of_its_own(model, ids, n, generator, **how):
    return right(model, ids, n, torch.Generator().manual_seed(0), **how)


def top_p_is_not_handed_on(model, ids, n, generator, top_p=None, **how):
    return right(model, ids, n, generator, **how)


MUTANTS = [throws_of_its_own, top_p_is_not_handed_on]
