"""Hidden tests of `balance_loss`: shares of places, mean probabilities, and the gradient."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.exercise import call, exercise, noncontiguous
from course.reference import linear_time as reference


@exercise(
    reference.balance_loss,
    hints=(
        "Take four tokens and four experts, one each, and all logits 0. Write f and P down. Why is the loss 1?",
        "A count has no gradient. Through which factor can the loss teach the router?",
        "Begin with f and P, each of shape (E,). Which of them comes from `experts`, and which from `logits`? For each "
        "k, the shares f of all experts sum to one. Print the sum of yours for k = 2.",
    ),
    calls=(
        "balance_loss(zeros(2, 2), tensor([[0], [1]]))",
        "balance_loss(zeros(2, 2), tensor([[0], [0]]))",
        "balance_loss(tensor([[100., 0.], [100., 0.]]), tensor([[0], [0]]))",
        "balance_loss(tensor([[100., 0.], [100., 0.]]), tensor([[1], [1]]))",
        "balance_loss(zeros(1, 4), tensor([[0, 1]]))",
        "balance_loss(tensor([[100., 0., 0., 0.]]), tensor([[0, 1]]))",
    ),
)
def balance_loss(rng):
    """Experts that are not the top ones, too; k of one, two and three; what flows back."""

    def inputs(N, E, k, dtype=torch.float64, top=False):
        logits = rng.normal(N, E, dtype=dtype)
        chosen = logits if top else rng.normal(N, E)
        return logits, chosen.topk(k).indices

    yield call("two of five", *inputs(7, 5, 2, top=True), public=True, weight=2.0)
    yield call("experts that are not the likeliest", *inputs(7, 5, 2), public=True, weight=2.0)
    yield call("one of three", *inputs(11, 3, 1))
    yield call("three of seven", *inputs(5, 7, 3))
    yield call("as many tokens as experts", *inputs(5, 5, 2))
    crowd = rng.normal(7, 5)
    yield call("all go to the same expert", crowd, torch.full((7, 1), 3))
    yield call("one token", *inputs(1, 5, 2))
    yield call("float32", *inputs(7, 11, 2, torch.float32), public=True)
    yield call("memory that is not contiguous", *map(noncontiguous, inputs(5, 7, 2)), public=True)


def _shares(logits, experts):
    return F.one_hot(experts, logits.shape[-1]).to(logits.dtype).mean((0, 1))


def _loss(logits, experts, shares=None, means=None):
    shares = _shares(logits, experts) if shares is None else shares
    means = logits.softmax(-1).mean(0) if means is None else means
    return logits.shape[-1] * (shares * means).sum()


@balance_loss.misconception(
    "With k = 2, what do your shares sum to? The loss of an even spread should be 1 for every k.",
    convention="shares of tokens, which sum to k, as in Mixtral's code",
)
def shares_of_tokens(logits, experts):
    E = logits.shape[-1]
    shares = F.one_hot(experts, E).to(logits.dtype).sum(1).mean(0)
    return E * (shares * logits.softmax(-1).mean(0)).sum()


@balance_loss.misconception("Spread the tokens evenly over five experts. Is your loss 1, or one fifth?")
def number_of_experts_left_out(logits, experts):
    E = logits.shape[-1]
    shares = F.one_hot(experts, E).to(logits.dtype).mean((0, 1))
    return (shares * logits.softmax(-1).mean(0)).sum()


balance_loss.mistakes(
    "Ask for the gradient with respect to the logits. A count has none. What is left?",
    counts_alone=lambda logits, experts: _loss(logits, experts, means=_shares(logits, experts)) + 0 * logits.sum(),
    gradient_cut=lambda logits, experts: _loss(logits.detach(), experts),
)
balance_loss.mistakes(
    "Choose other experts for the same logits. The loss should change. Does yours?",
    probabilities_alone=lambda logits, experts: _loss(logits, experts, shares=logits.softmax(-1).mean(0)),
)


balance_loss.mistakes(
    "Add 3 to all logits of a token. Its probabilities stay as they are. Does your loss?",
    logits_for_probabilities=lambda logits, experts: _loss(logits, experts, means=logits.mean(0)),
)
balance_loss.mistakes(
    "Sum the probabilities of one token over the experts. Do they give 1?",
    softmax_over_tokens=lambda logits, experts: _loss(logits, experts, means=logits.softmax(0).mean(-2)),
)
balance_loss.mistakes(
    "With k = 2, which of the two chosen experts do you count?",
    first_choice_alone=lambda logits, experts: _loss(logits, experts, shares=_shares(logits, experts[:, :1])),
)
