"""Torch layers and models that exercises pass to answers: described as data and built by the runner.

Like every stand-in they consist of a name, tensors and further stand-ins. The runner builds torch's own layers with
the judge's weights in the answer's process, so answers meet the same layers as in practice.
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
    """Make a layer with weight (out, in) and, if given, bias (out,)."""
    layer = nn.Linear(weight.shape[1], weight.shape[0], bias is not None, dtype=weight.dtype)
    return _with(layer, weight=weight, bias=bias)


@maker
def embedding(weight: Tensor) -> nn.Embedding:
    """Make an embedding table (V, D)."""
    return _with(nn.Embedding(weight.shape[0], weight.shape[1], dtype=weight.dtype), weight=weight)


@maker
def layer_norm(weight: Tensor, bias: Tensor | None = None) -> nn.LayerNorm:
    """Make a layer norm over the last axis, of width D, with weight and bias (D,)."""
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
    """Make a module that applies named modules in sequence. Nested chains give the dotted names of a real model.

    `tied` maps the full name of a parameter to the one whose memory it shares. `buffers` are registered by name, and
    `own` are the chain's own parameters. Parameters named in `frozen` require no gradient.
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


class _Residual(nn.Module):
    """What goes in, plus what `inner` makes of it."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.inner(x)
        return x + found


@maker
def residual(inner: nn.Module) -> nn.Module:
    """Make a module that adds what `inner` returns to its input."""
    return _Residual(inner)


@maker
def hooked(inner: nn.Module, factor: float) -> nn.Module:
    """Hang a forward hook on `inner` that multiplies what it returns by `factor`."""
    inner.register_forward_hook(lambda module, inputs, output: factor * output)
    return inner


@maker
def despite_errors() -> Callable[..., Tensor]:
    """Make a function that calls `answer(*given)` and returns 1 if that raised an error, else 0."""

    def tried(answer: Callable[..., Any], *given: Any) -> Tensor:
        try:
            answer(*given)
        except Exception:  # noqa: BLE001 - the answer's code may raise any error
            return torch.ones(())
        return torch.zeros(())

    return tried


class _Adapted(nn.Module):
    """A layer with a low-rank update. `total` (out, in) is the weight it applies, including the update."""

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
    """Make a layer with `base` (frozen), `A` (r, in), `B` (out, r), `r` and `alpha` that applies the weight `total`.

    It is of the student's class `kind` if possible, because an answer may check for that class or use its attributes.
    If the class is missing or wrong, it is a layer with just these attributes.
    """
    return _of_kind(kind, copy.deepcopy(base), A, B, r, alpha) or _Adapted(base, A, B, r, alpha, total)


def _of_kind(kind: Any, base: nn.Linear, A: Tensor, B: Tensor, r: int, alpha: float) -> nn.Module | None:
    """Return `kind(base, r, alpha)` with these factors, or None if its attributes are not those of such a layer."""
    if not isinstance(kind, type) or not issubclass(kind, nn.Module):
        return None
    factors = {"A": A, "B": B}
    try:
        layer: Any = kind(base, r, alpha)
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
    except Exception:  # noqa: BLE001 - the answer's code may raise any error
        return None


@maker
def product(B_shape: tuple[int, int], A_shape: tuple[int, int]) -> Callable[..., Tensor]:
    """Make a function that splits a matrix by split(matrix, r) -> (B, A), and returns the product of both."""

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


@maker
def sampler(noise: Tensor) -> Callable[[Tensor, Any], Tensor]:
    """Make a function that lets a language model go on with ids (B, T), by noise (B, n, V) of Gumbel's distribution.

    The likeliest token of logits plus noise is a draw at temperature 1, and the same on every machine. The model is
    called as `model(ids, cache) -> (logits, cache)`. The result is the n new tokens of each row, (B, n).
    """

    @torch.no_grad()
    def write(ids: Tensor, model: Any) -> Tensor:
        drawn, kept, read = [], None, ids
        for now in noise.unbind(1):
            scores, kept = model(read, kept)
            read = (scores[:, -1].double() + now).argmax(-1, keepdim=True)
            drawn.append(read)
        return torch.cat(drawn, 1)

    return write


def _with(layer: M, **tensors: Tensor | None) -> M:
    """Return the layer with its parameters set to the tensors that are given."""
    layer.load_state_dict({name: tensor for name, tensor in tensors.items() if tensor is not None})
    return layer
