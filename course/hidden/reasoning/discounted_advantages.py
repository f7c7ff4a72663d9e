"""Hidden tests of `discounted_advantages`: what comes behind a token counts, and what is padding does not."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import reasoning as reference

SMALL = "answers of unlike lengths"


@exercise(
    reference.discounted_advantages,
    hints=(
        "Take the rewards 0, 0, 1 and the values 0.5, 0.6, 0.9. Work out the three deltas by hand. Then add half of "
        "what comes behind to each of them.",
        "Let lambda be 0. Which of the rewards still counts for a token?",
        "Put 100 into the values behind the last own token. Does any advantage change?",
        "Begin with the last own token of a row. Which value comes behind it?",
    ),
    calls=(
        "discounted_advantages(tensor([[0., 1.]]), tensor([[0., 0.]]), ones(1, 2) > 0, 1.0, 1.0)",
        "discounted_advantages(tensor([[0., 1.]]), tensor([[0., 0.]]), ones(1, 2) > 0, 1.0, 0.0)",
        "discounted_advantages(tensor([[0., 1.]]), tensor([[0., 9.]]), tensor([[True, False]]), 1.0, 1.0)",
        "discounted_advantages(tensor([[0., 0., 1.]]), zeros(1, 3), ones(1, 3) > 0, 0.5, 1.0)",
        "discounted_advantages(tensor([[5., 5.]]), tensor([[5., 5.]]), zeros(1, 2) > 0)",
    ),
)
def discounted_advantages(rng):
    """Rewards at each token and at the last one alone; lambda 0 and 1; values of the padding far from zero."""

    def asked(B, T, dtype=torch.float64):
        lengths = torch.cat([torch.tensor([T]), rng.integers(1, T + 1, B - 1)])
        mask = torch.arange(T) < lengths[:, None]
        rewards = rng.normal(B, T, dtype=dtype)
        return torch.where(mask, rewards, 0.0).to(dtype), rng.normal(B, T, dtype=dtype) + 2, mask

    def credit(title, *args, **options):
        return call(title, *args, grad=False, **options)

    yield credit(SMALL, *asked(3, 7), 0.9, 0.6, public=True, weight=2.0)
    yield credit("gamma and lambda that nobody names", *asked(4, 5), public=True)
    yield credit("lambda of 0", *asked(2, 5), 0.8, 0.0, public=True)
    yield credit("lambda of 1", *asked(3, 5), 0.7, 1.0)
    yield credit("by their names", *asked(2, 3), lam=0.5, gamma=0.9)
    rewards, values, mask = asked(5, 7)
    last = mask.long().cumsum(1) == mask.sum(1, keepdim=True)
    yield credit("one reward at the end", (mask & last).double(), values, mask, 1.0, 0.95, public=True, weight=2.0)
    yield credit("values of 1,000 behind the mask", rewards, torch.where(mask, values, 1000.0), mask, 1.0, 0.9)
    yield credit("rewards behind the mask", torch.where(mask, rewards, 50.0), values, mask, 0.9, 0.9)
    mask = mask.clone()
    mask[1] = False
    yield credit("a row without own tokens", rewards, values, mask, 0.9, 0.8)
    yield credit("one token each", *asked(1, 1), 0.9, 0.5, weight=0.5).counts_with(SMALL)
    yield credit("float32", *asked(3, 11, torch.float32), 0.95, 0.9, public=True)
    rewards, values, mask = asked(3, 5)
    scattered = noncontiguous(rewards), noncontiguous(values)
    yield credit("memory that is not contiguous", *scattered, mask, 0.9, 0.5, public=True)


def _credited(rewards, values, mask, gamma=1.0, lam=0.95, *, padding=False, carried=None, delta=None, plus=False):
    held = values if padding else values * mask
    after = torch.cat([held[:, 1:], torch.zeros_like(held[:, :1])], 1)
    deltas = delta(rewards, values, after, gamma) if delta else rewards + gamma * after - values
    found, behind = torch.zeros_like(rewards), torch.zeros_like(rewards[:, 0])
    for t in reversed(range(rewards.shape[1])):
        behind = torch.where(mask[:, t], deltas[:, t] + (carried or gamma * lam) * behind, 0.0)
        found[:, t] = behind
    return found + values * mask if plus else found


def _masked_at_the_end(rewards, values, mask, gamma=1.0, lam=0.95):
    return mask * _credited(rewards, values, torch.ones_like(mask), gamma, lam)


def _normalised(*args, **how):
    found, mask = _credited(*args, **how), args[2]
    own = found[mask]
    spread = own.std() if own.numel() > 1 else torch.ones(())
    return torch.where(mask, (found - own.mean()) / (spread + 1e-8), 0.0)


discounted_advantages.mistakes(
    "Put 100 into the values behind the last own token. Which advantages change?",
    padding_has_a_value=lambda *args, **how: _credited(*args, **how, padding=True),
    masked_at_the_end=_masked_at_the_end,
)
discounted_advantages.mistakes(
    "Let lambda be 0. Then only one delta counts for each token. Does a later one still?",
    lambda_forgotten=lambda rewards, values, mask, gamma=1.0, lam=0.95: _credited(rewards, values, mask, gamma, 1.0),
)
discounted_advantages.mistakes(
    "Compare gamma = 0.5 with gamma = 1, at lambda = 1. In how many places does gamma stand?",
    gamma_in_the_values_alone=lambda rewards, values, mask, gamma=1.0, lam=0.95: _credited(
        rewards, values, mask, gamma, lam, carried=lam or 1e-30
    ),
)
discounted_advantages.mistakes(
    "One token has the reward 1 and the value 0.9. By how much is it better than expected?",
    values_forgotten=lambda *args, **how: _credited(*args, **how, delta=lambda r, values, after, gamma: r),
    returns=lambda *args, **how: _credited(*args, **how, plus=True),
)
discounted_advantages.mistakes(
    "Multiply all rewards and values by 10. Do your advantages become ten times as large?",
    normalised=_normalised,
)
