"""The playground: everybody's friend and rival are there, the seed decides everything, the slots hold what is drawn."""

from __future__ import annotations

import pytest
import torch

from course import blocks, data
from course.data import relations


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("children", [3, 8, 26])
def test_the_answers_are_the_numbers_of_friend_and_rival(children):
    names, numbers, friends, rivals, answers = relations.draw(200, seeded(), children)
    assert names.shape == numbers.shape == friends.shape == rivals.shape == (200, children)
    assert answers.shape == (200, children, 2)
    assert all(len(set(row.tolist())) == children for row in names)
    for whom, answer in zip((friends, rivals), answers.unbind(-1), strict=True):
        found = names[:, None] == whom[..., None]
        assert (found.sum(-1) == 1).all(), "everybody who is named is there, once"
        assert torch.equal((found * numbers[:, None]).sum(-1), answer)
        assert (whom != names).all(), "nobody is their own friend or rival"
    assert (friends != rivals).all()


def test_everybody_is_chosen_equally():
    names, numbers, friends, rivals, _ = relations.draw(4000, seeded(3))
    # 32,000 children: 3,200 a number, 1,231 a name; five standard deviations either way.
    assert (torch.bincount(numbers.flatten(), minlength=10) - 3200).abs().max() < 5 * 3200**0.5
    for whom in (friends, rivals):
        assert (torch.bincount(whom.flatten(), minlength=26) - 32000 / 26).abs().max() < 5 * (32000 / 26) ** 0.5
        places = (names[:, None] == whom[..., None]).int().argmax(-1)  # (4000, 8)
        for child in range(8):
            chosen = torch.bincount(places[:, child], minlength=8)
            assert chosen[child] == 0
            assert (chosen - 4000 / 7).abs()[torch.arange(8) != child].max() < 5 * (4000 / 7) ** 0.5


def test_one_relation_says_nothing_about_the_other():
    """A child is friend of some and rival of others: who it is does not tell which number is asked for."""
    *_, answers = relations.draw(4000, seeded(4))
    same = (answers[..., 0] == answers[..., 1]).float().mean().item()
    assert same == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize("children", [2, 27])
def test_impossible_playgrounds_are_refused(children):
    with pytest.raises(ValueError, match=f"{children} were asked for"):
        relations.draw(1, seeded(), children)


def test_a_playground_can_be_read():
    columns = (torch.tensor(column) for column in ([10, 0, 16], [4, 7, 0], [0, 16, 10], [16, 10, 0]))
    assert relations.text(*columns) == "k4 (friend a, rival q)   a7 (friend q, rival k)   q0 (friend k, rival a)"


def test_load_gives_a_dataset():
    rows = data.load("relations", rows=7, children=5, seed=5)
    drawn = relations.draw(7, seeded(5), 5)
    assert rows.column_names == ["text", "names", "numbers", "friends", "rivals", "answers"]
    for name, column in zip(rows.column_names[1:], drawn, strict=True):
        assert rows[name][:] == column.tolist()


def test_the_slots_hold_what_is_drawn_in_any_order():
    *columns, _ = relations.draw(4, seeded())
    slots = blocks.ChildSlots(6)
    x = slots(*columns)
    assert x.shape == (4, 8, 6)
    one = sum(
        table(column[:, 2])
        for table, column in zip((slots.names, slots.numbers, slots.friends, slots.rivals), columns, strict=True)
    )
    torch.testing.assert_close(x[:, 2], one)
    torch.testing.assert_close(slots(*(column.flip(1) for column in columns)), x.flip(1))


def test_the_slots_fit_the_playground():
    from course.blocks.relations import N_NAMES, N_NUMBERS

    assert len(relations.NAMES) == N_NAMES and len(relations.NUMBERS) == N_NUMBERS
