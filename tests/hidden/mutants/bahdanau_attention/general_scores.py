"""Wrong answers to `general_scores`: a beginner's first attempts."""

from __future__ import annotations


def every_query_with_every_key(query, keys, W):
    return query @ W @ keys.transpose(1, 2)


def as_the_formula_is_written(query, keys, W):
    return query @ (W @ keys)


def no_new_axis(query, keys, W):
    return (query @ W * keys).sum(-1)


def W_transposed(query, keys, W):
    return ((query @ W.T)[:, None] * keys).sum(-1)


FIRST_ATTEMPTS = {
    every_query_with_every_key: "Count the axes of your result that count sentences.",
    as_the_formula_is_written: "A key is a row of its sentence.",
    no_new_axis: "Which axes meet, and which one is missing?",
    W_transposed: "the first row of W, or its first column?",
}
