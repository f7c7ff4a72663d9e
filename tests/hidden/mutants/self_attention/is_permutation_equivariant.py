"""Wrong answers to `is_permutation_equivariant`: a beginner's first attempts, and others without a name."""

from __future__ import annotations

import torch


def always_no(fn, x, permutation):
    return False


def mean_of_the_differences(fn, x, permutation):
    return bool((fn(x[:, permutation]) - fn(x)[:, permutation]).abs().mean() < 1e-4)


def reverses_instead(fn, x, permutation):
    return torch.allclose(fn(x.flip(1)), fn(x).flip(1), atol=1e-4)


def compares_the_last_place(fn, x, permutation):
    return torch.allclose(fn(x[:, permutation])[:, -1], fn(x)[:, permutation][:, -1], atol=1e-4)


def compares_the_first_sentence(fn, x, permutation):
    return torch.allclose(fn(x[:, permutation])[0], fn(x)[0, permutation], atol=1e-4)


def undone_before_it_was_asked(fn, x, permutation):
    return torch.allclose(fn(x[:, permutation][:, permutation.argsort()]), fn(x), atol=1e-4)


MUTANTS = [
    always_no,
    mean_of_the_differences,
    compares_the_last_place,
    reverses_instead,
    compares_the_first_sentence,
    undone_before_it_was_asked,
]
