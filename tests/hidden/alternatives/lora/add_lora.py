"""Right answers to `add_lora` that look nothing like the reference."""

from __future__ import annotations

from torch import nn

from tests.hidden.alternatives.lora.scaffold import ByEinsum, InWeightSpace


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


ALTERNATIVES = [add_by_recursion, add_and_freeze_by_name]
