"""The games of order: what is said follows from what is heard, the seed decides everything, the stream never ends."""

from __future__ import annotations

import pytest
import torch

from course import data
from course.data import order


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("length", [4, 16, 61])
def test_the_echo_comes_three_places_late(length):
    ids, said = order.draw(50, seeded(), length)
    assert ids.shape == said.shape == (50, length)
    assert torch.equal(said[:, 3:], ids[:, :-3]) and (said[:, :3] == -100).all()


def test_the_other_games():
    ids, backwards = order.draw(50, seeded(), 7, "reverse")
    assert all(row == line[::-1] for row, line in zip(ids.tolist(), backwards.tolist(), strict=True))
    ids, in_order = order.draw(50, seeded(), 7, "sort")
    assert all(sorted(row) == line for row, line in zip(ids.tolist(), in_order.tolist(), strict=True))


def test_letters_are_uniform_whatever_stood_before():
    ids, _ = order.draw(1000, seeded(1), 27)
    # 27,000 letters, 26,000 pairs: five standard deviations of a binomial count either way
    assert (torch.bincount(ids.flatten(), minlength=26) - 27_000 / 26).abs().max() < 5 * (27_000 / 26) ** 0.5
    same = (ids[:, 1:] == ids[:, :-1]).sum()
    assert abs(int(same) - 1000) < 5 * 1000**0.5


def test_what_cannot_be_played_is_refused():
    with pytest.raises(ValueError, match="3 letters has no echo"):
        order.draw(1, seeded(), 3)
    with pytest.raises(ValueError, match="'shuffle'; there are echo, reverse, sort"):
        order.draw(1, seeded(), 8, "shuffle")


def test_load_gives_a_dataset_that_can_be_read():
    rows = data.load("order", rows=3, length=6, seed=5)
    ids, said = order.draw(3, seeded(5), 6)
    assert rows.column_names == ["heard", "said", "ids", "targets"]
    assert rows["ids"][:] == ids.tolist() and rows["targets"][:] == said.tolist()
    heard, echoed = rows[0]["heard"].split(), rows[0]["said"].split()
    assert echoed == ["·"] * 3 + heard[:3]
    assert data.load("order", rows=1, length=4, task="sort")[0]["said"].count("·") == 0
