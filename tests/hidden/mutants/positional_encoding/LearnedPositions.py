"""Wrong answers to `LearnedPositions` that no misconception knows by name."""

from __future__ import annotations

import math

import torch
from torch import nn

from course.reference.positional_encoding import LearnedPositions


class WordsAsNumbers(LearnedPositions):
    """A layer that detaches its input."""

    def forward(self, x):
        return super().forward(torch.tensor(x.tolist(), dtype=x.dtype))


class Doubled(LearnedPositions):
    def forward(self, x):
        return 2 * super().forward(x)


class StartsFromOnes(LearnedPositions):
    def __init__(self, max_len, d_model):
        super().__init__(max_len, d_model)
        nn.init.ones_(self.positions)


class RefusesItsLastPlace(LearnedPositions):
    """A layer that refuses texts as long as its table."""

    def forward(self, x):
        if x.shape[1] >= len(self.positions):
            raise ValueError("too long")
        return super().forward(x)


class WordsChanged(LearnedPositions):
    def forward(self, x):
        x[:] = super().forward(x)
        return x


class PlaceNoughtTakenForPadding(nn.Module):
    """A layer whose row 0 does not learn, as if it stood for padding."""

    def __init__(self, max_len, d_model):
        super().__init__()
        self.table = nn.Embedding(max_len, d_model, padding_idx=0)

    def forward(self, x):
        if x.shape[1] > self.table.num_embeddings:
            raise ValueError("too long")
        return x + self.table(torch.arange(x.shape[1]))


class OneNumberForEachPlace(LearnedPositions):
    def __init__(self, max_len, d_model):
        super().__init__(max_len, d_model)
        self.positions = nn.Parameter(torch.randn(max_len, 1))


class ALineOfPlaces(LearnedPositions):
    """A layer that sends the position's number through a linear map."""

    def __init__(self, max_len, d_model):
        super().__init__(max_len, 1)
        self.positions.requires_grad_(False)[:, 0] = torch.arange(max_len)
        self.line = nn.Linear(1, d_model)

    def forward(self, x):
        return x + self.line(super().forward(torch.zeros_like(x[..., :1])))


class DropsInTraining(LearnedPositions):
    def forward(self, x):
        return nn.functional.dropout(super().forward(x), 0.1, self.training)


class WordsMadeLoud(LearnedPositions):
    """A layer that multiplies words by the root of the width, as the Transformer of topic 10 does."""

    def forward(self, x):
        return super().forward(x * math.sqrt(x.shape[-1]))


class CountedFromTheEnd(LearnedPositions):
    def forward(self, x):
        super().forward(x)
        return x + self.positions[len(self.positions) - x.shape[1] :]


MUTANTS = [
    WordsAsNumbers,
    Doubled,
    StartsFromOnes,
    RefusesItsLastPlace,
    WordsChanged,
    PlaceNoughtTakenForPadding,
    OneNumberForEachPlace,
    ALineOfPlaces,
    DropsInTraining,
    WordsMadeLoud,
    CountedFromTheEnd,
]
