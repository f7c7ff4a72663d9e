"""Laws about rows laid out as a grid, and about whether an input is reached."""

from __future__ import annotations

import torch

from course.exercise.laws import broken
from course.exercise.script import LawUse


def says(name: str, outputs: dict[str, object], **params: object) -> str:
    return broken(LawUse(name, params), outputs)


DOWN = torch.arange(3.0)[:, None, None].expand(3, 5, 2)
ROWS = torch.cat([torch.full((1, 2), 9.0), DOWN.reshape(15, 2)])


def test_one_row_is_known():
    assert not says("row_is", {"out": ROWS}, row=0, value=torch.full((2,), 9.0))
    assert says("row_is", {"out": ROWS}, row=1, value=torch.full((2,), 9.0), because="no") == "no"
    assert says("row_is", {"out": ROWS}, row=99, value=torch.zeros(2))


def test_a_grid_that_rises_downwards_is_constant_across():
    assert not says("grid_is_constant", {"out": ROWS}, grid=(3, 5), axis=1)
    assert says("grid_is_constant", {"out": ROWS}, grid=(3, 5), axis=0)
    assert not says("grid_rises", {"out": ROWS}, grid=(3, 5), axis=0)
    assert says("grid_rises", {"out": ROWS}, grid=(3, 5), axis=1)
    assert says("grid_rises", {"out": ROWS.neg()}, grid=(3, 5), axis=0)


def test_a_grid_of_another_size_is_no_grid():
    assert says("grid_is_constant", {"out": ROWS}, grid=(5, 5), axis=1)
    assert says("grid_is_constant", {"out": ROWS[1:]}, grid=(3, 5), axis=1)


def test_what_was_given_is_reached_by_any_gradient():
    assert not says("input_is_reached", {"gradients of out": [torch.tensor([0.0, 1.0])]})
    for nothing in ([torch.zeros(2)], [None], [], None):
        assert says("input_is_reached", {"gradients of out": nothing})
