"""Wrong answers to `dot_scores`: a beginner's first attempts."""

from __future__ import annotations


def axis_left_over(query, keys):
    return keys @ query[:, :, None]


FIRST_ATTEMPTS = {
    axis_left_over: "expected the shape (2, 3), got (2, 3, 1), which holds the right number of values",
}
