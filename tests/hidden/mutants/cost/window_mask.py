"""Wrong answers to `window_mask`: what a beginner writes first."""

from __future__ import annotations

import torch

from course.reference.cost import window_mask as right


def numbers_for_booleans(T, window, n_global=0, causal=True):
    return right(T, window, n_global, causal).float()


def added_to_scores(T, window, n_global=0, causal=True):
    return torch.zeros(T, T).masked_fill(~right(T, window, n_global, causal), -torch.inf)


def looks_ahead(T, window, n_global=0, causal=True):
    return right(T, window, n_global, causal).T


def global_tokens_forgotten(T, window, n_global=0, causal=True):
    return right(T, window, 0, causal)


def band_of_the_triangles(T, window, n_global=0, causal=True):
    band = torch.ones(T, T, dtype=torch.bool).triu(1 - window)
    band[:n_global] = band[:, :n_global] = True
    return band.tril() if causal else band.tril(window - 1)


FIRST_ATTEMPTS = {
    numbers_for_booleans: "expected the dtype bool, got float32",
    added_to_scores: "expected the dtype bool, got float32",
    looks_ahead: "transposed",
    global_tokens_forgotten: "two global tokens, causal",
    band_of_the_triangles: "your code should raise ValueError",
}
