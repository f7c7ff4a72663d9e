"""Wrong answers to `context_windows`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import cbow as reference

# -- first attempts ----------------------------------------------------------------------------------------------------


def _cut(ids, radius, context, before_the_end=0):
    """Return windows with the given `context`, and their centres. Each attempt passes a wrong context."""
    if len(ids) < 2 * radius:
        raise ValueError("too short")
    centres = range(radius, len(ids) - radius - before_the_end)
    return torch.stack([context(t) for t in centres]), torch.stack([ids[t] for t in centres])


def slice_with_its_centre(ids, radius):
    return _cut(ids, radius, lambda t: ids[t - radius : t + radius + 1])


def slice_without_its_end(ids, radius):
    return _cut(ids, radius, lambda t: ids[t - radius : t + radius])


def right_side_short(ids, radius):
    return _cut(ids, radius, lambda t: torch.cat([ids[t - radius : t], ids[t + 1 : t + radius]]))


def last_centre_forgotten(ids, radius):
    return _cut(ids, radius, lambda t: torch.cat([ids[t - radius : t], ids[t + 1 : t + radius + 1]]), 1)


FIRST_ATTEMPTS = {
    slice_with_its_centre: "Can you read the target there?",
    slice_without_its_end: "they hold their own target",
    right_side_short: "on each side of its centre?",
    last_centre_forgotten: "Count the windows",
}

# -- others ------------------------------------------------------------------------------------------------------------


def accepts_short_texts(ids, radius):
    if len(ids) < 2 * radius:
        return ids.new_zeros(0, 2 * radius), ids.new_zeros(0)
    return reference.context_windows(ids, radius)


MUTANTS = [accepts_short_texts]
