"""Wrong answers to `dot_scores`: a beginner's first attempts."""

from __future__ import annotations


def no_new_axis(query, keys):
    return (query * keys).sum(-1)


def every_query_with_every_key(query, keys):
    return query @ keys.transpose(1, 2)


def every_key_with_every_query(query, keys):
    return keys @ query.T


def all_axes_turned(query, keys):
    return query @ keys.T


def summed_over_the_keys(query, keys):
    return (query[:, None] * keys).sum(1)


def axis_left_over(query, keys):
    return keys @ query[:, :, None]


FIRST_ATTEMPTS = {
    no_new_axis: "Which axes meet, and which one is missing?",
    every_query_with_every_key: "Count the axes of your result that count sentences.",
    every_key_with_every_query: "Count the axes of your result that count sentences.",
    all_axes_turned: "Print the shapes of keys and of keys.T.",
    summed_over_the_keys: "Which axis has to disappear in the sum?",
    axis_left_over: "expected the shape (2, 3), got (2, 3, 1), which holds the right number of values",
}
