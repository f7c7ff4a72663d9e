"""Hidden tests of `swiglu`: what goes through SiLU, and what is multiplied with it."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.exercise import call, exercise, noncontiguous
from course.reference import gpt as reference


@exercise(
    reference.swiglu,
    hints=(
        "SiLU of z is z · sigmoid(z). Which of the two products goes through it?",
        "Take D = F = 1, x = 1 and all weights 1. SiLU(1) = 1 · 0.731. What should come out? What is left if you set "
        "W_up to zero, and what if you set W_gate to zero?",
        "Begin with one product. x is (..., D) and W_gate is (F, D). How do they make (..., F)? Print that shape "
        "before you go on.",
    ),
    calls=(
        "swiglu(tensor([100., 2.]), tensor([[1., 0.]]), tensor([[0., 1.]]), tensor([[1.], [0.]]))",
        "swiglu(tensor([-100., 2.]), tensor([[1., 0.]]), tensor([[0., 1.]]), tensor([[1.], [0.]]))",
        "swiglu(tensor([100., -2.]), tensor([[1., 0.]]), tensor([[0., 1.]]), tensor([[1.], [0.]]))",
        "swiglu(tensor([0., 5.]), tensor([[1., 0.]]), tensor([[0., 1.]]), tensor([[1.], [0.]]))",
        "swiglu(tensor([2., 100.]), tensor([[1., 0.]]), zeros(1, 2), tensor([[1.], [0.]]))",
        "swiglu(tensor([100., 3.]), tensor([[1., 0.]]), tensor([[1., 0.]]), tensor([[0.], [1.]]))",
    ),
)
def swiglu(rng):
    """D and F differ; a token alone; a gate that is shut."""

    def inputs(shape, F_, dtype=torch.float64):
        D = shape[-1]
        return (
            rng.normal(*shape, dtype=dtype),
            *(rng.normal(F_, D, dtype=dtype) for _ in range(2)),
            rng.normal(D, F_, dtype=dtype),
        )

    yield call("a small batch", *inputs((2, 3, 5), 7), public=True, weight=2.0)
    yield call("a token without a batch", *inputs((5,), 11), public=True)
    yield call("narrower inside", *inputs((3, 2, 7), 2))
    yield call("as wide inside as outside", *inputs((2, 3, 5), 5), weight=2.0)
    yield call("one number a token", *inputs((2, 3, 1), 5))
    x, W_gate, W_up, W_down = inputs((2, 5, 3), 7)
    yield call("a gate that is wide open or shut", 30 * x, W_gate, W_up, W_down, grad=False)
    yield call("float32", *inputs((3, 2, 5), 7, dtype=torch.float32), public=True)
    scattered = (noncontiguous(tensor) for tensor in inputs((2, 3, 5), 7))
    yield call("memory that is not contiguous", *scattered, public=True)


def _with(activation):
    return lambda x, W_gate, W_up, W_down: (activation(x @ W_gate.T) * (x @ W_up.T)) @ W_down.T


swiglu.mistakes(
    "Set W_gate so that its products are strongly negative. Your output should shrink to zero. Which product is gated?",
    gate_and_up_exchanged=lambda x, W_gate, W_up, W_down: reference.swiglu(x, W_up, W_gate, W_down),
)
swiglu.mistakes(
    "Take x = 1 and all weights 1. Is your result 0.731, as it should be? And for x = 2 and the same weights, 3.523?",
    sigmoid_for_silu=_with(torch.sigmoid),
)
swiglu.mistakes(
    "Set W_up to zero. What should be left of the output?",
    nothing_goes_up=lambda x, W_gate, W_up, W_down: F.silu(x @ W_gate.T) @ W_down.T,
)
swiglu.mistakes(
    "Two products of x meet inside. Are they added or multiplied? Set one of the matrices to zero.",
    added_for_multiplied=lambda x, W_gate, W_up, W_down: (F.silu(x @ W_gate.T) + x @ W_up.T) @ W_down.T,
)


@swiglu.misconception("Your gate bends like GELU. Which function has the Swish of SwiGLU?", convention="GeGLU")
def gelu_for_silu(x, W_gate, W_up, W_down):
    return _with(F.gelu)(x, W_gate, W_up, W_down)


@swiglu.misconception("Your gate has a corner at 0. Which function has the Swish of SwiGLU?", convention="ReGLU")
def relu_for_silu(x, W_gate, W_up, W_down):
    return _with(torch.relu)(x, W_gate, W_up, W_down)
