"""Stand-ins that are torch modules, for exercises that are handed a layer or a model: described as data, built afresh.

Like every stand-in they are a name, tensors and further stand-ins; the runner builds them where the answer runs. They
are torch's own layers, with weights of the examiner's, so that an answer meets in them what it meets in practice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .stand_ins import maker

M = TypeVar("M", bound=nn.Module)


@maker
def linear(weight: Tensor, bias: Tensor | None = None) -> nn.Linear:
    """A layer with weight (out, in) and, if given, bias (out,)."""
    out_features, in_features = weight.shape
    layer = nn.Linear(in_features, out_features, bias is not None, dtype=weight.dtype)
    return _with(layer, weight=weight, bias=bias)


@maker
def embedding(weight: Tensor) -> nn.Embedding:
    """A table (V, D) of words."""
    return _with(nn.Embedding(*weight.shape, dtype=weight.dtype), weight=weight)


@maker
def layer_norm(weight: Tensor, bias: Tensor | None = None) -> nn.LayerNorm:
    """Normalises the last axis, of width D; weight and bias are (D,)."""
    layer = nn.LayerNorm(len(weight), bias=bias is not None, dtype=weight.dtype)
    return _with(layer, weight=weight, bias=bias)


@maker
def chain(
    parts: Mapping[str, nn.Module],
    tied: Mapping[str, str] | None = None,
    buffers: Mapping[str, Tensor] | None = None,
    frozen: tuple[str, ...] = (),
) -> nn.Sequential:
    """Named modules, one after the other; chains in chains make the dotted names of a real model.

    `tied` maps the full name of a parameter to the one it shares its memory with; `buffers` are registered under their
    names; the parameters named in `frozen` ask for no gradient.
    """
    model = nn.Sequential()
    for name, part in parts.items():
        model.add_module(name, part)
    for name, tensor in (buffers or {}).items():
        model.register_buffer(name, tensor)
    for name, other in (tied or {}).items():
        owner, _, last = name.rpartition(".")
        setattr(model.get_submodule(owner), last, model.get_parameter(other))
    for name in frozen:
        model.get_parameter(name).requires_grad_(False)
    return model


class _Adapted(nn.Module):
    """A layer with a low-rank update beside it; `total` (out, in) is the weight that it acts with, update included."""

    total: Tensor

    def __init__(self, base: nn.Linear, A: Tensor, B: Tensor, r: int, alpha: float, total: Tensor) -> None:
        super().__init__()
        self.base = base.requires_grad_(False)
        self.A, self.B = nn.Parameter(A), nn.Parameter(B)
        self.r, self.alpha = r, alpha
        self.register_buffer("total", total, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.total, self.base.bias)


@maker
def adapted(base: nn.Linear, A: Tensor, B: Tensor, r: int, alpha: float, total: Tensor) -> nn.Module:
    """A layer with `base` (frozen), `A` (r, in), `B` (out, r), `r` and `alpha`, which acts with the weight `total`."""
    return _Adapted(base, A, B, r, alpha, total)


@maker
def product(B_shape: tuple[int, int], A_shape: tuple[int, int]) -> Callable[..., Tensor]:
    """Calls a function that splits a matrix, function(matrix, r) -> (B, A), and multiplies what came of it."""

    def multiply(matrix: Tensor, r: int, split: Callable[[Tensor, int], Any]) -> Tensor:
        B, A = split(matrix, r)
        if tuple(B.shape) != tuple(B_shape) or tuple(A.shape) != tuple(A_shape):
            raise ValueError(
                f"B is {tuple(B.shape)} and A {tuple(A.shape)}; {tuple(B_shape)} and {tuple(A_shape)} were asked for"
            )
        return torch.matmul(B, A)

    return multiply


def _with(layer: M, **tensors: Tensor | None) -> M:
    """The layer with these numbers in its parameters."""
    layer.load_state_dict({name: tensor for name, tensor in tensors.items() if tensor is not None})
    return layer
