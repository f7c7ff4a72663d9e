"""Right answers to `perplexity` that look nothing like the reference."""

from __future__ import annotations

import math

import numpy as np


def perplexity_in_bits(log_probs):
    bits = -log_probs.mean() / math.log(2)
    return 2 ** bits.item()


def perplexity_by_numpy(log_probs):
    return np.exp(-np.mean(log_probs.detach().numpy(), dtype=np.float64))


ALTERNATIVES = [perplexity_in_bits, perplexity_by_numpy]
