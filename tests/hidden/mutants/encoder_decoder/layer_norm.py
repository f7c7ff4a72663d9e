"""Wrong answers to `layer_norm` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import encoder_decoder as reference


def deviation_detached(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    return gamma * centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt().detach() + beta


def default_eps_always(x, gamma, beta, eps=1e-5):
    return reference.layer_norm(x, gamma, beta)


def median_for_mean(x, gamma, beta, eps=1e-5):
    centred = x - x.median(-1, keepdim=True).values
    return gamma * centred / (x.var(-1, correction=0, keepdim=True) + eps).sqrt() + beta


def second_moment_for_variance(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(-1, keepdim=True)) / (x.square().mean(-1, keepdim=True) + eps).sqrt() + beta


def centred_in_place(x, gamma, beta, eps=1e-5):
    with torch.no_grad():
        x -= x.mean(-1, keepdim=True)
    return reference.layer_norm(x, gamma, beta, eps)


def doubled(x, gamma, beta, eps=1e-5):
    return reference.layer_norm(x.double(), gamma.double(), beta.double(), eps)


def gamma_and_beta_exchanged(x, gamma, beta, eps=1e-5):
    return reference.layer_norm(x, beta, gamma, eps)


def variance_as_a_difference_of_means(x, gamma, beta, eps=1e-5):
    """Two large numbers whose difference is small: in float32 little is left of it."""
    mean = x.mean(-1, keepdim=True)
    return gamma * (x - mean) / (x.square().mean(-1, keepdim=True) - mean.square() + eps).sqrt() + beta


MUTANTS = [
    deviation_detached,
    default_eps_always,
    median_for_mean,
    second_moment_for_variance,
    centred_in_place,
    doubled,
    gamma_and_beta_exchanged,
    variance_as_a_difference_of_means,
]
