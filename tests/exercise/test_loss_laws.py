"""Laws for losses against a known floor, and for neighbours of a kind."""

from __future__ import annotations

import math

import torch

from course.exercise.laws import broken
from course.exercise.script import LawUse


def says(name: str, value: torch.Tensor, **params: object) -> str:
    return broken(LawUse(name, params), {"out": value})


P = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
TARGETS = torch.multinomial(P, 500, replacement=True, generator=torch.Generator().manual_seed(0))
TRUE = P.log().expand(500, -1)
FLOOR = -P.log()[TARGETS]


def test_the_truth_is_at_the_floor_and_nobody_better():
    assert not says("log_loss_at_most", TRUE, targets=TARGETS, known=FLOOR, margin=0.001)
    assert not says("log_loss_at_most", TRUE + 5.0, targets=TARGETS, known=FLOOR, margin=0.001)
    assert not says("no_better_than", TRUE, targets=TARGETS, best=FLOOR)


def test_a_worse_guess_is_above_it():
    uniform = torch.zeros(500, 3)
    assert "at most" in says("log_loss_at_most", uniform, targets=TARGETS, known=FLOOR, margin=0.01)
    assert not says("log_loss_at_most", uniform, targets=TARGETS, known=FLOOR, margin=0.2)
    assert not says("no_better_than", uniform, targets=TARGETS, best=FLOOR)
    assert not says("log_loss_at_least", uniform, targets=TARGETS, known=FLOOR, margin=0.0)


def test_a_leak_is_seen():
    knows = 3.0 * torch.nn.functional.one_hot(TARGETS, 3).double()
    assert "leak" in says("no_better_than", knows, targets=TARGETS, best=FLOOR)
    assert "at least" in says("log_loss_at_least", knows, targets=TARGETS, known=FLOOR, margin=-0.1)


def test_nan_is_called_so_and_infinity_an_infinite_loss():
    wrong = TRUE.clone()
    wrong[7] = math.nan
    assert "scores are NaN" in says("log_loss_at_most", wrong, targets=TARGETS, known=FLOOR, margin=1.0)
    wrong[7] = math.inf
    assert "inf" in says("log_loss_at_most", wrong, targets=TARGETS, known=FLOOR, margin=1.0)


def test_huge_scores_that_are_all_the_same_say_nothing():
    huge = torch.full((500, 3), 2.0**57, dtype=torch.float64)
    nothing = torch.full((500,), math.log(3))
    assert "1.099" in says("log_loss_at_most", huge, targets=TARGETS, known=nothing, margin=-0.01)
    assert not says("log_loss_at_most", huge, targets=TARGETS, known=nothing, margin=1e-6)


def test_probabilities_are_no_scores():
    assert "softmax" in says("no_probabilities", TRUE.exp())
    assert not says("no_probabilities", TRUE)
    assert not says("no_probabilities", TRUE.exp() + 1)


def test_neighbours_of_a_kind():
    kinds = torch.tensor([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1]]).bool()
    rows = torch.arange(6)
    E = kinds.double() * torch.arange(1.0, 7.0)[:, None].double()
    assert not says("neighbours_alike", E, kinds=kinds, rows=rows, k=2, bar=1.0)
    assert "50%" in says("neighbours_alike", E, kinds=kinds, rows=rows, k=4, bar=0.9)
    assert "(2, 6)" in says("neighbours_alike", E.T, kinds=kinds, rows=rows, k=2, bar=1.0)
