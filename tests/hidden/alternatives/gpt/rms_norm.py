"""Right answers to `rms_norm` that look nothing like the reference."""

from __future__ import annotations

import torch


def by_the_norm(x, gamma, eps=1e-6):
    D = x.shape[-1]
    squares = torch.linalg.vector_norm(x, dim=-1, keepdim=True) ** 2
    return x * gamma / torch.sqrt(squares / D + eps)


def token_by_token(x, gamma, eps=1e-6):
    tokens = [token * ((token @ token) / len(token) + eps) ** -0.5 for token in x.reshape(-1, x.shape[-1])]
    return torch.stack(tokens).reshape(x.shape) * gamma


def by_einsum(x, gamma, eps=1e-6):
    mean_square = torch.einsum("...d,...d->...", x, x) / x.size(-1)
    return torch.einsum("...d,...,d->...d", x, torch.rsqrt(mean_square + eps), gamma)


ALTERNATIVES = [by_the_norm, token_by_token, by_einsum]
