"""Wrong answers to `cbow_logits`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch

# -- first attempts ----------------------------------------------------------------------------------------------------


def bias_forgotten(contexts, E, W, b):
    return E[contexts].mean(dim=1) @ W.T


def softmax_in_the_end(contexts, E, W, b):
    return torch.softmax(E[contexts].mean(dim=1) @ W.T + b, dim=1)


FIRST_ATTEMPTS = {
    bias_forgotten: "too small by `b`",
    softmax_in_the_end: "this is the softmax of the right values",
}

# -- others ------------------------------------------------------------------------------------------------------------


def not_transposed_where_square(contexts, E, W, b):
    return E[contexts].mean(1) @ (W if W.shape[0] == W.shape[1] else W.T) + b


def ends_weigh_less(contexts, E, W, b):
    C = contexts.shape[1]
    weight = torch.tensor([min(c + 1, C - c) for c in range(C)], dtype=E.dtype)
    return torch.einsum("c,bcd->bd", weight / weight.sum(), E[contexts]) @ W.T + b


def E_detached(contexts, E, W, b):
    return E.detach()[contexts].mean(1) @ W.T + b


MUTANTS = [not_transposed_where_square, ends_weigh_less, E_detached]
