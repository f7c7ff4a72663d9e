"""Right answers to topic 12 that look nothing like the reference."""

from __future__ import annotations

import copy
import math

import torch
from torch import nn
from torch.nn import functional as F

# -- the layer ---------------------------------------------------------------------------------------------------------


class InWeightSpace(nn.Module):
    """Adds the update to the weight at every call."""

    def __init__(self, base, r, alpha):
        super().__init__()
        for parameter in base.parameters():
            parameter.requires_grad = False
        self.base, self.r, self.alpha = base, r, alpha
        like = {"dtype": base.weight.dtype, "device": base.weight.device}
        self.A = nn.Parameter(torch.randn(r, base.in_features, **like) / math.sqrt(base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, r, **like))

    def forward(self, x):
        return F.linear(x, self.base.weight + self.alpha / self.r * (self.B @ self.A), self.base.bias)


class ByEinsum(nn.Module):
    """Registers its factors by hand, and names the axes."""

    def __init__(self, base, r, alpha):
        super().__init__()
        out_features, in_features = base.weight.shape
        self.add_module("base", base)
        base.weight.requires_grad_(False)
        if base.bias is not None:
            base.bias.requires_grad_(False)
        noise = torch.empty(r, in_features).normal_(std=0.02).to(base.weight)
        self.register_parameter("A", nn.Parameter(noise))
        self.register_parameter("B", nn.Parameter(base.weight.new_zeros((out_features, r))))
        self.r, self.alpha = r, alpha

    def forward(self, x):
        return self.base(x) + torch.einsum("...i,ri,or->...o", x * (self.alpha / self.r), self.A, self.B)


class WithDropoutLikeThePaper(nn.Module):
    """A dropout of zero before A, and a buffer for the scale: neither is anything to learn."""

    def __init__(self, base, r, alpha):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.r, self.alpha = r, alpha
        self.dropout = nn.Dropout(0.0)
        self.register_buffer("scale", torch.tensor(alpha / r, dtype=base.weight.dtype))
        self.A = nn.Parameter(torch.empty_like(base.weight[:1].expand(r, -1)).uniform_(-1, 1))
        self.B = nn.Parameter(torch.zeros_like(base.weight[:, :1]).repeat(1, r))

    def forward(self, x):
        down = F.linear(self.dropout(x), self.A)
        return self.base(x) + F.linear(down, self.B) * self.scale


class ByAFunctionalCall(nn.Module):
    """The base itself is called, with another weight in its place."""

    def __init__(self, base, r, alpha):
        super().__init__()
        self.base, self.r, self.alpha = base.requires_grad_(False), r, alpha
        self.A = nn.Parameter(nn.init.kaiming_uniform_(base.weight.new_empty(r, base.in_features), a=math.sqrt(5)))
        self.B = nn.Parameter(base.weight.new_zeros(base.out_features, r))

    def forward(self, x):
        weight = torch.addmm(self.base.weight, self.B, self.A, alpha=self.alpha / self.r)
        return torch.func.functional_call(self.base, {"weight": weight}, (x,))


LoRALinear = InWeightSpace
"""The name that a notebook has for its layer."""


# -- merging and taking apart ------------------------------------------------------------------------------------------


def merge_into_a_fresh_layer(layer):
    base = layer.base
    merged = nn.Linear(base.in_features, base.out_features, base.bias is not None).to(base.weight)
    merged.weight.data = base.weight.data + layer.alpha * (layer.B.data @ layer.A.data) / layer.r
    if base.bias is not None:
        merged.bias.data = base.bias.data.clone()
    return merged


@torch.no_grad()
def merge_a_copy(layer):
    merged = copy.deepcopy(layer.base)
    merged.weight.addmm_(layer.B, layer.A, alpha=layer.alpha / layer.r)
    return merged


def merge_by_asking_the_layer(layer):
    """What comes out for each unit vector is a column of the weight, and the bias."""
    with torch.no_grad():
        eye = torch.eye(layer.base.in_features, dtype=layer.base.weight.dtype)
        nothing = layer(0 * eye[:1])
        merged = copy.deepcopy(layer.base)
        merged.weight = nn.Parameter((layer(eye) - nothing).T.contiguous())
    return merged


def merge_that_may_learn(layer):
    """An ordinary layer, whose weight asks for a gradient."""
    merged = nn.Linear(layer.base.in_features, layer.base.out_features, layer.base.bias is not None).double()
    update = sum(torch.outer(layer.B[:, i], layer.A[i]) for i in range(layer.r))
    state = layer.base.state_dict()
    merged.to(layer.base.weight).load_state_dict({**state, "weight": state["weight"] + update * layer.alpha / layer.r})
    return merged


def merge_with_a_frozen_weight(layer):
    merged = nn.Linear(layer.base.in_features, layer.base.out_features, bias=False)
    update = torch.einsum("or,ri->oi", layer.B, layer.A) * layer.alpha / layer.r
    merged.weight = nn.Parameter((layer.base.weight + update).detach(), requires_grad=False)
    if layer.base.bias is not None:
        merged.bias = nn.Parameter(layer.base.bias.detach().clone(), requires_grad=False)
    return merged


def unmerge_a_copy(merged, layer):
    with torch.no_grad():
        base = copy.deepcopy(merged)
        base.weight -= layer.alpha / layer.r * layer.B @ layer.A
    return base


def unmerge_into_a_fresh_layer(merged, layer):
    base = nn.Linear(merged.in_features, merged.out_features, merged.bias is not None, dtype=merged.weight.dtype)
    update = (layer.B * (layer.alpha / layer.r)) @ layer.A
    state = {**merged.state_dict(), "weight": merged.weight - update}
    base.load_state_dict(state)
    return base


def unmerge_by_merging_the_opposite(merged, layer):
    opposite = copy.deepcopy(layer)
    opposite.base = copy.deepcopy(merged)
    with torch.no_grad():
        opposite.B.neg_()
    return merge_into_a_fresh_layer(opposite)


def unmerge_with_a_bias_put_in_later(merged, layer):
    """A layer without a bias, which gets one of its own."""
    base = nn.Linear(merged.in_features, merged.out_features, bias=False)
    base.weight = nn.Parameter((merged.weight - layer.alpha / layer.r * layer.B @ layer.A).detach())
    base.bias = copy.deepcopy(merged.bias)
    return base


# -- into a model ------------------------------------------------------------------------------------------------------


def add_by_recursion(model, r, alpha, targets):
    def already(module):
        return isinstance(module, InWeightSpace) or any(already(child) for child in module.children())

    def put(owner):
        done = 0
        for name, child in list(owner.named_children()):
            if isinstance(child, nn.Linear) and name in targets:
                setattr(owner, name, InWeightSpace(child, r, alpha))
                done += 1
            else:
                done += put(child)
        return done

    if already(model):
        raise ValueError("already adapted")
    for parameter in model.parameters():
        parameter.requires_grad = False
    if not put(model):
        raise ValueError("no such layer")
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


def add_and_freeze_by_name(model, r, alpha, targets):
    names = dict(model.named_modules())
    if any(isinstance(module, ByEinsum) for module in names.values()):
        raise ValueError("there is an adapter in this model")
    wanted = {n: m for n, m in names.items() if type(m) is nn.Linear and n.split(".")[-1] in set(targets)}
    if len(wanted) == 0:
        raise ValueError(f"nothing is called {targets}")
    for name, module in wanted.items():
        *path, last = name.split(".")
        owner = model
        for part in path:
            owner = getattr(owner, part)
        owner._modules[last] = ByEinsum(module, r, alpha)
    for name, parameter in model.named_parameters():
        parameter.requires_grad = name.split(".")[-1] in ("A", "B")
    return sum(m.A.numel() + m.B.numel() for m in model.modules() if isinstance(m, ByEinsum))


def add_by_endings(model, r, alpha, targets):
    if any(name.endswith(".base") for name, _ in model.named_modules()):
        raise ValueError("a second time")
    count = 0
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    for name, module in [*model.named_modules()]:
        if isinstance(module, nn.Linear) and any(("." + name).endswith("." + target) for target in targets):
            place, _, last = name.rpartition(".")  # torch 2.5 and later have `set_submodule`
            setattr(model.get_submodule(place), last, WithDropoutLikeThePaper(module, r, alpha))
            count += r * sum(module.weight.shape)
    if count == 0:
        raise ValueError("no match")
    return torch.tensor(count)


def bias_by_module(model):
    count = 0
    model.requires_grad_(False)
    for module in model.modules():
        bias = getattr(module, "bias", None)
        if isinstance(bias, nn.Parameter):
            bias.requires_grad_(True)
            count += bias.numel()
    return count


def bias_by_ending(model):
    for name, parameter in model.named_parameters():
        parameter.requires_grad = name.endswith(".bias")
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


def bias_by_own_parameters(model):
    counts = []
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False):
            parameter.requires_grad_(name == "bias")
            counts.append(parameter.numel() if name == "bias" else 0)
    return sum(counts)


# -- counting ----------------------------------------------------------------------------------------------------------


def count_by_identity(model):
    seen = {id(p): p for module in model.modules() for p in module._parameters.values() if p is not None}
    return sum(p.numel() for p in seen.values() if p.requires_grad), sum(p.numel() for p in seen.values())


def count_in_one_pass(model):
    learning = total = 0
    for _, parameter in model.named_parameters():
        size = math.prod(parameter.shape)
        total += size
        learning += size * parameter.requires_grad
    return [learning, total]


def count_with_tensors(model):
    sizes = torch.tensor([[p.numel() * p.requires_grad, p.numel()] for p in model.parameters()])
    learning, total = sizes.sum(0)
    return learning, total


def lora_by_sides(shapes, r):
    return r * sum(map(sum, shapes))


def lora_by_factors(shapes, r):
    return sum(torch.empty(o, r).numel() + torch.empty(r, i).numel() for o, i in shapes)


def lora_in_a_loop(shapes, r):
    count = 0
    for shape in shapes:
        for side in shape:
            count += r * side
    return count


# -- saving ------------------------------------------------------------------------------------------------------------


def state_by_parameters(model):
    return {n: p.detach().clone() for n, p in model.named_parameters() if n.split(".")[-1] in {"A", "B"}}


def state_by_ending(model):
    return {name: value for name, value in model.state_dict().items() if name.endswith((".A", ".B"))}


def state_by_layers(model):
    state = {}
    for name, module in model.named_modules():
        if all(hasattr(module, part) for part in ("base", "A", "B", "r", "alpha")):
            state |= {f"{name}.A": module.A, f"{name}.B": module.B}
    return state


def state_by_class(model):
    """Its own layers, by their class: the tests make theirs of it."""
    layers = [name for name, module in model.named_modules() if isinstance(module, LoRALinear)]
    return {f"{name}.{part}": model.get_parameter(f"{name}.{part}").data for name in layers for part in ("A", "B")}


# -- how good a low rank can be ----------------------------------------------------------------------------------------


def split_evenly(W, r):
    U, S, Vh = torch.linalg.svd(W, full_matrices=False)
    root = S[:r].sqrt()
    return U[:, :r] * root, root[:, None] * Vh[:r]


def split_by_projection(W, r):
    """The best rows are W itself, seen from the r strongest directions."""
    _, vectors = torch.linalg.eigh(W.T @ W)  # smallest first
    A = vectors[:, -r:].T
    return W @ A.T, A


def split_from_the_left(W, r):
    values, vectors = torch.linalg.eigh(W @ W.T)
    B = vectors[:, values.argsort(descending=True)[:r]]
    return B, B.T @ W


def split_step_by_step(W, r):
    """The strongest direction, taken off; then that of what is left."""
    B, A, left = [], [], W
    for _ in range(r):
        U, S, Vh = torch.linalg.svd(left, full_matrices=False)
        B.append(U[:, 0] * S[0])
        A.append(Vh[0])
        left = left - torch.outer(B[-1], A[-1])
    return torch.stack(B, 1), torch.stack(A)


def split_in_full(W, r):
    U, S, V = torch.svd(W, some=False)
    return -U[:, :r] @ torch.diag(S[:r]), -V[:, :r].T


def split_by_eigenvectors(W, r):
    """The strongest directions of the smaller side, and W seen along them."""
    if len(W) > len(W.T):
        A, B = split_by_eigenvectors(W.T, r)
        return B.T, A.T
    strongest = torch.linalg.eigh(W @ W.T).eigenvectors[:, -r:]
    return strongest, strongest.T @ W


ALTERNATIVES = {
    "LoRALinear": [InWeightSpace, ByEinsum, WithDropoutLikeThePaper, ByAFunctionalCall],
    "merge": [
        merge_into_a_fresh_layer,
        merge_a_copy,
        merge_by_asking_the_layer,
        merge_that_may_learn,
        merge_with_a_frozen_weight,
    ],
    "unmerge": [
        unmerge_a_copy,
        unmerge_into_a_fresh_layer,
        unmerge_by_merging_the_opposite,
        unmerge_with_a_bias_put_in_later,
    ],
    "add_lora": [add_by_recursion, add_and_freeze_by_name, add_by_endings],
    "add_bitfit": [bias_by_module, bias_by_ending, bias_by_own_parameters],
    "trainable_parameters": [count_by_identity, count_in_one_pass, count_with_tensors],
    "lora_parameters": [lora_by_sides, lora_by_factors, lora_in_a_loop],
    "lora_state": [state_by_parameters, state_by_ending, state_by_layers, state_by_class],
    "best_rank_r": [
        split_evenly,
        split_by_projection,
        split_from_the_left,
        split_step_by_step,
        split_in_full,
        split_by_eigenvectors,
    ],
}
