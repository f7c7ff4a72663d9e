"""Compute digests of a model's weights, to compare the model with a checkpoint."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from .compiled import plain_name


def weights_of(model: Any) -> dict[str, str]:
    """Return the digest of each parameter, or none for anything but a module. Buffers are skipped: use changes them."""
    if not isinstance(model, nn.Module):
        return {}
    named = model.named_parameters(remove_duplicate=False)
    return digests({plain_name(name): parameter for name, parameter in named})


def digests(tensors: Mapping[str, Tensor]) -> dict[str, str]:
    """Return a digest of each tensor's type, shape and bits."""
    return {name: _digest(tensor.detach().cpu().contiguous()) for name, tensor in tensors.items()}


def _digest(tensor: Tensor) -> str:
    named = hashlib.sha256(f"{tensor.dtype} {tuple(tensor.shape)}".encode())
    named.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return named.hexdigest()[:32]
