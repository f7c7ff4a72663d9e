"""Hidden tests of `dpo_loss`: what the policy has moved, times beta, in place of a reward; the reference stays."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import assistant as reference

SMALL = "seven pairs"
FROZEN = "a gradient flows back to the reference, which should stay as it is"


@exercise(
    reference.dpo_loss,
    hints=(
        "Let the policy be the reference. What should the loss be, whatever the answers and beta?",
        "Make the chosen answer more likely under the policy, and leave all else. Should the loss fall or rise?",
        "Begin with the reward of the chosen answer alone. How does it compare the policy with the reference, and "
        "which of the two may get a gradient? You have already written the loss of two rewards.",
    ),
    calls=(
        "dpo_loss(tensor([-1.]), tensor([-1.]), tensor([-1.]), tensor([-1.]), 1.)",
        "dpo_loss(tensor([-1.]), tensor([-9.]), tensor([-1.]), tensor([-9.]), 1.)",
        "dpo_loss(tensor([-1.]), tensor([-101.]), tensor([-1.]), tensor([-1.]), 1.)",
        "dpo_loss(tensor([-101.]), tensor([-1.]), tensor([-1.]), tensor([-1.]), 1.)",
        "dpo_loss(tensor([-1.]), tensor([-1.]), tensor([-101.]), tensor([-1.]), 1.)",
        "dpo_loss(tensor([-1.]), tensor([-5.]), tensor([-3.]), tensor([-4.]), 0.)",
    ),
)
def dpo_loss(rng):
    """Log-probabilities of whole answers, -5 to -60; prices below and above 1; gradients of all four arguments."""

    def asked(B, beta, dtype=torch.float64, scale=2.0):
        return *(scale * rng.normal(B, dtype=dtype) - 9 for _ in range(4)), beta

    def judged(title, arguments, **options):
        case = call(title, *arguments, **options)
        return case.law("not_reached", places=[2, 3], because=FROZEN)

    yield judged(SMALL, asked(7, 0.5), public=True, weight=2.0)
    yield judged("a low price", asked(5, 0.1))
    yield judged("a high price", asked(3, 2.0))
    yield judged("a single pair", asked(1, 0.3))
    yield judged("long answers", asked(11, 0.2, scale=40.0))
    *four, beta = asked(5, 0.5, scale=5000.0)
    four[0][1] = four[1][1] - 30_000  # one pair at least has moved the wrong way, whatever is drawn
    yield judged("answers that have moved by thousands", (*four, beta), public=True)
    chosen, rejected, _, _, beta = asked(5, 0.4)
    same = (chosen, rejected, chosen.clone(), rejected.clone(), beta)
    yield judged("the policy is the reference", same, weight=0.5, public=True).counts_with(SMALL)
    yield judged("float32", asked(13, 0.5, torch.float32), public=True)
    *four, beta = asked(5, 0.7)
    yield judged("memory that is not contiguous", (*map(noncontiguous, four), beta), public=True)


def _loss(difference):
    return reference.preference_loss(difference, torch.zeros_like(difference))


@dpo_loss.misconception("Which arguments get a gradient? The reference is the model as it was. It must not learn.")
def reference_learns(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta):
    return _loss(beta * ((policy_chosen - ref_chosen) - (policy_rejected - ref_rejected)))


@dpo_loss.misconception("Make the chosen answer likelier in your head. Should the loss fall or rise?")
def chosen_and_rejected_exchanged(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta):
    return reference.dpo_loss(policy_rejected, policy_chosen, ref_rejected, ref_chosen, beta)


@dpo_loss.misconception(
    "Let the policy be the reference. The loss should be log 2 = 0.693. Which reference goes with which answer?"
)
def references_exchanged(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta):
    return reference.dpo_loss(policy_chosen, policy_rejected, ref_rejected, ref_chosen, beta)


@dpo_loss.misconception("Call it with two values of beta. Does the result change?")
def beta_forgotten(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta):
    return reference.dpo_loss(policy_chosen, policy_rejected, ref_chosen, ref_rejected, 1.0)


@dpo_loss.misconception(
    "Where does beta stand, inside the sigmoid or before it? With the policy as reference, the loss is log 2."
)
def beta_outside(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta):
    return beta * reference.dpo_loss(policy_chosen, policy_rejected, ref_chosen, ref_rejected, 1.0)


@dpo_loss.misconception("A reward is beta times what the policy has moved. Try beta = 0.1 by hand.")
def divided_by_beta(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta):
    return reference.dpo_loss(policy_chosen, policy_rejected, ref_chosen, ref_rejected, 1 / beta)


@dpo_loss.misconception(
    "Let the policy be the reference. The loss should be log 2 = 0.693. What is compared with what?"
)
def no_reference(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta):
    return _loss(beta * (policy_chosen - policy_rejected))


@dpo_loss.misconception("Make the rejected answer likelier under the policy. Does your loss notice?")
def chosen_alone(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta):
    return _loss(beta * (policy_chosen - ref_chosen.detach()))


@dpo_loss.misconception(
    "Let the policy be the reference. The loss should be log 2 = 0.693. Make the chosen answer far likelier: does your "
    "loss ever rise?",
    convention="IPO, which squares the distance from 1 / (2 beta)",
)
def squared_distance(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta):
    moved = (policy_chosen - ref_chosen.detach()) - (policy_rejected - ref_rejected.detach())
    return (moved - 1 / (2 * beta)).square().mean()


@dpo_loss.misconception(
    "Let the policy be the reference. The loss should be log 2 = 0.693, and it never is 0. Yours?",
    convention="the hinge of SLiC",
)
def hinge(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta):
    moved = (policy_chosen - ref_chosen.detach()) - (policy_rejected - ref_rejected.detach())
    return (1 - beta * moved).relu().mean()


@dpo_loss.misconception("Take the same pair twice. A mean should stay as it is.")
def sum_for_mean(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta):
    return len(ref_chosen) * reference.dpo_loss(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta)


@dpo_loss.misconception(
    "Try differences of thousands. What are the sigmoid and its logarithm in floating-point numbers?"
)
def log_of_sigmoid(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta):
    moved = (policy_chosen - ref_chosen.detach()) - (policy_rejected - ref_rejected.detach())
    return -(beta * moved).sigmoid().log().mean()
