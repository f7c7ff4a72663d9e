"""Wrong answers to `is_permutation_equivariant` that no misconception knows by name."""

from __future__ import annotations

import torch


def ten_times_too_tolerant(fn, x, permutation):
    return torch.allclose(fn(x[:, permutation]), fn(x)[:, permutation], atol=1e-3)


def relatively_close(fn, x, permutation):
    """Beside an output that is nearly zero, no difference is small."""
    return torch.allclose(fn(x[:, permutation]), fn(x)[:, permutation], rtol=1e-4)


def always_yes(fn, x, permutation):
    return True


def always_no(fn, x, permutation):
    return False


def reorders_the_output_only(fn, x, permutation):
    return torch.allclose(fn(x)[:, permutation], fn(x), atol=1e-4)


def permutes_the_batch(fn, x, permutation):
    order = permutation[: len(x)].argsort()
    return torch.allclose(fn(x[order]), fn(x)[order], atol=1e-4)


def permutes_the_features(fn, x, permutation):
    return torch.allclose(fn(x.flip(2)), fn(x).flip(2), atol=1e-4)


def looks_at_one_word(fn, x, permutation):
    return torch.allclose(fn(x[:, permutation])[:, -1], fn(x)[:, permutation[-1]], atol=1e-1)


def looks_at_one_number(fn, x, permutation):
    return bool((fn(x[:, permutation]) - fn(x)[:, permutation]).mean().abs() < 1e-4)


def a_tensor_of_answers(fn, x, permutation):
    return torch.isclose(fn(x[:, permutation]), fn(x)[:, permutation], atol=1e-4)


MUTANTS = [
    ten_times_too_tolerant,
    relatively_close,
    always_yes,
    always_no,
    reorders_the_output_only,
    permutes_the_batch,
    permutes_the_features,
    looks_at_one_word,
    looks_at_one_number,
    a_tensor_of_answers,
]
