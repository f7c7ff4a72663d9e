"""The typist: neighbours are mutual, rows of emissions sum to one, and slips are as frequent as they should be."""

from __future__ import annotations

import pytest
import torch

from course.data import typist


def test_neighbours_touch():
    assert typist.neighbours("a") == "qswz" and typist.neighbours("p") == "lo" and typist.neighbours(" ") == ""
    for letter in typist.SYMBOLS:
        assert all(letter in typist.neighbours(other) for other in typist.neighbours(letter))


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.5])
def test_emissions_are_probabilities(noise):
    E = typist.emissions(noise)
    torch.testing.assert_close(E.sum(1), torch.ones(27))
    assert E[0, 0] == 1 and E[1, 1] == pytest.approx(1 - noise)


def test_text_there_and_back():
    assert typist.plain("  Don't panic: 42 times!") == "don t panic times"
    assert typist.decode(typist.encode("a zebra")) == "a zebra"


def test_slips_are_as_frequent_as_they_should_be():
    ids = typist.encode("quick brown fox " * 500)
    hit = typist.type_it(ids, 0.2, torch.Generator().manual_seed(0))
    letters = ids > 0
    assert (hit[letters] != ids[letters]).float().mean().item() == pytest.approx(0.2, abs=0.02)
    assert torch.equal(hit[~letters], ids[~letters])
    assert torch.equal(hit, typist.type_it(ids, 0.2, torch.Generator().manual_seed(0)))
