"""Right answers to `trainable_parameters` that look nothing like the reference."""

from __future__ import annotations

import torch


def count_by_identity(model):
    seen = {id(p): p for module in model.modules() for p in module._parameters.values() if p is not None}
    return sum(p.numel() for p in seen.values() if p.requires_grad), sum(p.numel() for p in seen.values())


def count_with_tensors(model):
    sizes = torch.tensor([[p.numel() * p.requires_grad, p.numel()] for p in model.parameters()])
    learning, total = sizes.sum(0)
    return learning, total


ALTERNATIVES = [count_by_identity, count_with_tensors]
