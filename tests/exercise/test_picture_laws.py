"""Laws about rows laid out as a grid, and about which pixels of an image make a difference."""

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


def test_pixels_are_counted_in_squares():
    gradient = torch.zeros(2, 3, 4, 6)
    gradient[0, 1, 0, 1], gradient[0, 2, 1, 0], gradient[1, 0, 3, 5] = 1.0, 1e-3, 1e-9
    gradient[0, 0, 2, 2] = 1e-7  # too little beside the 1
    found = {"gradients of out": [gradient]}
    assert not says("squares_that_matter", found, side=1, at_least=3, each=1)
    assert not says("squares_that_matter", found, side=2, at_least=2, each=1)
    assert "2 squares of 2 × 2" in says("squares_that_matter", found, side=2, at_least=3)


def test_most_of_the_images_decide_how_many_squares_matter():
    one, two = torch.zeros(1, 1, 4, 4), torch.zeros(1, 1, 4, 4)
    one[0, 0, 0, 0] = two[0, 0, 0, 0] = two[0, 0, 3, 3] = 1.0
    mostly, seldom = torch.cat([two, two, one]), torch.cat([one, one, two])
    assert says("squares_that_matter", {"gradients of out": [mostly]}, side=2, each=1)
    assert not says("squares_that_matter", {"gradients of out": [seldom]}, side=2, each=1)
    assert not says("squares_that_matter", {"gradients of out": [mostly[:2]]}, side=2, each=1)


def test_squares_matter_that_are_looked_at():
    gradient, maps = torch.zeros(2, 3, 4, 4), torch.full((1, 2, 2, 5, 5), 1e-9)
    gradient[:, :, 0, 3], gradient[:, :, 3, 3] = 1.0, 1e-3  # squares 1 and 3; a slope of softmax is no stray
    maps[:, :, 1, 0, 2] = 1.0
    assert not says("felt_where_looked", {"gradients of out": [gradient], "maps": maps}, side=2, to="maps")
    elsewhere = maps.roll(1, -1)
    assert says("felt_where_looked", {"gradients of out": [gradient], "maps": elsewhere}, side=2, to="maps")
    one = torch.cat([maps[:, :1], elsewhere[:, 1:]], dim=1)
    assert not says("felt_where_looked", {"gradients of out": [gradient], "maps": one}, side=2, to="maps")
    itself = 1e-9 * elsewhere  # place 0 has read itself: what is felt is rounding
    assert not says("felt_where_looked", {"gradients of out": [gradient], "maps": itself}, side=2, to="maps")


def test_what_was_given_is_reached_by_any_gradient():
    assert not says("input_is_reached", {"gradients of out": [torch.tensor([0.0, 1.0])]})
    for nothing in ([torch.zeros(2)], [None], [], None):
        assert says("input_is_reached", {"gradients of out": nothing})


def test_no_gradient_matters_nowhere():
    assert says("squares_that_matter", {"gradients of out": None}, side=1)


def test_a_parameter_may_have_a_gradient_of_zero_but_must_have_one():
    assert not says("every_parameter_is_reached", {"gradients of out": {"w": torch.ones(2), "b": torch.zeros(2)}})
    assert "b" in says("every_parameter_is_reached", {"gradients of out": {"w": torch.ones(2), "b": None}})
    assert says("every_parameter_is_reached", {"gradients of out": {}})
