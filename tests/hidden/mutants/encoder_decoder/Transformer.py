"""Wrong answers to `Transformer` that no misconception knows by name."""

from __future__ import annotations

import math

import torch
from torch.nn import functional as F

from course.reference import encoder_decoder as reference


class ModelTakesBothMasksOrNone(reference.Transformer):
    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        if src_mask is None or tgt_mask is None:
            src_mask = tgt_mask = None
        return super().forward(src, tgt_in, src_mask, tgt_mask)


class ModelDropsInEvaluation(reference.Transformer):
    def embedded(self, ids, embed):
        return F.dropout(embed(ids) * math.sqrt(embed.embedding_dim) + self.positions[: ids.shape[1]], self.dropout.p)


class ModelDropsWordsOfTheTargetOnly(reference.Transformer):
    def embedded(self, ids, embed):
        x = embed(ids) * math.sqrt(embed.embedding_dim) + self.positions[: ids.shape[1]]
        return self.dropout(x) if embed is self.tgt_embed else x


class ModelOpensEmptySources(reference.Transformer):
    """Treat a source that is padding only as one without padding."""

    def real(self, ids):
        words = ids != self.pad
        return (words | ~words.any(1, keepdim=True))[:, None, None]


class ModelCountsItsWords(reference.Transformer):
    """Make the mask from the number of words, which is right only if all padding stands at the end."""

    def real(self, ids):
        return (torch.arange(ids.shape[1]) < (ids != self.pad).sum(1, keepdim=True))[:, None, None]


MUTANTS = [
    ModelTakesBothMasksOrNone,
    ModelDropsInEvaluation,
    ModelDropsWordsOfTheTargetOnly,
    ModelOpensEmptySources,
    ModelCountsItsWords,
]
