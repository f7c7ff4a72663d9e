"""Right answers to `patch` that look nothing like the reference."""

from __future__ import annotations

import contextlib

import torch


@contextlib.contextmanager
def _replaced(module, hook):
    handle = module.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()


def with_a_context(model, module, ids, value, where):
    def hook(_, inputs, output):
        return value.to(output.dtype).expand_as(output).where(where.expand_as(output), output)

    with _replaced(module, hook):
        return model(ids)


def with_another_forward(model, module, ids, value, where):
    """Replace `forward` of this one object, and put it back."""
    own = "forward" in vars(module)
    usual = module.forward
    module.forward = lambda *given: torch.where(where, value, usual(*given))
    try:
        return model(ids)
    finally:
        if own:
            module.forward = usual
        else:
            del module.forward


ALTERNATIVES = [with_a_context, with_another_forward]
