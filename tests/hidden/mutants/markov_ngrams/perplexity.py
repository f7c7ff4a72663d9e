"""Wrong answers to `perplexity`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import math

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


def logarithm_to_base_two(log_probs):
    """n_ppl_log2: exp of a mean taken in bits."""
    return float(torch.exp(-(log_probs / math.log(2)).mean()))


def last_token_not_counted(log_probs):
    """n_ppl_noeoscount: the sum over all, divided by all but one."""
    return float(torch.exp(-log_probs.sum() / max(len(log_probs) - 1, 1)))


def impossible_left_out(log_probs):
    return float(torch.exp(-log_probs[torch.isfinite(log_probs)].mean()))


def an_epsilon_for_safety(log_probs):
    """log(0) made silently finite."""
    return float(torch.exp(-(log_probs.exp() + 1e-10).log().mean()))


def rounded(log_probs):
    return round(float(torch.exp(-log_probs.mean())), 2)


MUTANTS = [logarithm_to_base_two, last_token_not_counted, impossible_left_out, an_epsilon_for_safety, rounded]
