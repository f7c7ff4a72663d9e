"""The advice: all answers are listed once, and comparisons come as the rewards say."""

from __future__ import annotations

import pytest
import torch

from course.data import advice
from course.reference.assistant import best_policy, preference_loss


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


def true_reward_at_a_low_price(n, counts_flattery):
    """Return the true mean reward of the policy that follows a reward model fitted to `n` comparisons."""
    chosen, rejected = advice.comparisons(n, torch.Generator().manual_seed(0))
    table, by_count = (torch.zeros(size, requires_grad=True) for size in ((3, 6), (4,)))
    optimizer = torch.optim.Adam([table, by_count], lr=0.1)

    def modelled(ids):
        flattered = by_count[advice.flattery(ids)] if counts_flattery else 0.0
        return table[torch.arange(3), ids[:, 1:]].sum(1) + flattered

    for _ in range(150):
        optimizer.zero_grad()
        preference_loss(modelled(chosen), modelled(rejected)).backward()
        optimizer.step()
    found = best_policy(advice.log_reference(), modelled(advice.answers()).detach().double(), 0.25)
    return (found.exp() * advice.rewards()).sum().item()


def test_more_comparisons_do_not_mend_a_sum_over_phrases_and_a_count_does():
    """The notebook's model answer says so with these numbers: -2.4, -3.1 and 2.1."""
    few, many = (true_reward_at_a_low_price(n, counts_flattery=False) for n in (3_000, 30_000))
    assert few == pytest.approx(-2.46, abs=0.1) and many == pytest.approx(-3.1, abs=0.1)
    assert true_reward_at_a_low_price(3_000, counts_flattery=True) == pytest.approx(2.11, abs=0.1)
