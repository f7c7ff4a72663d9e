"""Wrong answers to `feed_forward` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.reference import encoder_decoder as reference


def tanh_for_relu(x, W1, b1, W2, b2):
    return torch.tanh(x @ W1.T + b1) @ W2.T + b2


def leaky(x, W1, b1, W2, b2):
    return F.leaky_relu(x @ W1.T + b1) @ W2.T + b2


def inside_detached(x, W1, b1, W2, b2):
    return (x @ W1.T + b1).relu().detach() @ W2.T + b2


def words_pooled(x, W1, b1, W2, b2):
    pooled = x.mean(-2, keepdim=True).expand_as(x) if x.dim() > 1 else x
    return reference.feed_forward(pooled + 0 * x, W1, b1, W2, b2)


def first_bias_lost(x, W1, b1, W2, b2):
    return reference.feed_forward(x, W1, 0 * b1, W2, b2)


MUTANTS = [tanh_for_relu, leaky, inside_detached, words_pooled, first_bias_lost]
