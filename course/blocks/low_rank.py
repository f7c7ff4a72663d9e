"""The low-rank updates of topic 12, as torch's parametrisation of a frozen weight."""

from __future__ import annotations

from collections.abc import Collection

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize


class LowRankUpdate(nn.Module):
    """An update of a weight (out, in) by alpha / r times B A. B begins as zero, so the update does, too."""

    def __init__(self, weight: Tensor, r: int, alpha: float) -> None:
        super().__init__()
        rows, columns = weight.shape
        self.down = nn.Parameter(torch.randn(r, columns, dtype=weight.dtype, device=weight.device) * columns**-0.5)
        self.up = nn.Parameter(weight.new_zeros(rows, r))
        self.strength = alpha / r

    def forward(self, weight: Tensor) -> Tensor:
        """Return the updated weight: (out, in) -> (out, in)."""
        return torch.addmm(weight, self.up, self.down, alpha=self.strength)


def add_low_rank(model: nn.Module, r: int, alpha: float, targets: Collection[str]) -> nn.Module:
    """Freeze a model and add a trainable update to every linear layer whose last name is in `targets`.

    The model is changed in place, and returned.
    """
    model.requires_grad_(False)
    chosen = [m for name, m in model.named_modules() if isinstance(m, nn.Linear) and name.split(".")[-1] in targets]
    for layer in chosen:
        parametrize.register_parametrization(layer, "weight", LowRankUpdate(layer.weight, r, alpha))
    return model
