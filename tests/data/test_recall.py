"""The recall puzzle: every list has an answer, the seed decides everything, and both layouts hold the same list."""

from __future__ import annotations

import pytest
import torch

from course import blocks, data
from course.data import recall


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("slots", [1, 2, 8, 26])
def test_the_answer_is_the_value_beside_the_query(slots):
    keys, values, query, answer = recall.draw(300, seeded(), slots)
    assert keys.shape == values.shape == (300, slots) and query.shape == answer.shape == (300,)
    found = keys == query[:, None]
    assert (found.sum(1) == 1).all(), "the query stands in its list exactly once"
    assert torch.equal(values[found], answer)
    assert all(len(set(row.tolist())) == slots for row in keys)


def test_every_key_value_and_place_is_used_equally():
    keys, _, query, answer = recall.draw(26_000, seeded(3))
    # 26,000 lists: 1,000 queries a letter, 2,600 answers a digit, 3,250 a place; five standard deviations either way.
    assert (torch.bincount(query, minlength=26) - 1000).abs().max() < 5 * 1000**0.5
    assert (torch.bincount(answer, minlength=10) - 2600).abs().max() < 5 * 2600**0.5
    places = (keys == query[:, None]).int().argmax(1)
    assert (torch.bincount(places, minlength=8) - 3250).abs().max() < 5 * 3250**0.5


@pytest.mark.parametrize("slots", [0, 27])
def test_impossible_lists_are_refused(slots):
    with pytest.raises(ValueError, match=f"{slots} were asked for"):
        recall.draw(1, seeded(), slots)


def test_a_list_can_be_read():
    assert recall.text(torch.tensor([10, 0]), torch.tensor([4, 7]), torch.tensor(0)) == "k4 a7 a?"


def test_load_gives_a_dataset():
    rows = data.load("recall", rows=7, slots=3, seed=5)
    keys, values, query, answer = recall.draw(7, seeded(5), 3)
    assert rows.column_names == ["text", "keys", "values", "query", "answer"]
    assert rows["keys"][:] == keys.tolist() and rows["values"][:] == values.tolist()
    assert rows["query"][:] == query.tolist() and rows["answer"][:] == answer.tolist()
    assert rows[0]["text"].endswith("?")


def test_both_layouts_end_in_the_query():
    keys, values, query, _ = recall.draw(4, seeded())
    pairs, flat = blocks.PairSlots(6), blocks.FlatSlots(6)
    x = pairs(keys, values, query)
    assert x.shape == (4, 9, 6)
    torch.testing.assert_close(x[:, 2], pairs.keys(keys[:, 2]) + pairs.values(values[:, 2]))
    torch.testing.assert_close(x[:, -1], pairs.keys(query))
    y = flat(keys, values, query)
    assert y.shape == (4, 17, 6)
    torch.testing.assert_close(y[:, 4], flat.keys(keys[:, 2]))
    torch.testing.assert_close(y[:, 5], flat.values(values[:, 2]))
    torch.testing.assert_close(y[:, -1], flat.keys(query))


def test_the_layouts_fit_the_puzzle():
    from course.blocks.recall import N_KEYS, N_VALUES

    assert len(recall.KEYS) == N_KEYS and len(recall.VALUES) == N_VALUES
