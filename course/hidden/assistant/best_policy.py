"""Hidden tests of `best_policy`: reference times exp(reward / beta), normalised, in logarithms."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import assistant as reference

SMALL = "seven answers"


@exercise(
    reference.best_policy,
    hints=(
        "Take p_ref = (0.5, 0.5), rewards (0, 1) and beta = 1. The weights are 0.5 and 0.5 e. What are the "
        "probabilities?",
        "Let beta be enormous. Which policy should come out? And for a tiny beta?",
        "Begin with the logarithm of one answer's weight, where the product has become a sum. What must you subtract "
        "from all of them, so that their exponentials add up to 1?",
    ),
    calls=(
        "best_policy(tensor([0.5, 0.5]).log(), tensor([1., 1.]), 1.).exp()",
        "best_policy(tensor([0.5, 0.5]).log(), tensor([0., 100.]), 1.).exp()",
        "best_policy(tensor([0.2, 0.8]).log(), tensor([3., 3.]), 1.).exp()",
        "best_policy(tensor([0.5, 0.5]).log(), tensor([0., 1.]), 0.01).exp()",
        "best_policy(tensor([0.5, 0.5]).log(), tensor([0., 1.]), 0.)",
        "best_policy(tensor([1., 0.]).log(), tensor([0., 100.]), 1.).exp()",
    ),
)
def best_policy(rng):
    """Prices below and above 1, 0 and below; an answer that is never said; rewards of hundreds; equal rewards."""

    def asked(N, beta, dtype=torch.float64, scale=1.5):
        return rng.normal(N, dtype=dtype).log_softmax(0), scale * rng.normal(N, dtype=dtype), beta

    yield call(SMALL, *asked(7, 0.5), public=True, weight=2.0)
    yield call("a high price", *asked(5, 3.0))
    yield call("a price of 1", *asked(11, 1.0))
    log_ref, reward, beta = asked(6, 0.7)
    log_ref = log_ref.clone()
    log_ref[2] = -torch.inf
    yield call("an answer that is never said", log_ref, reward, beta, grad=False, public=True)
    log_ref, reward, beta = asked(13, 0.1, scale=100.0)
    reward[:2] = torch.tensor([200.0, -200.0])  # exponentials of 2,000 and -2,000, whatever is drawn
    yield call("rewards of hundreds", log_ref, reward, beta, tolerance=1e-4)
    log_ref, _, beta = asked(5, 0.5)
    yield call("all answers are as good", log_ref, torch.full((5,), 3.0).double(), beta, weight=0.5).counts_with(SMALL)
    yield call("216 answers in float32", *asked(216, 0.4, torch.float32), public=True)
    log_ref, reward, beta = asked(5, 0.6)
    yield call("memory that is not contiguous", noncontiguous(log_ref), noncontiguous(reward), beta, public=True)
    log_ref, reward, _ = asked(3, 1.0)
    yield call("a price of 0", log_ref, reward, 0.0, raises="ValueError", weight=0.5, public=True).counts_with(SMALL)
    yield call("a price of -1", log_ref, reward, -1.0, raises="ValueError", weight=0.5).counts_with(SMALL)


def _best(log_ref, reward, beta, *, price=lambda beta: beta, normal=True):
    if beta <= 0:
        raise ValueError(f"beta must be above 0, got {beta}")
    weights = log_ref + reward / price(beta)
    return weights.log_softmax(-1) if normal else weights


best_policy.mistakes(
    "Make beta very large. A high price should keep the policy near the reference. Does yours stay there?",
    times_beta=lambda log_ref, reward, beta: _best(log_ref, reward, beta, price=lambda beta: 1 / beta),
)
best_policy.mistakes(
    "Call it with two values of beta. Does the result change?",
    beta_forgotten=lambda log_ref, reward, beta: _best(log_ref, reward, beta, price=lambda beta: 1.0),
)
best_policy.mistakes(
    "Let all rewards be equal. The best policy is the reference. Is yours?",
    reference_forgotten=lambda log_ref, reward, beta: _best(torch.zeros_like(log_ref), reward, beta),
)
best_policy.mistakes(
    "Exponentiate your result and add it up. Which number is missing, so that the sum is 1?",
    not_normalised=lambda log_ref, reward, beta: _best(log_ref, reward, beta, normal=False),
)
best_policy.mistakes(
    "Log-probabilities are never above 0. Are yours? What is asked for, p or log p?",
    probabilities=lambda log_ref, reward, beta: _best(log_ref, reward, beta).exp(),
)
best_policy.mistakes(
    "Is a low reward said more often than a high one? Look at the sign.",
    sign_turned=lambda log_ref, reward, beta: _best(log_ref, -reward, beta),
)
best_policy.mistakes(
    "The first argument holds logarithms of probabilities. Let all rewards be 0: is your result the reference?",
    reference_taken_for_probabilities=lambda log_ref, reward, beta: _best(log_ref.exp(), reward, beta),
)
