"""Wrong answers to `perplexity`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import math

import torch

# -- first attempts ----------------------------------------------------------------------------------------------------


def without_the_minus(log_probs):
    return torch.exp(log_probs.mean()).item()


def without_the_exponential(log_probs):
    return -log_probs.mean().item()


def logarithm_once_more(log_probs):
    return torch.exp(-torch.log(log_probs).mean()).item()


def base_two(log_probs):
    return 2 ** -log_probs.mean().item()


def sum_for_mean(log_probs):
    return torch.exp(-log_probs.sum()).item()


def one_for_each_token(log_probs):
    return torch.exp(-log_probs)


def exponential_first(log_probs):
    return torch.exp(-log_probs).sum().item() / len(log_probs)


FIRST_ATTEMPTS = {
    without_the_minus: "Look at the sign",
    without_the_exponential: "which is the logarithm of the right one",
    logarithm_once_more: "already their logarithms?",
    base_two: "Which base takes you back?",
    sum_for_mean: "the same text twice",
    one_for_each_token: "expected a number, got a tensor of shape (7,)",
    exponential_first: "the mean or the exponential?",
}

# -- others ------------------------------------------------------------------------------------------------------------


def logarithm_to_base_two(log_probs):
    """Return exp of a mean that is taken in bits."""
    return float(torch.exp(-(log_probs / math.log(2)).mean()))


def last_token_not_counted(log_probs):
    """Divide the sum over all tokens by their number less one."""
    return float(torch.exp(-log_probs.sum() / max(len(log_probs) - 1, 1)))


def impossible_left_out(log_probs):
    return float(torch.exp(-log_probs[torch.isfinite(log_probs)].mean()))


def an_epsilon_for_safety(log_probs):
    """Hide log(0) behind a small epsilon."""
    return float(torch.exp(-(log_probs.exp() + 1e-10).log().mean()))


def rounded(log_probs):
    return round(float(torch.exp(-log_probs.mean())), 2)


MUTANTS = [logarithm_to_base_two, last_token_not_counted, impossible_left_out, an_epsilon_for_safety, rounded]
