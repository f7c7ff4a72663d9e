"""Hidden tests of `route`: the best experts first, weights that sum to one and learn."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import linear_time as reference


@exercise(
    reference.route,
    hints=(
        "Two experts are chosen for a token, with logits 2 and 1. What are their weights? They sum to one.",
        "For k = 1, print the shapes of both results. How many axes has each? Does a gradient flow from the weights to "
        "the logits?",
        "Begin with the choice alone. Which function returns the k largest logits of a row, and also where they stand? "
        "Print both before you make weights.",
    ),
    tolerance=1e-4,
    calls=(
        "route(tensor([[0., 5., 5.]]), 2)",
        "route(tensor([[9., 1., 2.]]), 1)",
        "route(tensor([[100., 0., 3.]]), 2)",
        "route(tensor([[4., 4.]]), 2)[0]",
        "route(numbers(3, 5), 2)[0].shape",
        "route(tensor([[1., 2., 3.]]), 3)[1]",
    ),
)
def route(rng):
    """One expert, all experts; the gradient through the weights; equal logits, of which any may be chosen.

    An answer may compute in float32 inside, and add 1e-6 to a divisor, as much code does.
    """

    def logits(N, E, dtype=torch.float64):
        return rng.normal(N, E, dtype=dtype)

    yield call("two of five", logits(7, 5), 2, public=True, weight=2.0)
    yield call("three of eleven", logits(3, 11), 3, weight=2.0)
    yield call("one of five", logits(7, 5), 1, public=True, weight=0.5).counts_with("two of five")
    yield call("all of them", logits(5, 3), 3)
    yield call("one token", logits(1, 7), 2)
    yield call("as many tokens as experts", logits(5, 5), 2)
    high = torch.tensor([0.25, 3.0, -0.5, 1.75, -10.0], dtype=torch.float64)
    yield call("logits of hundreds", torch.stack([high + 800, high - 800]), 2, grad=False)
    yield call("two of 499 that are nearly alike", rng.permutation(499)[None].double() / 499, 2)
    ties = torch.tensor([[1.0, 3, 3, 0, 3], [2, 2, 2, 2, 2], [0, 5, 1, 5, 1]], dtype=torch.float64)
    equal = call("equal logits", ties, 2, grad=False).laws_only().counts_with("two of five")
    yield equal.law("chooses_the_best", scores=ties)
    yield call("float32", logits(5, 7, torch.float32), 2, public=True)
    yield call("memory that is not contiguous", noncontiguous(logits(7, 5)), 3, public=True)


@route.misconception(
    "Sum the weights of a token. Do they give 1? Over which logits does your softmax run?",
    convention="probabilities among all experts, as in Switch and GShard",
)
def not_normalised(logits, k):
    return logits.softmax(-1).topk(k)


@route.misconception("Ask for the gradient of the weights with respect to the logits. Who could learn to route?")
def gradient_cut(logits, k):
    chosen, experts = logits.detach().topk(k)
    return chosen.softmax(-1), experts


@route.misconception("Print the shapes for k = 1. Each token has a list of experts, even if there is one in it.")
def axis_lost_for_one(logits, k):
    chosen, experts = logits.topk(k)
    return chosen.softmax(-1).squeeze(-1), experts.squeeze(-1)


@route.misconception(
    "Take logits 2 and 1 for two experts. The weights are 0.731 and 0.269. How many softmaxes did yours go through?"
)
def softmax_twice(logits, k):
    p, experts = logits.softmax(-1).topk(k)
    return p.softmax(-1), experts


@route.misconception("Give one token, and then the same token beside others. May its weights change?")
def softmax_over_tokens(logits, k):
    chosen, experts = logits.topk(k)
    return chosen.softmax(0), experts


@route.misconception("Print the logits of the experts that you chose, in their order. Which one comes first?")
def best_last(logits, k):
    chosen, experts = logits.topk(k)
    return chosen.flip(-1).softmax(-1), experts.flip(-1)


@route.misconception("How many numbers come back for a token? The weights are those of the k chosen experts alone.")
def a_weight_for_every_expert(logits, k):
    chosen, experts = logits.topk(k)
    return torch.zeros_like(logits).scatter(-1, experts, chosen.softmax(-1)), experts


@route.misconception("Two results are right, in the other order. Which one does the docstring name first?")
def experts_first(logits, k):
    chosen, experts = logits.topk(k)
    return experts, chosen.softmax(-1)
