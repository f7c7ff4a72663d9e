"""Wrong answers to `bptt` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.hidden.rnn.bptt import walk_back
from course.reference import rnn as reference


def without_h0(*inputs):
    right = walk_back(*inputs)
    return {name: right[name] for name in ("W_x", "W_h", "b")}


def zeros_for_h0(*inputs):
    found = walk_back(*inputs)
    return {**found, "h0": torch.zeros_like(found["h0"])}


def as_a_tuple(*inputs):
    return tuple(walk_back(*inputs).values())


def transposed_products(*inputs):
    right = walk_back(*inputs)
    return {**right, "W_h": right["W_h"].T}


def two_steps_only(*inputs):
    return walk_back(*inputs, steps=2)


def descent_already(*inputs):
    return {name: -value for name, value in walk_back(*inputs).items()}


def slope_of_sigmoid(*inputs):
    return walk_back(*inputs, slope=lambda h, a, before: h * (1 - h))


def gradient_of_the_first_sequence(*inputs):
    xs, h0, *weights, grad_h_T = inputs
    return {**walk_back(xs[:1], h0[:1], *weights, grad_h_T[:1]), "h0": walk_back(*inputs)["h0"]}


def accumulates_into_its_argument(xs, h0, W_x, W_h, b, grad_h_T):
    right = walk_back(xs, h0, W_x, W_h, b, grad_h_T)
    grad_h_T.copy_(right["h0"])
    return right


def by_autograd(xs, h0, W_x, W_h, b, grad_h_T):
    with torch.enable_grad():
        leaves = [value.detach().clone().requires_grad_() for value in (W_x, W_h, b, h0)]
        _, h_T = reference.rnn_forward(xs, leaves[3], *leaves[:3])
        (h_T * grad_h_T).sum().backward()
    return dict(zip(("W_x", "W_h", "b", "h0"), (leaf.grad for leaf in leaves), strict=True))


MUTANTS = [
    without_h0,
    zeros_for_h0,
    as_a_tuple,
    transposed_products,
    two_steps_only,
    descent_already,
    slope_of_sigmoid,
    gradient_of_the_first_sequence,
    accumulates_into_its_argument,
    by_autograd,
]
