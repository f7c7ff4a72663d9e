"""Wrong answers to `LearnedPositions` that no misconception knows by name."""

from __future__ import annotations

import math

import torch
from torch import nn


class _Table(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.positions = nn.Parameter(0.02 * torch.randn(max_len, d_model))

    def forward(self, x):
        if x.shape[1] > len(self.positions):
            raise ValueError("too long")
        return x + self.positions[: x.shape[1]]


class WordsAsNumbers(_Table):
    """The words leave the graph, and come back as numbers."""

    def forward(self, x):
        return super().forward(torch.tensor(x.tolist(), dtype=x.dtype))


class Doubled(_Table):
    def forward(self, x):
        return 2 * super().forward(x)


class Clamped(_Table):
    def forward(self, x):
        places = torch.arange(x.shape[1]).clamp(max=len(self.positions) - 1)
        return x + self.positions[places]


class CutOff(_Table):
    def forward(self, x):
        return x[:, : len(self.positions)] + self.positions[: x.shape[1]]


class Concatenated(_Table):
    def forward(self, x):
        marks = super().forward(torch.zeros_like(x))
        return torch.cat([x, marks], dim=-1)


class StartsFromOnes(_Table):
    def __init__(self, max_len, d_model):
        super().__init__(max_len, d_model)
        nn.init.ones_(self.positions)


class RefusesItsLastPlace(_Table):
    """A table of seven that takes six words."""

    def forward(self, x):
        if x.shape[1] >= len(self.positions):
            raise ValueError("too long")
        return super().forward(x)


class WordsChanged(_Table):
    def forward(self, x):
        if x.shape[1] > len(self.positions):
            raise ValueError("too long")
        x += self.positions[: x.shape[1]]
        return x


class OtherError(_Table):
    def forward(self, x):
        if x.shape[1] > len(self.positions):
            raise IndexError("too long")
        return super().forward(x)


class PlaceNoughtTakenForPadding(nn.Module):
    """An embedding whose row 0 stays as it is, as if it stood for padding."""

    def __init__(self, max_len, d_model):
        super().__init__()
        self.table = nn.Embedding(max_len, d_model, padding_idx=0)

    def forward(self, x):
        if x.shape[1] > self.table.num_embeddings:
            raise ValueError("too long")
        return x + self.table(torch.arange(x.shape[1]))


class OneNumberForEachPlace(_Table):
    def __init__(self, max_len, d_model):
        super().__init__(max_len, d_model)
        self.positions = nn.Parameter(torch.randn(max_len, 1))


class ALineOfPlaces(_Table):
    """The number of the place, through a linear layer."""

    def __init__(self, max_len, d_model):
        nn.Module.__init__(self)
        self.max_len, self.line = max_len, nn.Linear(1, d_model)

    def forward(self, x):
        if x.shape[1] > self.max_len:
            raise ValueError("too long")
        return x + self.line(torch.arange(x.shape[1], dtype=x.dtype)[:, None])


class DropsInTraining(_Table):
    def forward(self, x):
        return nn.functional.dropout(super().forward(x), 0.1, self.training)


class LayerNormOverAll(_Table):
    def forward(self, x):
        return nn.functional.layer_norm(super().forward(x), x.shape[-1:])


class WordsMadeLoud(_Table):
    """Words times the root of the width, as the Transformer of topic 10 has it."""

    def forward(self, x):
        return super().forward(x * math.sqrt(x.shape[-1]))


class CountedFromTheEnd(_Table):
    def forward(self, x):
        super().forward(x)
        return x + self.positions[len(self.positions) - x.shape[1] :]


class OnlyTheMarks(_Table):
    def forward(self, x):
        return super().forward(torch.zeros_like(x))


class Multiplied(_Table):
    def forward(self, x):
        return x * super().forward(torch.zeros_like(x))


MUTANTS = [
    WordsAsNumbers,
    Doubled,
    Clamped,
    CutOff,
    Concatenated,
    StartsFromOnes,
    RefusesItsLastPlace,
    WordsChanged,
    OtherError,
    PlaceNoughtTakenForPadding,
    OneNumberForEachPlace,
    ALineOfPlaces,
    DropsInTraining,
    LayerNormOverAll,
    WordsMadeLoud,
    CountedFromTheEnd,
    OnlyTheMarks,
    Multiplied,
]
