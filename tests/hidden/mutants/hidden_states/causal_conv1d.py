"""Wrong answers to `causal_conv1d` that no misconception knows by name."""

from __future__ import annotations

from course.reference.hidden_states import causal_conv1d


def dilation_of_two_for_all(x, W, b, dilation=1):
    return causal_conv1d(x, W, b, min(dilation, 2))


MUTANTS = [dilation_of_two_for_all]
