"""The advice: all answers are listed once, and comparisons come as the rewards say."""

from __future__ import annotations

import pytest
import torch

from course.data import advice
from course.reference.assistant import best_policy


def test_every_answer_is_listed_once_and_the_reference_is_a_distribution():
    ids = advice.answers()
    assert ids.shape == (216, 4) and len(ids.unique(dim=0)) == 216
    assert len({advice.decode(row) for row in ids}) == 216
    p = advice.log_reference().exp()
    assert p.sum().item() == pytest.approx(1) and (p * advice.rewards()).sum().item() == pytest.approx(0, abs=1e-12)
    assert p[advice.flattery(ids) == 3].tolist() == pytest.approx([0.008])


def test_two_flattering_phrases_please_and_three_do_not():
    reward, flattery = advice.rewards(), advice.flattery(advice.answers())
    assert reward.argmax() in (flattery == 2).nonzero()
    assert reward.argmin() == flattery.argmax()


def test_comparisons_are_won_as_often_as_bradley_and_terry_say():
    chosen, rejected = advice.comparisons(40_000, torch.Generator().manual_seed(0))
    weights = torch.tensor([36, 6, 1])
    reward = advice.rewards()
    better, worse = (reward[(ids[:, 1:] * weights).sum(1)] for ids in (chosen, rejected))
    p = advice.log_reference().exp()
    expected = torch.einsum("i,j,ij->", p, p, torch.sigmoid((reward[:, None] - reward).abs()))
    # Ties in reward are won by chance, and count half.
    share = ((better > worse).double() + 0.5 * (better == worse).double()).mean()
    assert share.item() == pytest.approx(expected.item(), abs=0.01)


def test_one_best_policy_is_far_from_the_beginning():
    log_ref = advice.log_reference()
    best = best_policy(log_ref, advice.rewards(), advice.BETA)
    assert 1.5 < (log_ref.exp() * (log_ref - best)).sum().item() < 3
