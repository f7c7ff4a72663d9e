"""Right answers to `add_lora` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch import nn

from tests.hidden.alternatives.lora.scaffold import ByEinsum, InWeightSpace, WithDropoutLikeThePaper


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


ALTERNATIVES = [add_by_recursion, add_and_freeze_by_name, add_by_endings]
