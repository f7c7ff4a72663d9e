"""Wrong answers to `layer_norm` that no misconception knows by name."""

from __future__ import annotations


def variance_as_a_difference_of_means(x, gamma, beta, eps=1e-5):
    """Two large numbers whose difference is small: in float32 little is left of it."""
    mean = x.mean(-1, keepdim=True)
    return gamma * (x - mean) / (x.square().mean(-1, keepdim=True) - mean.square() + eps).sqrt() + beta


MUTANTS = [variance_as_a_difference_of_means]
