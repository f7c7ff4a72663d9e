"""Wrong answers to `is_permutation_equivariant` that no misconception knows by name."""

from __future__ import annotations

import torch


def always_no(fn, x, permutation):
    return False


def permutes_the_features(fn, x, permutation):
    return torch.allclose(fn(x.flip(2)), fn(x).flip(2), atol=1e-4)


def mean_of_the_differences(fn, x, permutation):
    return bool((fn(x[:, permutation]) - fn(x)[:, permutation]).abs().mean() < 1e-4)


def reverses_instead(fn, x, permutation):
    return torch.allclose(fn(x.flip(1)), fn(x).flip(1), atol=1e-4)


def compares_the_last_place(fn, x, permutation):
    return torch.allclose(fn(x[:, permutation])[:, -1], fn(x)[:, permutation][:, -1], atol=1e-4)


def a_tensor_of_answers(fn, x, permutation):
    return torch.isclose(fn(x[:, permutation]), fn(x)[:, permutation], atol=1e-4)


MUTANTS = [
    always_no,
    mean_of_the_differences,
    compares_the_last_place,
    reverses_instead,
    permutes_the_features,
    a_tensor_of_answers,
]
