"""Right answers to `lora_state` that look nothing like the reference."""

from __future__ import annotations


def state_by_parameters(model):
    return {n: p.detach().clone() for n, p in model.named_parameters() if n.split(".")[-1] in {"A", "B"}}


def state_by_layers(model):
    state = {}
    for name, module in model.named_modules():
        if all(hasattr(module, part) for part in ("base", "A", "B", "r", "alpha")):
            state |= {f"{name}.A": module.A, f"{name}.B": module.B}
    return state


ALTERNATIVES = [state_by_parameters, state_by_layers]
