"""Wrong answers to `softmax`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch
from torch import Tensor

# -- first attempts ----------------------------------------------------------------------------------------------------


def formula_alone(x, dim):
    return torch.exp(x) / torch.exp(x).sum(dim, keepdim=True)


def no_axis(x, dim):
    return torch.exp(x) / torch.exp(x).sum()


def no_keepdim(x, dim):
    return torch.exp(x) / torch.exp(x).sum(dim)


def maximum_with_its_place(x, dim):
    exponentials = (x - x.max(dim, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim, keepdim=True)


def divided_by_the_scores(x, dim):
    return torch.exp(x) / x.sum(dim, keepdim=True)


def always_the_last_axis(x, dim):
    exponentials = (x - x.amax(-1, keepdim=True)).exp()
    return exponentials / exponentials.sum(-1, keepdim=True)


FIRST_ATTEMPTS = {
    formula_alone: "What is exp(1000) on a computer?",
    no_axis: "Sum one slice, then sum everything.",
    no_keepdim: "Print the shapes of both tensors in the line that fails.",
    maximum_with_its_place: "How many things does it return",
    divided_by_the_scores: "Which of the two stand below the bar",
    always_the_last_axis: "Ask for dim=0 of a table.",
}

# -- others ------------------------------------------------------------------------------------------------------------


def _softmax(x: Tensor, dim: int) -> Tensor:
    """Return a softmax without torch's own, because a mutant must fail by its values and not by a forbidden call."""
    exponentials = (x - x.amax(dim, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim, keepdim=True)


def squeezed(x, dim):
    """Lose axes of length one."""
    return _softmax(x, dim).squeeze()


def negative_axes_misread(x, dim):
    return _softmax(x, abs(dim) % x.ndim)


def one_maximum_for_all_beside_a_small_number(x, dim):
    exponentials = (x - x.max()).exp()
    return exponentials / (exponentials.sum(dim, keepdim=True) + 1e-9)


MUTANTS = [squeezed, negative_axes_misread, one_maximum_for_all_beside_a_small_number]
