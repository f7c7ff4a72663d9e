"""Hidden tests of `reinforce_loss`: sums over own tokens, and a baseline from the others of the group."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import reasoning as reference

SMALL = "three questions, five answers each"
FROZEN = "a gradient flows into the rewards, which are given"


@exercise(
    reference.reinforce_loss,
    hints=(
        "Take one question with the rewards (1, 0, 0, 1). What is the mean reward of the other three, for each answer?",
        "An answer of two tokens with log-probabilities -1 and -2 has -3. What do the tokens outside the mask add?",
        "Begin with the log-probability of each answer, (B, G). Write down the baseline of one answer. Does its own "
        "reward take part in it? What is left for a group of one?",
    ),
    calls=(
        "reinforce_loss(-ones(1, 1, 2), ones(1, 1, 2) > 0, tensor([[3.]]))",
        "reinforce_loss(-ones(1, 2, 1), ones(1, 2, 1) > 0, tensor([[4., 4.]]))",
        "reinforce_loss(-ones(1, 1, 2), tensor([[[True, False]]]), tensor([[3.]]))",
        "reinforce_loss(tensor([[[-1.], [-3.]]]), ones(1, 2, 1) > 0, tensor([[1., 0.]]))",
        "reinforce_loss(-ones(1, 1, 2), zeros(1, 1, 2) > 0, tensor([[3.]]))",
    ),
)
def reinforce_loss(rng):
    """Rewards far from zero, groups of one, two and many, answers of unlike lengths, and NaN-free padding."""

    def asked(B, G, T, dtype=torch.float64, level=0.0):
        log_p = -rng.uniform(B, G, T, low=0.1, high=3.0, dtype=dtype)
        lengths = rng.integers(1, T + 1, B, G)
        lengths[0, 0] = T
        return log_p, torch.arange(T) < lengths[..., None], level + rng.normal(B, G, dtype=dtype)

    def learned(title, log_p, mask, rewards, **options):
        return call(title, log_p.detach().requires_grad_(), mask, rewards, grad=False, **options).gradients()

    yield learned(SMALL, *asked(3, 5, 7), public=True, weight=2.0)
    yield learned("pairs", *asked(5, 2, 3))
    yield learned("groups of one answer", *asked(4, 1, 5), public=True)
    yield learned("rewards near ten", *asked(2, 4, 3, level=10.0), weight=2.0)
    log_p, mask, rewards = asked(2, 3, 5)
    yield learned("rewards of 0 and 1", log_p, mask, (rewards > 0).double(), public=True)
    lone, one = asked(1, 4, 3), torch.tensor([[1.0, 0, 0, 0]]).double()
    yield learned("one question, one right answer", lone[0], lone[1], one)
    log_p, mask, rewards = asked(2, 3, 4)
    mask = mask.clone()
    mask[1, 2] = False
    yield learned("an answer without own tokens", log_p, mask, rewards)
    log_p, mask, rewards = asked(3, 2, 5)
    yield learned("own tokens behind a prompt", log_p, mask.flip(-1), rewards, public=True)
    yield learned("float32", *asked(2, 7, 3, torch.float32), public=True)
    log_p, mask, rewards = asked(3, 4, 2)
    yield learned("memory that is not contiguous", noncontiguous(log_p), mask, noncontiguous(rewards), public=True)
    given = call("no gradient flows into the rewards", *asked(2, 3, 5), weight=0.5).laws_only()
    yield given.law("not_reached", of="gradients of out", places=[1], because=FROZEN).counts_with(SMALL)


def _reinforced(log_p, mask, rewards, *, base=None, share=None, length=False, sign=-1, masked=True, total=False):
    answers = (log_p * mask if masked else log_p).sum(-1)
    if length:
        answers = answers / mask.sum(-1).clamp(min=1)
    G = rewards.shape[1]
    others = (rewards.sum(1, keepdim=True) - rewards) / max(G - 1, 1)
    gain = (rewards - (base(rewards) if base else others)).detach()
    if share:
        gain = gain / share(rewards).detach()
    loss = sign * gain * answers
    return loss.sum() if total else loss.mean()


def _deviation(rewards):
    return rewards.std(1, keepdim=True) + 1e-4 if rewards.shape[1] > 1 else torch.ones_like(rewards)


def _own_mean(rewards):
    return rewards.mean(1, keepdim=True) if rewards.shape[1] > 1 else torch.zeros_like(rewards)


def _divided_by_others(rewards):
    return (rewards.sum(1, keepdim=True) - rewards) / (rewards.shape[1] - 1)


reinforce_loss.mistakes(
    "Take a group of two with the rewards 1 and 0. What is the mean of the others for the first? Does its own count?",
    own_reward_in_the_baseline=lambda *args: _reinforced(*args, base=_own_mean),
    mean_of_the_group=lambda *args: _reinforced(*args, base=lambda rewards: rewards.mean(1, keepdim=True)),
)
reinforce_loss.mistakes(
    "A group has one answer. By how many others do you divide?",
    no_others=lambda *args: _reinforced(*args, base=_divided_by_others),
)
reinforce_loss.mistakes(
    "Add 100 to every reward. Does the gradient change?",
    no_baseline=lambda *args: _reinforced(*args, base=torch.zeros_like),
)
reinforce_loss.mistakes(
    "Multiply all rewards by 10. The expected reward has ten times the slope. Has your loss?",
    divided_by_the_deviation=lambda *args: _reinforced(*args, share=_deviation),
)
reinforce_loss.mistakes(
    "Is the log-probability of an answer a sum over its tokens or a mean? Try a short and a long answer.",
    divided_by_the_length=lambda *args: _reinforced(*args, length=True),
)
reinforce_loss.mistakes(
    "Take one step down your loss. Does the answer with the higher reward become likelier?",
    sign_turned=lambda *args: _reinforced(*args, sign=1),
)
reinforce_loss.mistakes(
    "Change a log-probability outside the mask. Does the loss move?",
    mask_forgotten=lambda *args: _reinforced(*args, masked=False),
)
