"""Wrong answers to `perplexity`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch

# -- first attempts ----------------------------------------------------------------------------------------------------


def without_the_exponential(log_probs):
    return -log_probs.mean().item()


def one_for_each_token(log_probs):
    return torch.exp(-log_probs)


FIRST_ATTEMPTS = {
    without_the_exponential: "which is the logarithm of the right one",
    one_for_each_token: "expected a number, got a tensor of shape (7,)",
}

# -- others ------------------------------------------------------------------------------------------------------------


def impossible_left_out(log_probs):
    return float(torch.exp(-log_probs[torch.isfinite(log_probs)].mean()))


MUTANTS = [impossible_left_out]
