"""Right answers to `cbow_task` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch import nn

from course.data import grammar


class FromCounts(nn.Module):
    """No training at all: neighbours by counts of contexts, predictions by the rules. In double precision."""

    def __init__(self):
        super().__init__()
        text = grammar.language().draw_text(64, 2000, torch.Generator().manual_seed(0))
        V = len(grammar.language().words)
        counts = torch.zeros(V, 4 * V, dtype=torch.float64)
        for column, shift in enumerate((-2, -1, 1, 2)):
            pairs = text[:, 2:-2] * 4 * V + column * V + text[:, 2 + shift : text.shape[1] - 2 + shift]
            counts.view(-1).index_add_(0, pairs.flatten(), torch.ones(pairs.numel(), dtype=torch.float64))
        self.E = nn.Parameter(counts.sqrt())

    def forward(self, contexts):
        return grammar.language().centre(contexts, ordered=False).clamp(min=1e-9).log() + 3.0


ALTERNATIVES = [FromCounts()]
