"""Torch layers and models that exercises hand to students: described as data, built by the runner.

Like every stand-in they are a name, tensors and further stand-ins; the runner builds them where the answer runs. They
are torch's own layers, with weights of the examiner's, so that an answer meets in them what it meets in practice.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .laws.plain import kinds
from .stand_ins import maker

M = TypeVar("M", bound=nn.Module)


@maker
def linear(weight: Tensor, bias: Tensor | None = None) -> nn.Linear:
    """A layer with weight (out, in) and, if given, bias (out,)."""
    layer = nn.Linear(weight.shape[1], weight.shape[0], bias is not None, dtype=weight.dtype)
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
    own: Mapping[str, Tensor] | None = None,
) -> nn.Sequential:
    """Named modules, one after the other; chains in chains make the dotted names of a real model.

    `tied` maps the full name of a parameter to the one it shares its memory with; `buffers` are registered under their
    names, and `own` are parameters of no part; the parameters named in `frozen` ask for no gradient.
    """
    model = nn.Sequential()
    for name, part in parts.items():
        model.add_module(name, part)
    for name, tensor in (buffers or {}).items():
        model.register_buffer(name, tensor)
    for name, tensor in (own or {}).items():
        model.register_parameter(name, nn.Parameter(tensor.clone()))
    for name, other in (tied or {}).items():
        place, _, attribute = name.rpartition(".")
        setattr(model.get_submodule(place), attribute, model.get_parameter(other))
    for name in frozen:
        model.get_parameter(name).requires_grad_(False)
    return model


class _Adapted(nn.Module):
    """A layer with a low-rank update beside it; `total` (out, in) is the weight it acts with, update included."""

    total: Tensor

    def __init__(self, base: nn.Linear, A: Tensor, B: Tensor, r: int, alpha: float, total: Tensor) -> None:
        super().__init__()
        self.base, self.r, self.alpha = base, r, alpha
        self.A, self.B = nn.Parameter(A), nn.Parameter(B)
        base.requires_grad_(False)
        self.register_buffer("total", total, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(x, self.total, self.base.bias)


@maker
def adapted(base: nn.Linear, A: Tensor, B: Tensor, r: int, alpha: float, total: Tensor, kind: Any = None) -> nn.Module:
    """A layer with `base` (frozen), `A` (r, in), `B` (out, r), `r` and `alpha`, which acts with the weight `total`.

    It is of the class `kind`, the answer's own, where that makes such a layer: an answer may ask for its class, or for
    what else it has. Otherwise, if that class is missing or wrong, it is a layer with just these attributes.
    """
    return _of_kind(kind, copy.deepcopy(base), A, B, r, alpha) or _Adapted(base, A, B, r, alpha, total)


def _of_kind(kind: Any, base: nn.Linear, A: Tensor, B: Tensor, r: int, alpha: float) -> nn.Module | None:
    """`kind(base, r, alpha)` with these factors; None if it does not hold what such a layer holds."""
    if not isinstance(kind, type) or not issubclass(kind, nn.Module):
        return None
    factors = {"A": A, "B": B}
    try:
        layer = kind(base, r, alpha)
        names = {name for name, _ in layer.named_parameters()}
        sizes = {name: getattr(layer, name).shape for name in factors}
        if names != {*factors, *(f"base.{name}" for name, _ in base.named_parameters())}:
            return None
        if sizes != {name: factor.shape for name, factor in factors.items()} or (layer.r, layer.alpha) != (r, alpha):
            return None
        with torch.no_grad():
            for name, factor in factors.items():
                setattr(layer, name, nn.Parameter(factor))
        layer.base.requires_grad_(False)
        return layer
    except Exception:  # noqa: BLE001 - it is the answer's code
        return None


@maker
def product(B_shape: tuple[int, int], A_shape: tuple[int, int]) -> Callable[..., Tensor]:
    """Calls a function that splits a matrix, function(matrix, r) -> (B, A), and multiplies what came of it."""

    def multiply(matrix: Tensor, r: int, split: Callable[[Tensor, int], Any]) -> Tensor:
        made = split(matrix, r)
        if not isinstance(made, tuple | list) or len(made) != 2:
            raise ValueError(f"expected two matrices B and A, got {kinds(made)}")
        B, A = made
        if tuple(B.shape) != tuple(B_shape) or tuple(A.shape) != tuple(A_shape):
            right, found = f"B {tuple(B_shape)} and A {tuple(A_shape)}", f"{tuple(B.shape)} and {tuple(A.shape)}"
            raise ValueError(f"expected matrices of shape {right}, got {found}")
        return torch.matmul(B, A)

    return multiply


def _with(layer: M, **tensors: Tensor | None) -> M:
    """The layer with these numbers in its parameters."""
    layer.load_state_dict({name: tensor for name, tensor in tensors.items() if tensor is not None})
    return layer
