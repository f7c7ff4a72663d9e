"""Wrong answers to `bptt`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch

from course.hidden.rnn.bptt import walk_back
from course.reference import rnn as reference

# -- first attempts ----------------------------------------------------------------------------------------------------


def by_autograd(xs, h0, W_x, W_h, b, grad_h_T):
    with torch.enable_grad():
        leaves = [value.detach().clone().requires_grad_() for value in (W_x, W_h, b, h0)]
        _, h_T = reference.rnn_forward(xs, leaves[3], *leaves[:3])
        (h_T * grad_h_T).sum().backward()
    return dict(zip(("W_x", "W_h", "b", "h0"), (leaf.grad for leaf in leaves), strict=True))


FIRST_ATTEMPTS = {
    by_autograd: "This exercise does not allow",
}

# -- others ------------------------------------------------------------------------------------------------------------


def zeros_for_h0(*inputs):
    found = walk_back(*inputs)
    return {**found, "h0": torch.zeros_like(found["h0"])}


def two_steps_only(*inputs):
    return walk_back(*inputs, steps=2)


def gradient_of_the_first_sequence(*inputs):
    xs, h0, *weights, grad_h_T = inputs
    return {**walk_back(xs[:1], h0[:1], *weights, grad_h_T[:1]), "h0": walk_back(*inputs)["h0"]}


def accumulates_into_its_argument(*inputs):
    right = walk_back(*inputs)
    inputs[-1].copy_(right["h0"])
    return right


MUTANTS = [zeros_for_h0, two_steps_only, gradient_of_the_first_sequence, accumulates_into_its_argument]
