"""Wrong answers to `layer_norm` that no misconception knows by name."""

from __future__ import annotations


def variance_as_a_difference_of_means(x, gamma, beta, eps=1e-5):
    """Compute the variance as a difference of two large means, which cancels in float32."""
    mean = x.mean(-1, keepdim=True)
    return gamma * (x - mean) / (x.square().mean(-1, keepdim=True) - mean.square() + eps).sqrt() + beta


MUTANTS = [variance_as_a_difference_of_means]
