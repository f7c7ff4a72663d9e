"""Wrong answers to `patch`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch

from course.hidden.inside.patch import hooked


def indexed_by_the_mask(model, module, ids, value, where):
    def hook(module, inputs, output):
        output = output.clone()
        output[where] = value
        return output

    return hooked(model, module, ids, hook)


def hook_without_inputs(model, module, ids, value, where):
    return hooked(model, module, ids, lambda module, output: torch.where(where, value, output))


def before_the_module(model, module, ids, value, where):
    handle = module.register_forward_pre_hook(lambda module, inputs: torch.where(where, value, inputs[0]))
    try:
        return model(ids)
    finally:
        handle.remove()


FIRST_ATTEMPTS = {
    indexed_by_the_mask: "does not match the shape of the indexed tensor",
    hook_without_inputs: "takes 2 positional arguments but 3 were given",
    before_the_module: "the values are right where `where` is False, and wrong elsewhere",
}


def without_gradients(model, module, ids, value, where):
    with torch.no_grad():
        return hooked(model, module, ids, lambda module, inputs, output: torch.where(where, value, output))


def evaluated(model, module, ids, value, where):
    model.eval()
    return hooked(model, module, ids, lambda module, inputs, output: torch.where(where, value, output))


def first_call_alone(model, module, ids, value, where):
    def hook(module, inputs, output):
        handle.remove()
        return torch.where(where, value, output)

    handle = module.register_forward_hook(hook)
    try:
        return model(ids)
    finally:
        handle.remove()


MUTANTS = [without_gradients, evaluated, first_call_alone]
