"""Hidden tests of `best_rank_r`, the best approximation of a matrix by two thin factors."""

import torch

from course.exercise import Ref, exercise, given, noncontiguous, stand_in
from course.hidden.lora.scaffold import FLOAT32
from course.reference import lora as reference


def _with_spectrum(rng, out_features, in_features, values):
    """A matrix (out, in) with these singular values, and random directions."""
    k = min(out_features, in_features)
    U = torch.linalg.qr(rng.normal(out_features, k)).Q
    V = torch.linalg.qr(rng.normal(in_features, k)).Q
    spectrum = torch.zeros(k, dtype=torch.float64)
    spectrum[: len(values)] = torch.tensor(values, dtype=torch.float64)
    return (U * spectrum) @ V.T


@exercise(
    reference.best_rank_r,
    hints=(
        "Print the singular values of W. What is left of W if the first r of them stay and the others are zero?",
        "The squared distance of W and B A should be the sum of the squares of the singular values that you dropped. "
        "With r = min(out, in) nothing is dropped. Is your B A then W itself?",
        "Begin with `torch.linalg.svd(W, full_matrices=False)`, and put W together again from all that it returns. It"
        " gives V already transposed. Then ask which columns, numbers and rows belong to the first r terms, and into "
        "which factor the numbers go.",
    ),
    calls=(
        "B, A = best_rank_r(tensor([[3., 0.], [0., 1.]]), 1); B @ A",
        "B, A = best_rank_r(tensor([[3., 0.], [0., 1.]]), 2); B @ A",
        "B, A = best_rank_r(tensor([[1., 0.], [0., 5.]]), 1); B @ A",
        "B, A = best_rank_r(tensor([[2., 2.], [2., 2.]]), 1); B @ A",
        "B, A = best_rank_r(numbers(5, 3), 2); B.shape, A.shape",
        "B, A = best_rank_r(zeros(2, 2), 1); B @ A",
    ),
)
def best_rank_r(rng):
    """B is (out, r) and A is (r, in). Only their product is compared. Singular values lie apart."""

    def split(title, W, r, **settings):
        shapes = {"B_shape": (W.shape[0], r), "A_shape": (r, W.shape[1])}
        case = given(title, multiply=stand_in("product", **shapes), **settings)
        return case.call(W, r, Ref("answer"), on="multiply", into="B A")

    yield split("a tall matrix", _with_spectrum(rng, 7, 3, [9.0, 4.0, 2.0]), 2, public=True)
    yield split("a wide matrix", _with_spectrum(rng, 5, 11, [11.0, 7.0, 4.0, 2.0, 1.0]), 2, public=True, weight=2.0)
    yield split("rank one", _with_spectrum(rng, 5, 7, [5.0, 3.0, 2.0, 1.0, 0.5]), 1)
    yield split("a square matrix", _with_spectrum(rng, 5, 5, [8.0, 5.0, 3.0, 1.5, 0.2]), 3)
    yield split("a matrix of that very rank", _with_spectrum(rng, 11, 7, [6.0, 3.0]), 2)
    yield split("every rank there is", _with_spectrum(rng, 3, 5, [4.0, 2.0, 1.0]), 3, weight=0.5)
    yield split("float32", _with_spectrum(rng, 7, 5, [9.0, 5.0, 2.0, 1.0, 0.3]).float(), 2, tolerance=FLOAT32)
    yield split("not contiguous", noncontiguous(_with_spectrum(rng, 5, 7, [7.0, 4.0, 2.0, 1.0, 0.4])), 2, public=True)


def _parts(W):
    return torch.linalg.svd(W, full_matrices=False)


@best_rank_r.misconception("Give it 10 W. Is your product ten times as large?")
def singular_values_dropped(W, r):
    U, _, V = _parts(W)
    return U[:, :r], V[:r]


@best_rank_r.misconception("Give it 10 W. Is your product ten times as large, or a hundred times?")
def singular_values_twice(W, r):
    U, S, V = _parts(W)
    return U[:, :r] * S[:r], S[:r, None] * V[:r]


@best_rank_r.misconception(
    "Multiply what svd gives you and compare with W. Are the directions in the rows or in the columns of the last one?"
)
def columns_of_V(W, r):
    U, S, Vh = torch.linalg.svd(W)
    return U[:, :r] * S[:r], Vh.T[:r]


@best_rank_r.misconception(
    "Print the eigenvalues of W^T W. In which order do they come, and which of their directions do you keep?"
)
def first_directions_of_eigh(W, r):
    _, vectors = torch.linalg.eigh(W.T @ W)
    return W @ vectors[:, :r], vectors[:, :r].T
