"""Wrong answers to `bptt`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch

from course.hidden.rnn.bptt import walk_back
from course.reference import rnn as reference

# -- first attempts ----------------------------------------------------------------------------------------------------


def _by_hand(xs, h0, W_x, W_h, b, grad_h_T, **wrong):
    """Walk back through time as a beginner. Each attempt gets one line wrong."""
    read = wrong.get("read", lambda hs, t: hs[:, t - 1] if t else h0)
    back = wrong.get("back", lambda delta: delta @ W_h)
    bias = wrong.get("bias", lambda delta: delta.sum(0))
    hs, _ = reference.rnn_forward(xs, h0, W_x, W_h, b)
    g_x, g_h, g_b, grad_h = 0, 0, 0, grad_h_T
    for t in reversed(range(xs.shape[1])):
        delta = (1 - hs[:, t] ** 2) * grad_h
        g_x, g_h, g_b = g_x + delta.T @ xs[:, t], g_h + delta.T @ read(hs, t), g_b + bias(delta)
        grad_h = back(delta)
    return {"W_x": g_x, "W_h": g_h, "b": g_b, "h0": delta if wrong.get("short") else grad_h}


def state_after_the_step(*inputs):
    return _by_hand(*inputs, read=lambda hs, t: hs[:, t])


def last_state_before_the_first(*inputs):
    return _by_hand(*inputs, read=lambda hs, t: hs[:, t - 1])


def transposed_as_in_the_formula(*inputs):
    return _by_hand(*inputs, back=lambda delta: delta @ inputs[3].T)


def delta_for_the_gradient_of_h0(*inputs):
    return _by_hand(*inputs, short=True)


def bias_of_each_sequence(*inputs):
    return _by_hand(*inputs, bias=lambda delta: delta)


def by_autograd(xs, h0, W_x, W_h, b, grad_h_T):
    with torch.enable_grad():
        leaves = [value.detach().clone().requires_grad_() for value in (W_x, W_h, b, h0)]
        _, h_T = reference.rnn_forward(xs, leaves[3], *leaves[:3])
        (h_T * grad_h_T).sum().backward()
    return dict(zip(("W_x", "W_h", "b", "h0"), (leaf.grad for leaf in leaves), strict=True))


FIRST_ATTEMPTS = {
    state_after_the_step: "Which state did W_h read in that step",
    last_state_before_the_first: "Which state did W_h read in that step",
    transposed_as_in_the_formula: "What does the gradient meet on its way back?",
    delta_for_the_gradient_of_h0: "Which number of the walk back do you return?",
    bias_of_each_sequence: "How many sequences share the bias?",
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
