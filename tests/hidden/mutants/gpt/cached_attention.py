"""Wrong answers to `cached_attention`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

from course.reference.gpt import cached_attention as right

# -- first attempts ----------------------------------------------------------------------------------------------------


def without_a_cache(y, W_q, W_k, W_v, W_o, n_heads, past=None):
    return right(y, W_q, W_k, W_v, W_o, n_heads, past)[0]


FIRST_ATTEMPTS = {without_a_cache: "expected a tuple of 2 results"}

# -- others ------------------------------------------------------------------------------------------------------------


def tokens_detached(y, W_q, W_k, W_v, W_o, n_heads, past=None):
    return right(y.detach(), W_q, W_k, W_v, W_o, n_heads, past)


MUTANTS = [tokens_detached]
