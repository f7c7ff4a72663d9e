"""Right answers to `layer_norm` that look nothing like the reference."""

from __future__ import annotations

import torch


def norm_by_std(x, gamma, beta, eps=1e-5):
    deviation = torch.sqrt(torch.var(x, dim=-1, unbiased=False, keepdim=True) + eps)
    return (x - torch.mean(x, dim=-1, keepdim=True)) / deviation * gamma + beta


def norm_word_by_word(x, gamma, beta, eps=1e-5):
    words = [(w - w.mean()) / ((w - w.mean()).pow(2).mean() + eps) ** 0.5 for w in x.reshape(-1, x.shape[-1])]
    return torch.stack(words).reshape(x.shape) * gamma + beta


ALTERNATIVES = [norm_by_std, norm_word_by_word]
