"""The pictures of topic 12 draw what they are given, say what they show, and leave nothing open."""

from __future__ import annotations

import matplotlib
import pytest
import torch

from course import show
from course.reference.lora import best_rank_r

pictures = show.lora


def labels(figure) -> str:
    return " ".join(text.get_text() for text in figure.findobj(matplotlib.text.Text))


def thin(rank: int, out: int = 7, in_features: int = 5) -> torch.Tensor:
    chance = torch.Generator().manual_seed(rank)
    return torch.randn(out, rank, generator=chance) @ torch.randn(rank, in_features, generator=chance)


def test_accuracy_against_numbers_trained_names_every_way():
    lora = {1: (1_120, 0.85), 16: (17_920, 0.96)}
    figure = pictures.by_parameters(lora, {"everything": (27_890, 0.97), "BitFit": (810, 0.22)}, 0.09)
    drawn = labels(figure)
    assert all(word in drawn for word in ("r = 1", "r = 16", "everything", "BitFit", "untouched"))
    assert figure.axes[0].get_xscale() == "log"
    assert "LoRA r = 16 96% with 17,920" in figure.get_label() and "untouched model has 9%" in figure.get_label()


def test_an_update_is_drawn_as_the_product_of_its_factors():
    W, B, A = torch.randn(5, 7), torch.eye(5, 2), torch.ones(2, 7)
    figure = pictures.update(W, B.requires_grad_(), A, 3.0)
    added = figure.axes[3].images[0].get_array()
    assert added[0].tolist() == [3.0] * 7 and added[4].tolist() == [0.0] * 7
    assert "5 × 7" in labels(figure) and "rank 2" in figure.get_label()


def test_matrices_of_an_update_stand_apart():
    figure = pictures.update(torch.randn(40, 40), torch.randn(40, 4), torch.randn(4, 40), 1.0)
    figure.draw_without_rendering()
    first, second = (axes.get_position() for axes in figure.axes[:2])
    assert second.x0 - first.x1 > 0.02


def test_spectra_say_how_many_singular_values_matter():
    figure = pictures.spectra({"thin": thin(1), "even": torch.eye(5)})
    assert "thin needs 1 of 5, even needs 5 of 5" in figure.get_label()
    assert [line.get_ydata()[0] for line in figure.axes[0].lines] == [1.0, 1.0]


@pytest.mark.parametrize(("rank", "error"), [(1, "71%"), (2, "0%")])
def test_the_explorer_tells_what_is_missing(rank, error):
    """Two equal singular values: one of them is half of the squares, so the error is the root of a half."""
    two_alike = torch.eye(6, 4) * torch.tensor([1.0, 1, 0, 0])
    controls, _, sentence = pictures.explorer({"two alike": two_alike}, best_rank_r).children
    controls.children[1].value = rank
    assert f"At rank {rank} the error is {error} of its size" in sentence.value
    assert f"{rank * 10} numbers replace 24" in sentence.value


def test_the_explorer_follows_the_function_that_is_given():
    *_, sentence = pictures.explorer({"any": thin(3)}, lambda W, r: (torch.zeros(7, r), torch.zeros(r, 5))).children
    assert "error is 100%" in sentence.value


def test_the_explorer_follows_its_controls():
    explorer = pictures.explorer({"tall": thin(3), "small": thin(2, 4, 3)}, best_rank_r)
    controls, picture, sentence = explorer.children
    matrix, rank = controls.children
    assert [control.description for control in (matrix, rank)] == ["matrix", "rank r"]
    assert bytes(picture.value).startswith(b"\x89PNG") and sentence.value.startswith("tall is 7 × 5. At rank 2")
    before = bytes(picture.value)
    rank.value = 5
    assert bytes(picture.value) != before and "At rank 5 the error is 0%" in sentence.value
    matrix.value = "small"
    assert rank.max == 3 and rank.value == 3 and sentence.value.startswith("small is 4 × 3. At rank 3")
    matrix.value = "tall"
    assert rank.max == 5 and sentence.value.startswith("tall is 7 × 5. At rank 3")
