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


def two_steps_only(*inputs):
    return walk_back(*inputs, steps=2)


def accumulates_into_its_argument(*inputs):
    right = walk_back(*inputs)
    inputs[-1].copy_(right["h0"])
    return right


MUTANTS = [two_steps_only, accumulates_into_its_argument]
