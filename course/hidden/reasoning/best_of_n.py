"""Hidden tests of `best_of_n`: the exact distribution of the best of n draws, with equal scores and zeros."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import reasoning as reference

SMALL = "seven answers, three draws"


@exercise(
    reference.best_of_n,
    hints=(
        "Take p = (0.5, 0.3, 0.2) with rising scores and n = 2. How likely is it that both draws are the first answer?",
        "The best of n draws is at most as good as an answer if all n are. How likely is that, and how likely is it "
        "to be worse than this answer?",
        "Begin with the case that no two scores are equal. Then let two answers share their score. How often is the "
        "best draw one of the two, and which one is it, if the first drawn stays?",
    ),
    calls=(
        "best_of_n(tensor([0.5, 0.5]), tensor([0., 1.]), 2)",
        "best_of_n(tensor([0.5, 0.5]), tensor([1., 1.]), 2)",
        "best_of_n(tensor([0.2, 0.8]), tensor([0., 1.]), 1)",
        "best_of_n(tensor([0., 1.]), tensor([9., 1.]), 3)",
        "best_of_n(tensor([0.5, 0.5]), tensor([1., 0.]), 3)",
    ),
)
def best_of_n(rng):
    """Scores in no order, one draw, many, equal scores of unequal answers, answers that are never drawn."""

    def asked(N, dtype=torch.float64):
        return rng.normal(N, dtype=dtype).softmax(0), rng.permutation(N).to(dtype)

    def best(title, p, scores, n, **options):
        return call(title, p, scores, n, grad=False, **options)

    yield best(SMALL, *asked(7), 3, public=True, weight=2.0)
    yield best("two draws", *asked(5), 2)
    yield best("many draws", *asked(11), 17)
    yield best("one draw changes nothing", *asked(4), 1, public=True, weight=0.5).counts_with(SMALL)
    p, _ = asked(6)
    yield best("equal scores", p, torch.tensor([1.0, 0, 1, 2, 2, 0]).double(), 3, public=True, weight=2.0)
    yield best("all scores equal", p, torch.full((6,), 4.0).double(), 5, weight=0.5).counts_with(SMALL)
    p, scores = asked(5)
    p = p.clone()
    p[[1, 3]] = 0
    yield best("answers that are never drawn", p / p.sum(), scores, 4, public=True)
    p = torch.tensor([0.0, 0.0, 0.4, 0.6]).double()
    yield best("nothing good is ever drawn", p, torch.tensor([5.0, 5, 1, 0]).double(), 2)
    yield best("scores below zero", p.flip(0), -asked(4)[1] - 3, 2)
    yield best("float32", *asked(9, torch.float32), 4, public=True)
    p, scores = asked(8)
    yield best("memory that is not contiguous", noncontiguous(p), noncontiguous(scores), 3, public=True)


def _together(p, scores, n):
    """How often the best of n draws has the score of each answer."""
    worse = (scores[:, None] > scores).to(p.dtype) @ p
    level = (scores[:, None] == scores).to(p.dtype) @ p
    return (worse + level) ** n - worse**n


best_of_n.mistakes(
    "Give two answers the same score and n = 1. Does the result equal p?",
    each_equal_gets_all=_together,
)
best_of_n.mistakes(
    "Let all scores be equal and p = (0.9, 0.1). Which answer is drawn first more often, and by how much?",
    equals_share_alike=lambda p, scores, n: _together(p, scores, n) / (scores[:, None] == scores).sum(1),
)


@best_of_n.misconception(
    "Let p = (0.5, 0.5), both scores 1 and n = 2. Which of the two is better, and what do you return?"
)
def sorted_without_equals(p, scores, n):
    order = scores.argsort(stable=True)
    below = p[order].cumsum(0)
    found = torch.zeros_like(p)
    found[order] = below**n - (below - p[order]).clamp(min=0) ** n
    return found


@best_of_n.misconception(
    "Let p = (0, 1) and the scores 2 and 1. What share of the draws has a score of 2? What is 0 / 0?"
)
def share_of_nothing(p, scores, n):
    return _together(p, scores, n) * p / ((scores[:, None] == scores).to(p.dtype) @ p)


@best_of_n.misconception("Add your result up. For continuous scores n p F^(n-1) is a density. Is this one continuous?")
def density(p, scores, n):
    return n * p * ((scores[:, None] >= scores).to(p.dtype) @ p) ** (n - 1)


@best_of_n.misconception("Take p = (0.5, 0.5) and the scores 1 and 2. Which of the two should gain by more draws?")
def worst_of_n(p, scores, n):
    return reference.best_of_n(p, -scores, n)


@best_of_n.misconception("Give the best answer the probability 0.01. Does n = 2 find it always?")
def always_the_best(p, scores, n):
    top = (scores == scores[p > 0].max()).to(p.dtype) * p
    return top / top.sum()


@best_of_n.misconception("Exchange the scores of two answers. Does your result change?")
def sharper(p, scores, n):
    return p**n / (p**n).sum()
