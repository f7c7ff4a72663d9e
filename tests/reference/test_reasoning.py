"""Topic 21's reference against enumeration: the laws that its formulas promise."""

from __future__ import annotations

import itertools
import math

import pytest
import torch

from course import blocks
from course.data import calculator
from course.reference import reasoning


def test_pass_at_k_is_the_share_of_draws_that_hold_a_right_try():
    for n, c, k in itertools.product(range(1, 7), range(7), range(1, 7)):
        if c <= n and k <= n:
            draws = list(itertools.combinations([True] * c + [False] * (n - c), k))
            assert math.isclose(reasoning.pass_at_k(n, c, k), sum(map(any, draws)) / len(draws))


@pytest.mark.parametrize("scores", [(0.0, 1.0, 2.0), (0.0, 1.0, 1.0), (2.0, 2.0, 2.0)])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_best_of_n_by_all_draws(scores, n):
    p = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64)
    found = torch.zeros(3, dtype=torch.float64)
    for draw in itertools.product(range(3), repeat=n):
        found[max(draw, key=lambda k: scores[k])] += p[list(draw)].prod()  # of equal ones `max` keeps the first
    best = reasoning.best_of_n(p, torch.tensor(scores), n)
    assert torch.allclose(best, found)
    assert float((best * (best / p).log()).sum()) <= math.log(n) - (n - 1) / n + 1e-9


@pytest.mark.parametrize("G", [1, 2, 3])
def test_the_mean_gradient_of_reinforce_is_that_of_the_expected_reward(G):
    logits = torch.tensor([0.3, -0.5, 1.1], dtype=torch.float64, requires_grad=True)
    reward = torch.tensor([1.0, 0.0, 3.0], dtype=torch.float64)
    log_p = logits.log_softmax(0)
    total, mask = torch.zeros(3, dtype=torch.float64), torch.ones(1, G, 1, dtype=torch.bool)
    for draw in itertools.product(range(3), repeat=G):
        some = list(draw)
        loss = reasoning.reinforce_loss(log_p[some].view(1, G, 1), mask, reward[some].view(1, G))
        total += log_p[some].sum().exp().item() * torch.autograd.grad(loss, logits, retain_graph=True)[0]
    (slope,) = torch.autograd.grad((log_p.exp() * reward).sum(), logits)
    assert torch.allclose(total, -slope)


def test_means_of_the_estimates_and_of_their_gradients():
    logit = torch.zeros((), dtype=torch.float64, requires_grad=True)
    log_p = torch.stack([torch.nn.functional.logsigmoid(logit), torch.nn.functional.logsigmoid(-logit)])
    ref = torch.tensor([0.25, 0.75], dtype=torch.float64).log()
    p = log_p.detach().exp()
    for kind, mean, slope in (("k1", 0.144, 0.0), ("k2", 0.161, 0.275), ("k3", 0.144, 0.25)):
        value = (p * reasoning.kl_estimate(log_p, ref, kind)).sum()
        assert value.item() == pytest.approx(mean, abs=1e-3)
        (found,) = torch.autograd.grad(value, logit, retain_graph=True)
        assert found.item() == pytest.approx(slope, abs=1e-3)


def test_the_worked_example_of_the_clipped_loss():
    ratio = torch.tensor([[1.5, 1.5, 0.5, 0.5]], requires_grad=True)
    A, own = torch.tensor([[1.0, -1, 1, -1]]), torch.ones(1, 4, dtype=torch.bool)
    loss = reasoning.clipped_loss(ratio.log(), torch.zeros(1, 4), A, own)
    loss.backward()
    assert loss.item() == pytest.approx(0.15) and (ratio.grad != 0).tolist() == [[False, True, True, False]]


def test_the_worked_example_of_the_advantages():
    rewards, values = torch.tensor([[0.0, 0, 1, 9]]), torch.tensor([[0.5, 0.6, 0.9, 7.0]])
    mask = torch.tensor([[True, True, True, False]])
    for lam, wanted in ((0.0, [0.1, 0.3, 0.1]), (0.5, [0.275, 0.35, 0.1]), (1.0, [0.5, 0.4, 0.1])):
        found = reasoning.discounted_advantages(rewards, values, mask, 1.0, lam)
        assert torch.allclose(found, torch.tensor([[*wanted, 0.0]]))


def test_a_rollout_says_what_a_pass_over_the_whole_text_says():
    model = blocks.GPT(**calculator.SIZES).load_published(calculator.weights()).eval()
    prompts = calculator.prompts(calculator.questions(20, torch.Generator().manual_seed(0)))
    ids, mask, log_p = reasoning.rollout(model, prompts, 24, calculator.END, torch.Generator().manual_seed(1), 0.7)
    with torch.no_grad():
        said = (model(ids[:, :-1])[0] / 0.7).log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0]
    assert torch.allclose(log_p[:, 1:], torch.where(mask[:, 1:], said, 0.0), atol=1e-4)
    assert not log_p.requires_grad and not mask[:, : calculator.LENGTH].any()
