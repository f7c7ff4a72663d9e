"""Wrong answers to `cbow_logits` that no misconception knows by name."""

from __future__ import annotations

import torch


def c_first_only(contexts, E, W, b):
    return E[contexts[:, 0]] @ W.T + b


def c_relu(contexts, E, W, b):
    return E[contexts].mean(1).relu() @ W.T + b


def c_mean_pads(contexts, E, W, b):
    """Id 0 taken for padding."""
    real = (contexts != 0).to(E.dtype)[..., None]
    return (E[contexts] * real).sum(1) / contexts.shape[1] @ W.T + b


def pads_masked(contexts, E, W, b):
    real = (contexts != 0).to(E.dtype)[..., None]
    return (E[contexts] * real).sum(1) / real.sum(1).clamp(min=1) @ W.T + b


def divided_by_the_root(contexts, E, W, b):
    return E[contexts].sum(1) / contexts.shape[1] ** 0.5 @ W.T + b


def divided_by_four(contexts, E, W, b):
    return E[contexts].sum(1) / 4 @ W.T + b


def reshaped_by_columns(contexts, E, W, b):
    B, C = contexts.shape
    return E[contexts].reshape(C, B, -1).mean(0) @ W.T + b


def not_transposed_where_square(contexts, E, W, b):
    return E[contexts].mean(1) @ (W if W.shape[0] == W.shape[1] else W.T) + b


def divided_by_the_batch(contexts, E, W, b):
    return E[contexts].sum(1) / len(contexts) @ W.T + b


def mean_over_dimensions(contexts, E, W, b):
    return E[contexts].mean(2) @ W.T[: contexts.shape[1]] + b


def bias_added_for_every_word(contexts, E, W, b):
    return (E[contexts] @ W.T + b).sum(1) / contexts.shape[1] + b


def ends_weigh_less(contexts, E, W, b):
    C = contexts.shape[1]
    weight = torch.tensor([min(c + 1, C - c) for c in range(C)], dtype=E.dtype)
    return torch.einsum("c,bcd->bd", weight / weight.sum(), E[contexts]) @ W.T + b


def log_probabilities(contexts, E, W, b):
    return (E[contexts].mean(1) @ W.T + b).log_softmax(1)


def E_detached(contexts, E, W, b):
    return E.detach()[contexts].mean(1) @ W.T + b


def a_layer_of_its_own(contexts, E, W, b):
    return torch.nn.Linear(E.shape[1], len(E)).to(E.dtype)(E[contexts].mean(1))


MUTANTS = [
    c_first_only,
    c_relu,
    c_mean_pads,
    pads_masked,
    divided_by_the_root,
    divided_by_four,
    reshaped_by_columns,
    not_transposed_where_square,
    divided_by_the_batch,
    mean_over_dimensions,
    bias_added_for_every_word,
    ends_weigh_less,
    log_probabilities,
    E_detached,
    a_layer_of_its_own,
]
