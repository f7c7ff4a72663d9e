"""Wrong answers to `direct_attribution`, a beginner's first attempts."""

from __future__ import annotations


def _scaled(parts, eps):
    return parts * (parts.sum(0).square().mean(-1, keepdim=True) + eps).rsqrt()


def every_token(parts, gamma, W_U, right, wrong=None, eps=1e-6):
    return _scaled(parts, eps) * gamma @ W_U.T


def wrong_is_always_there(parts, gamma, W_U, right, wrong=None, eps=1e-6):
    return (_scaled(parts, eps) * gamma * (W_U[right] - W_U[wrong])).sum(-1)


def length_of_the_sum(parts, gamma, W_U, right, wrong=None, eps=1e-6):
    direction = W_U[right] if wrong is None else W_U[right] - W_U[wrong]
    return (parts / (parts.sum(0).norm(dim=-1, keepdim=True) + eps) * gamma * direction).sum(-1)


FIRST_ATTEMPTS = {
    every_token: "expected the shape (3, 2, 5), got (3, 2, 5, 11)",
    wrong_is_always_there: "one token at each place: raised",
    length_of_the_sum: "every value is 0.378 times what it should be",
}


def one_scale_for_all_places(parts, gamma, W_U, right, wrong=None, eps=1e-6):
    direction = W_U[right] if wrong is None else W_U[right] - W_U[wrong]
    return (parts * (parts.sum(0).square().mean() + eps).rsqrt() * gamma * direction).sum(-1)


MUTANTS = [one_scale_for_all_places]
