"""Hidden tests of `group_advantages`: every answer against its own group, and finite where a group is all alike."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import assistant as reference

SMALL = "three groups of five"
NOTHING = "equal rewards teach nothing: their advantages should be zeros"


@exercise(
    reference.group_advantages,
    hints=(
        "Take the rewards (1, 0, 0, 1). Their mean is 0.5 and their standard deviation, with G - 1, is 0.577. Which "
        "advantages are these?",
        "Add 100 to all rewards of one group. Which advantages change?",
        "Begin with how far each reward lies from the mean of its group, and print the shapes. What do you divide by "
        "where all rewards of a group are equal? And in a group of one?",
    ),
    tolerance=1e-4,
    calls=(
        "group_advantages(tensor([[1., 1., 1.]]))",
        "group_advantages(tensor([[5.]]))",
        "group_advantages(tensor([[0., 1.]]).mul(1000))",
        "group_advantages(tensor([[1000., 2000., 3000.]]))",
        "group_advantages(tensor([[1000., 2000., 3000.], [0., 0., 0.]]))",
        "group_advantages(tensor([[2000., 1000.], [7., 7.]]))",
    ),
)
def group_advantages(rng):
    """Deviations where 1e-4 more does not show, and a small one where 1e-3 does; equal rewards; one answer.

    Equal rewards are whole numbers in groups of four, whose mean is exact. Of others, float32 leaves a residue, which
    1e-5 beside the deviation does not hide.
    """

    def asked(B, G, dtype=torch.float64):
        rewards = rng.normal(B, G, dtype=dtype)
        level = 50 * rng.normal(B, 1, dtype=dtype)
        return level + (rewards - rewards.mean(1, keepdim=True)) * 30 / rewards.std(1, keepdim=True)

    def again(title, rewards, **options):
        return call(title, rewards, grad=False, tolerance=1e-4, **options)

    yield again(SMALL, asked(3, 5), public=True, weight=2.0)
    yield again("pairs", asked(7, 2))
    large = asked(1, 31)
    large[0, 3] += 500
    yield again("one question, one answer far above", large, public=True)
    little = torch.tensor([[0.1, 0, 0, 0.1], [0.3, 0.2, 0.4, 0.3]], dtype=torch.float64)
    yield call("rewards that hardly differ", little, grad=False, tolerance=2e-3)
    mixed = torch.tensor([[3.0, 3, 3, 3], [40, 0, 0, 40], [-20, 10, 60, 0]], dtype=torch.float64)
    yield again("one group of equal rewards among others", mixed)
    spread = torch.tensor([[1.0], [2.0], [5.0], [20.0]], dtype=torch.float64)
    yield again("groups of other deviations", asked(4, 6) * spread)
    yield again("float32", asked(5, 3, torch.float32), public=True)
    yield again("memory that is not contiguous", noncontiguous(asked(3, 4)), public=True)
    for title, rewards, public in (
        ("equal rewards", torch.full((2, 4), float(rng.integers(1, 20))), True),
        ("equal rewards of zero", torch.zeros(3, 4), False),
        ("groups of one answer", 30 * rng.normal(4, 1), True),
    ):
        case = again(title, rewards, public=public, weight=0.5).laws_only()
        case = case.law("shape_is", shape=tuple(rewards.shape), because=f"{NOTHING}, one for each reward")
        yield case.law("bounded", low=-0.02, high=0.02, because=NOTHING).counts_with(SMALL)


def _divided(centred, rewards, tiny=1e-4, **how):
    if rewards.shape[1] == 1:
        return centred
    return centred / (rewards.std(1, keepdim=True, **how) + tiny)


def _centred(rewards):
    return rewards - rewards.mean(1, keepdim=True)


group_advantages.mistakes(
    "Add 100 to all rewards of one group. The other groups should not notice. Do they?",
    mean_over_the_batch=lambda rewards: _divided(rewards - rewards.mean(), rewards),
    standardised_over_the_batch=lambda rewards: (
        (rewards - rewards.mean()) / (rewards.std() + 1e-4) if rewards.numel() > 1 else 0 * rewards
    ),
)
group_advantages.mistakes(
    "Which answers are compared, those to one question or the first ones to all questions?",
    standardised_over_the_questions=lambda rewards: (
        (rewards - rewards.mean(0)) / (rewards.std(0) + 1e-4) if len(rewards) > 1 else 0 * rewards
    ),
)
group_advantages.mistakes(
    "Take (1, 0, 0, 1). The advantages should be 0.866 in size. Do you divide by G or by G - 1?",
    deviation_with_G=lambda rewards: _divided(_centred(rewards), rewards, correction=0),
)
group_advantages.mistakes(
    "Multiply all rewards of a group by 10. Advantages are in deviations, so they should not change. Do yours?",
    divided_by_the_variance=lambda rewards: _centred(rewards) / (rewards.var(1, keepdim=True).nan_to_num() + 1e-4),
)
group_advantages.mistakes(
    "Give it one question with four answers. Their rewards differ, so is there something to learn?",
    zeros_for_one_question=lambda rewards: reference.group_advantages(rewards) if len(rewards) > 1 else 0 * rewards,
)
group_advantages.mistakes(
    "Give it one question. The advantages should have the shape of the rewards. Which axis has gone?",
    one_question_without_its_axis=lambda rewards: reference.group_advantages(rewards).squeeze(0),
)
group_advantages.mistakes(
    "Let all answers of a group have the same reward. What do you divide by?",
    nothing_beside_any_deviation=lambda rewards: _centred(rewards) / rewards.std(1, keepdim=True),
    nothing_beside_the_deviation=lambda rewards: _divided(_centred(rewards), rewards, tiny=0.0),
)
group_advantages.mistakes(
    "Try a group of one answer. What is the standard deviation of one number, with G - 1?",
    deviation_of_one=lambda rewards: _centred(rewards) / (rewards.std(1, keepdim=True) + 1e-4),
)


@group_advantages.misconception(
    "Is every advantage divided by its group's standard deviation?", convention="means alone, as in Dr. GRPO"
)
def mean_alone(rewards):
    return _centred(rewards)


@group_advantages.misconception(
    "Is the answer's own reward part of the mean that it is compared with? Here it is.",
    convention="leave-one-out baselines, as in RLOO",
)
def leave_one_out(rewards):
    G = rewards.shape[1]
    return _centred(rewards) * (G / (G - 1) if G > 1 else 1.0)
