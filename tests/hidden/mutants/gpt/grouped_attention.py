"""Wrong answers to `grouped_attention`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

from course.reference import gpt as reference

# -- first attempts ----------------------------------------------------------------------------------------------------


def masked_with(lowest):
    """An answer that gives forbidden scores this number."""

    def attention(q, k, v, mask=None):
        if q.shape[1] % k.shape[1]:
            raise ValueError("unequal groups")
        k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
        scores = q @ k.mT / q.shape[-1] ** 0.5
        return (scores if mask is None else scores.masked_fill(~mask, lowest)).softmax(-1) @ v

    return attention


FIRST_ATTEMPTS = {
    masked_with(float("-inf")): "A query that may look at nothing has nothing to tell.",
    masked_with(-1e9): "A query that may look at nothing has nothing to tell.",
}

# -- others ------------------------------------------------------------------------------------------------------------


def any_number_of_groups(q, k, v, mask=None):
    share = -(-q.shape[1] // k.shape[1])
    k, v = (x.repeat_interleave(share, 1)[:, : q.shape[1]] for x in (k, v))
    return reference.grouped_attention(q, k, v, mask)


MUTANTS = [any_number_of_groups]
