"""Wrong answers to `best_rank_r` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.reference import lora as reference


def _svd(W):
    return torch.linalg.svd(W, full_matrices=False)


def best_of_the_symmetric_part(W, r):
    if W.shape[0] != W.shape[1]:
        return reference.best_rank_r(W, r)
    return reference.best_rank_r((W + W.T) / 2, r)


def best_with_roots_on_one_side(W, r):
    U, S, V = _svd(W)
    return U[:, :r] * S[:r].sqrt(), V[:r]


def best_after_centring(W, r):
    return reference.best_rank_r(W - W.mean(0), r)


def best_plus_one(W, r):
    B, A = reference.best_rank_r(W, min(r + 1, *W.shape))
    return B, A


def best_minus_one(W, r):
    B, A = reference.best_rank_r(W, r)
    return B.index_fill(1, torch.tensor([r - 1]), 0.0), A


def best_padded(W, r):
    U, S, V = _svd(W)
    kept = S * (torch.arange(len(S)) < r)
    return U * kept, V


def best_of_rows_by_length(W, r):
    rows = W.norm(dim=1).topk(r).indices
    return F.one_hot(rows, len(W)).T.to(W), W[rows]


def best_with_signs_lost(W, r):
    U, S, V = _svd(W)
    return (U[:, :r] * S[:r]).abs(), V[:r]


def best_scaled_to_length(W, r):
    """As long as W itself, which brings it no nearer."""
    B, A = reference.best_rank_r(W, r)
    return B * (W.norm() / (B @ A).norm()), A


def best_by_orthogonal_columns(W, r):
    Q = torch.linalg.qr(W[:, :r]).Q
    return Q, Q.T @ W


def best_one_step_of_power(W, r):
    generator = torch.Generator().manual_seed(0)
    Q = torch.linalg.qr(W @ torch.randn(W.shape[1], r, generator=generator).to(W)).Q
    return Q, Q.T @ W


def best_always_double(W, r):
    return tuple(part.double() for part in reference.best_rank_r(W, r))


def best_changes_its_matrix(W, r):
    B, A = reference.best_rank_r(W, r)
    W -= B @ A
    return B, A


MUTANTS = [
    best_of_the_symmetric_part,
    best_with_roots_on_one_side,
    best_after_centring,
    best_plus_one,
    best_minus_one,
    best_padded,
    best_of_rows_by_length,
    best_with_signs_lost,
    best_scaled_to_length,
    best_by_orthogonal_columns,
    best_one_step_of_power,
    best_always_double,
    best_changes_its_matrix,
]
