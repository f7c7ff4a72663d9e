"""Wrong answers to `logit_lens`, a beginner's first attempts."""

from __future__ import annotations

from torch.nn import functional as F


def divided_by_the_length(stream, gamma, W_U, eps=1e-6):
    return stream / (stream.norm(dim=-1, keepdim=True) + eps) * gamma @ W_U.T


def not_transposed(stream, gamma, W_U, eps=1e-6):
    return F.rms_norm(stream, gamma.shape, gamma, eps) @ W_U


FIRST_ATTEMPTS = {
    divided_by_the_length: "the values are right up to a factor",
    not_transposed: "shapes cannot be multiplied",
}


def eps_of_torch(stream, gamma, W_U, eps=1e-6):
    return F.rms_norm(stream, gamma.shape, gamma) @ W_U.T


MUTANTS = [eps_of_torch]
