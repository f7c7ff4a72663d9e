"""Wrong answers to `Bert` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.bert import Bert


class OneLayerForAll(Bert):
    def forward(self, ids, segments, mask):
        first = self.layers[0]
        self.layers, kept = torch.nn.ModuleList([first] * len(self.layers)), self.layers
        found = super().forward(ids, segments, mask)
        self.layers = kept
        return found


class PositionsFromOne(Bert):
    def forward(self, ids, segments, mask):
        table = self.positions.weight.data
        self.positions.weight.data = table.roll(-1, 0)
        found = super().forward(ids, segments, mask)
        self.positions.weight.data = table
        return found


class ResultsExchanged(Bert):
    def forward(self, ids, segments, mask):
        return super().forward(ids, segments, mask)[::-1]


MUTANTS = [OneLayerForAll, PositionsFromOne, ResultsExchanged]
