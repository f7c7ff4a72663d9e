"""Hidden tests of `kl_estimate`: three estimates of one divergence, which side is which, and their gradients."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import reasoning as reference

SMALL = "k3 of a batch"


@exercise(
    reference.kl_estimate,
    hints=(
        "Take p = (0.5, 0.5) and a reference of (0.25, 0.75). Compute the three estimates of both answers, and their "
        "means under p. The divergence is 0.144.",
        "An estimate of the kind k3 is never below 0. Is yours? Where is it 0?",
        "Begin with d, the difference of the two logarithms. Which comes first, if d is to be positive where the "
        "policy says an answer more often than the reference?",
    ),
    calls=(
        "kl_estimate(tensor([2.]), tensor([1.]), 'k1')",
        "kl_estimate(tensor([1.]), tensor([3.]), 'k1')",
        "kl_estimate(tensor([3.]), tensor([1.]), 'k2')",
        "kl_estimate(tensor([1.]), tensor([1.]))",
        "kl_estimate(tensor([1.]), tensor([1.]), 'k4')",
        "kl_estimate(tensor([-2.]), tensor([-2.]), 'k2')",
    ),
)
def kl_estimate(rng):
    """All three kinds, differences of both signs, the kind that is not named, other shapes and a kind that is none."""

    def asked(*shape, dtype=torch.float64):
        return -2 + rng.normal(*shape, dtype=dtype), -2 + rng.normal(*shape, dtype=dtype)

    yield call(SMALL, *asked(7), public=True, weight=2.0)
    yield call("k1", *asked(5), "k1", public=True)
    yield call("k2", *asked(5), "k2", public=True)
    yield call("k3 by its name", *asked(3, 4), "k3")
    yield call("k1 of tokens", *asked(2, 5), kind="k1")
    yield call("k2 of tokens", *asked(3, 2, 5), kind="k2")
    same = asked(4)[0]
    yield call("the policy is the reference", same, same.clone(), weight=0.5).counts_with(SMALL)
    yield call("far above the reference", *(x + shift for x, shift in zip(asked(3), (2.0, -30.0), strict=True)))
    yield call("float32", *asked(5, 3, dtype=torch.float32), public=True)
    yield call("memory that is not contiguous", *map(noncontiguous, asked(3, 5)), "k3", public=True)
    yield call("a kind that there is not", *asked(2), "k4", raises="ValueError", weight=0.5, public=True).counts_with(
        SMALL
    )


def _estimate(log_p, log_ref, kind="k3", *, d=lambda p, ref: p - ref, k2=None, k3=None, times=None):
    if kind not in ("k1", "k2", "k3"):
        raise ValueError(f"no kind {kind}")
    moved = d(log_p, log_ref)
    found = {
        "k1": moved,
        "k2": k2(moved) if k2 else moved.square() / 2,
        "k3": k3(moved) if k3 else (-moved).exp() - 1 + moved,
    }[kind]
    return times(log_p) * found if times else found


kl_estimate.mistakes(
    "The policy says an answer twice as often as the reference. Is d = log 2 or -log 2? Compute k1.",
    turned_round=lambda *args, **how: _estimate(*args, **how, d=lambda p, ref: ref - p),
)
kl_estimate.mistakes(
    "Compute the mean of k3 for samples of the policy, by enumeration. Is it the divergence? Which exponent is it?",
    exponent_turned_round=lambda *args, **how: _estimate(*args, **how, k3=lambda d: d.exp() - 1 - d),
)
kl_estimate.mistakes(
    "The samples come from p already. How often does each answer count, if you also multiply by its probability?",
    weighted_once_more=lambda *args, **how: _estimate(*args, **how, times=torch.exp),
)
kl_estimate.mistakes(
    "Near the reference k2 and k3 are alike. Take d = 0.1 and compare the two.",
    square_without_its_half=lambda *args, **how: _estimate(*args, **how, k2=torch.square),
)
kl_estimate.mistakes(
    "Let policy and reference agree. What is the divergence, and what is your k3?",
    ratio_alone=lambda *args, **how: _estimate(*args, **how, k3=lambda d: (-d).exp() + d),
)
kl_estimate.mistakes(
    "Nobody asked for a mean. Which shape have the samples, and which shape has your result?",
    mean_of_all=lambda *args, **how: _estimate(*args, **how).mean(),
)
