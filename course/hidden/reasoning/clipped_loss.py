"""Hidden tests of `clipped_loss`: which side of the clipping counts, where gradients end, and what padding may hold."""

from __future__ import annotations

import torch

from course.exercise import call, exercise
from course.reference import reasoning as reference

SMALL = "a batch of answers"
FROZEN = "a gradient flows into the old log-probabilities or the advantages, which are given"


@exercise(
    reference.clipped_loss,
    hints=(
        "Take the ratios 1.5, 1.5, 0.5 and 0.5 with the advantages 1, -1, 1 and -1. Work out four terms by hand. The "
        "loss is 0.15.",
        "In which of these four does the gradient vanish?",
        "Put 1,000 into log_p where the mask is False. What are its exponential, and infinity times zero?",
        "Begin with the ratio of each token, which is an exponential of a difference. Then write the two products, and "
        "take the smaller one of each token.",
    ),
    calls=(
        "clipped_loss(zeros(1, 2), zeros(1, 2), tensor([[1., 3.]]), ones(1, 2) > 0)",
        "clipped_loss(tensor([[9., 0.]]), zeros(1, 2), tensor([[1., 0.]]), tensor([[True, False]]))",
        "clipped_loss(zeros(1, 2), zeros(1, 2), tensor([[1., 3.]]), zeros(1, 2) > 0)",
        "clipped_loss(tensor([[9.]]), zeros(1, 1), ones(1, 1), ones(1, 1) > 0, 0.5)",
        "clipped_loss(tensor([[-99.]]), zeros(1, 1), -ones(1, 1), ones(1, 1) > 0, 0.5)",
        "clipped_loss(zeros(2, 2), zeros(2, 2), tensor([[1., 1.], [4., 0.]]), tensor([[True, True], [True, False]]))",
    ),
)
def clipped_loss(rng):
    """Ratios on both sides of both edges, never on one; lengths that differ; numbers behind the mask that overflow."""

    def asked(B, T, epsilon=0.2, dtype=torch.float64):
        """Ratios inside the edges and outside, at least a hundredth away from 1 - epsilon and 1 + epsilon."""
        inside = 1 + (epsilon - 0.03) * (2 * rng.uniform(B, T) - 1)
        above, below = 1 + epsilon + rng.uniform(B, T, low=0.05, high=1.0), (1 - epsilon) * rng.uniform(B, T, high=0.9)
        which = rng.permutation(B * T).view(B, T) % 3
        ratio = torch.where(which == 0, inside, torch.where(which == 1, above, below.clamp(min=0.02)))
        old = -rng.uniform(B, T, low=0.2, high=3.0)
        lengths = torch.cat([torch.tensor([T]), rng.integers(1, T, B - 1)])
        A = rng.normal(B, T)
        A = A + 0.2 * A.sign()
        return (old + ratio.log()).to(dtype), old.to(dtype), A.to(dtype), torch.arange(T) < lengths[:, None]

    def learned(title, log_p, *others, **options):
        return call(title, log_p.detach().requires_grad_(), *others, grad=False, **options).gradients()

    yield learned(SMALL, *asked(5, 7), public=True, weight=2.0)
    yield learned("another epsilon", *asked(3, 11, 0.4), 0.4)
    log_p, old, A, mask = asked(4, 5)
    yield learned("nothing has moved yet", old, old.clone(), A, mask, public=True, weight=0.5).counts_with(SMALL)
    yield learned("one advantage for all of an answer", log_p, old, A[:, :1].expand(4, 5).contiguous(), mask)
    log_p, old, A, mask = asked(3, 6)
    far = torch.where(mask, log_p, 2000.0)
    yield learned("log-probabilities that overflow behind the mask", far, old, A, mask, public=True, weight=2.0)
    yield learned("advantages of a million behind the mask", log_p, old, torch.where(mask, A, -1e6), mask)
    log_p, old, A, mask = asked(2, 5)
    yield learned("no own token", log_p, old, A, torch.zeros_like(mask), weight=0.5).counts_with(SMALL)
    lone = torch.arange(10).view(2, 5) == 6
    yield learned("one own token in all", *asked(2, 5)[:3], lone, weight=0.5)
    log_p, old, A, mask = asked(3, 7)
    yield learned("own tokens behind a prompt", log_p, old, A, mask.flip(1), public=True)
    for title, sign in (("only praise", 1.0), ("only blame", -1.0)):
        log_p, old, A, mask = asked(3, 5)
        yield learned(title, log_p, old, sign * A.abs(), mask)
    yield learned("float32", *asked(5, 3, dtype=torch.float32), public=True)
    given = call("no gradient flows into the old log-probabilities and the advantages", *asked(2, 3), weight=0.5)
    yield given.laws_only().law("not_reached", of="gradients of out", places=[1, 2], because=FROZEN).counts_with(SMALL)


def _clipped(log_p, old, A, mask, epsilon=0.2, *, combine=None, per_answer=False, whole=False, times=False):
    moved = log_p - old.detach()
    if not times:
        moved = moved.masked_fill(~mask, 0.0)
    A = A.detach().masked_fill(~mask, 0.0)
    if whole:
        moved = moved.sum(1, keepdim=True).expand_as(moved)
    ratio = moved.exp()
    inside = ratio.clamp(1 - epsilon, 1 + epsilon)
    gain = (combine(ratio, inside, A) if combine else torch.minimum(ratio * A, inside * A)) * mask
    if per_answer:
        return -(gain.sum(1) / mask.sum(1).clamp(min=1)).mean()
    return -gain.sum() / mask.sum().clamp(min=1)


def _chosen_late(log_p, old, A, mask, epsilon=0.2):
    """Right values: the padding goes behind its exponential, so its gradient is infinity times zero."""
    ratio, A = (log_p - old.detach()).exp(), A.detach()
    gain = torch.minimum(ratio * A, ratio.clamp(1 - epsilon, 1 + epsilon) * A)
    return -torch.where(mask, gain, 0.0).sum() / mask.sum().clamp(min=1)


clipped_loss.mistakes(
    "Take a ratio of 0.5 and an advantage of 1. Which is smaller, 0.5 or 0.8, and which one has a gradient?",
    clipped_alone=lambda *args: _clipped(*args, combine=lambda ratio, inside, A: inside * A),
)
clipped_loss.mistakes(
    "Take a ratio of 1.5 and an advantage of -1. Do you compare the ratios, or the products?",
    smaller_ratio=lambda *args: _clipped(*args, combine=lambda ratio, inside, A: torch.minimum(ratio, inside) * A),
)
clipped_loss.mistakes(
    "Take a ratio of 1.5 and an advantage of 1. What is gained at most, 1.5 or 1.2?",
    larger_of_the_two=lambda *args: _clipped(
        *args, combine=lambda ratio, inside, A: torch.maximum(ratio * A, inside * A)
    ),
    not_clipped=lambda *args: _clipped(*args, combine=lambda ratio, inside, A: ratio * A),
)
clipped_loss.mistakes(
    "Take an answer of one token and one of nine. By how many do you divide, and is each token worth the same?",
    mean_of_the_answers_means=lambda *args: _clipped(*args, per_answer=True),
)
clipped_loss.mistakes(
    "Change the log-probability of one token. How many ratios change?",
    one_ratio_for_the_whole_answer=lambda *args: _clipped(*args, whole=True),
)
clipped_loss.mistakes(
    "Put 2,000 into log_p behind the mask. What is exp(2000) times 0?",
    exponential_times_the_mask=lambda *args: _clipped(*args, times=True),
    chosen_behind_the_exponential=_chosen_late,
)
