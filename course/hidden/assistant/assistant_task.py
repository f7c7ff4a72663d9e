"""Hidden tests of `assistant_task`: a policy tuned by comparisons, held against the best one there is."""

from __future__ import annotations

import torch

from course.data import advice
from course.exercise import exercise, given_model
from course.reference.assistant import best_policy

FULL, PASS, LOWER_BAR = 0.05, 0.12, 0.5
"""Nats of divergence from the best policy. Ten trained policies lie near 0.004: see its test in tests/training."""
MOVED = "on the way from the beginning to what people chose"


BEGINNING, CHOSEN, STRONG_PENALTY = "the beginning", "chosen answers alone", "beta of 2"
MOVING = "a reference that moves"
UNMOVED = "the policy is still near the beginning, and says what people chose no more often"


def known():
    """Log-probabilities, (216,), of the policies where a training ends that has a mistake, and of the beginning."""
    log_ref, reward, beta = advice.log_reference(), advice.rewards(), advice.BETA
    p = log_ref.exp()
    wins = torch.sigmoid(reward[:, None] - reward) @ p  # how often each answer is chosen
    return {
        BEGINNING: log_ref,
        "exchanged": best_policy(log_ref, -reward, beta),
        CHOSEN: (log_ref + wins.log()).log_softmax(0),
        "beta of 1": best_policy(log_ref, reward, 1.0),
        STRONG_PENALTY: best_policy(log_ref, reward, 2.0),
        "a mean over the phrases": best_policy(log_ref, reward, beta / 3),
        "no reference": best_policy(torch.zeros_like(log_ref), reward, beta),
        "a little way off": best_policy(log_ref, reward, beta / 0.7),
        MOVING: moved_freely(40),
    }


def moved_freely(steps):
    """Return log-probabilities (216,) after so many steps up log p of chosen minus log p of rejected answers.

    This is where DPO goes if policy and reference are one model: the loss stays log 2, and its gradient is never zero.
    """
    log_ref, reward = advice.log_reference(), advice.rewards()
    p = log_ref.exp()
    third = (p * (2 * torch.sigmoid(reward[:, None] - reward) @ p - 1)).view(6, 6, 6)  # slopes of log p, summing to 0
    second, first = third.sum(2), third.sum((1, 2))
    a, b, c = log_ref.view(6, 6, 6).logsumexp((1, 2)), log_ref.view(6, 6, 6).logsumexp(2), log_ref.view(6, 6, 6)
    for _ in range(steps):
        a = a + 2 * first
        b = b + 2 * (second - first[:, None] * b.softmax(1))
        c = c + 2 * (third - second[..., None] * c.softmax(2))
    return (a.log_softmax(0)[:, None, None] + b.log_softmax(1)[..., None] + c.log_softmax(2)).flatten()


def _policy(log_p):
    """A policy of these log-probabilities, (216,): ids (N, 4) -> logits (N, 4, 6)."""
    third = log_p.view(6, 6, 6)
    second = third.logsumexp(2)

    def says(ids):
        begun = second.logsumexp(1).expand(len(ids), 6)
        return torch.stack([begun, second[ids[:, 1]], third[ids[:, 1], ids[:, 2]], torch.zeros_like(begun)], 1)

    return says


@exercise(
    _policy(best_policy(advice.log_reference(), advice.rewards(), advice.BETA)),
    name="assistant_task",
    hints=(
        "`dpo_loss` takes four tensors. Which model and which answers does each come from? Print the log-probability "
        "of the chosen answers and of the rejected ones, at the start and at the end. Which rises?",
        "Print the loss of the first batch. Policy and reference are the same then, so it should be log 2 = 0.693. "
        "What would it say of the two if it stayed there?",
        "Does the loss still jump about at the end? Let the learning rate fall with `len(batches)`.",
        "Begin with the reference, before the first step. Does it change when the policy does? `copy.deepcopy` makes a "
        "model of its own. Then print the shapes of the four tensors for one batch.",
    ),
)
def assistant_task(rng):
    """All 216 answers, in an order of the judge's own; which of the known wrong policies the model comes near."""
    yield from _asked(rng, public=True)
    yield from _asked(rng)


def _asked(rng, public=False):
    order = rng.permutation(216)
    ids, also = advice.answers()[order], "" if public else ", in another order"
    best = best_policy(advice.log_reference(), advice.rewards(), advice.BETA)[order]
    asked = given_model(f"KL of {PASS} or less{also}", public=public, weight=2.0).call(ids, into="logits").laws_only()
    held = {"of": "logits", "ids": ids, "log_best": best}

    def within(title, bar, weight):
        return asked.judged_again(f"{title}{also}", weight=weight).law("divergence_at_most", bar=bar, **held)

    first = asked.law("divergence_at_most", bar=PASS, **held)
    if public:
        first = first.shows("divergence_at_most", full=FULL, called="the divergence from the best policy")
    yield first
    if not public:
        yield within(f"KL of {FULL} or less", FULL, 4.0)
    yield within(f"KL of {LOWER_BAR} or less", LOWER_BAR, 1.0)
    policies = known()
    moved = asked.judged_again(f"{MOVED}{also}", weight=0.1).counts_with(f"KL of {LOWER_BAR} or less{also}")
    liked, begun = policies[CHOSEN][order], policies.pop(BEGINNING)[order]
    yield moved.law("nearer_to_best", of="logits", ids=ids, log_best=liked, than=begun, because=UNMOVED)
    for name, other in policies.items():
        # A strong penalty is near the chosen answers, too: of these two, which?
        right = policies[STRONG_PENALTY][order] if name == CHOSEN else best
        because = f"the policy is nearer to another one ({name}) than to the best one"
        case = asked.judged_again(f"not the policy of a mistake, {name}{also}", weight=0.0 if name == MOVING else 0.1)
        case = case.law("nearer_to_best", of="logits", ids=ids, log_best=right, than=other[order], because=because)
        yield case.counts_with(f"KL of {LOWER_BAR} or less{also}")


assistant_task.mistakes(
    "Good answers are as rare as at the beginning. Print a number of the policy before and after a hundred steps. If "
    "it stays the same, whose parameters does the optimizer get? If it creeps, how large is a step? If it moves well, "
    "which phrase are the logits at a position about?",
    never_moved=_policy(known()[BEGINNING]),
)
assistant_task.mistakes(
    "Print the loss of every hundredth batch. It is log 2 = 0.693 as long as policy and reference agree. Your policy "
    "has moved. If the loss has not, are the two one model?",
    reference_moves=_policy(known()[MOVING]),
    reference_moves_far=_policy(moved_freely(500)),
    reference_moves_noisily=_policy((0.7 * moved_freely(500) + 0.3 * known()["a little way off"]).log_softmax(0)),
)
assistant_task.mistakes(
    "Print the answer that your policy likes best. Batches are (chosen, rejected). Which of them becomes likelier?",
    chosen_and_rejected_exchanged=_policy(known()["exchanged"]),
)
assistant_task.mistakes(
    "Your policy says what was often chosen. Does your loss look at the rejected answers, too? If it does, how large "
    "is a step?",
    chosen_alone=_policy(known()[CHOSEN]),
)
assistant_task.mistakes(
    "Your policy has not moved far enough. Does the loss leave log 2 = 0.693, and is it still falling at the end? How "
    "large is a step, and which beta does your loss get?",
    steps_too_small=_policy(best_policy(advice.log_reference(), advice.rewards(), 0.8)),
    beta_of_one=_policy(known()["beta of 1"]),
    beta_turned_round=_policy(known()[STRONG_PENALTY]),
)
assistant_task.mistakes(
    "Your policy has moved too far. The log-probability of an answer is a sum over its phrases. What is yours?",
    mean_for_sum=_policy(known()["a mean over the phrases"]),
)
assistant_task.mistakes(
    "Your policy has forgotten what was likely at first. Is the reference subtracted, and is it the policy of the "
    "beginning?",
    no_reference=_policy(known()["no reference"]),
)
assistant_task.mistakes(
    "Near the bar of full marks, and not there. How large are the first steps, and does the learning rate fall to zero "
    "at the end?",
    nearly_there=_policy(known()["a little way off"]),
)
