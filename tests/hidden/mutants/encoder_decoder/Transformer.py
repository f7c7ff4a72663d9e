"""Wrong answers to `Transformer` that no misconception knows by name."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F

from course.reference import encoder_decoder as reference


class ModelTiedCopy(reference.Transformer):
    """Output weights copied from the embedding at birth: the same numbers once, and never again."""

    def __init__(self, *sizes, **settings):
        super().__init__(*sizes, **settings)
        self.out = nn.Linear(self.tgt_embed.embedding_dim, self.tgt_embed.num_embeddings, bias=False)
        self.out.weight.data.copy_(self.tgt_embed.weight.data)

    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        logits = super().forward(src, tgt_in, src_mask, tgt_mask)
        hidden = torch.linalg.lstsq(self.tgt_embed.weight.double(), logits.transpose(1, 2).double()).solution
        return self.out(hidden.transpose(1, 2).to(self.out.weight.dtype))


class ModelBatchAsPlace(reference.Transformer):
    """`positions[:x.size(0)]` on a batch-first tensor (influenza_transformer #9)."""

    def embedded(self, ids, embed):
        return embed(ids) * math.sqrt(embed.embedding_dim) + self.positions[: len(ids), None]


class ModelStrictTriangle(reference.Transformer):
    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        if tgt_mask is None:
            T = tgt_in.shape[1]
            tgt_mask = torch.ones(T, T).tril(-1).bool() | (torch.arange(T) == 0)
        return super().forward(src, tgt_in, src_mask, tgt_mask)


class ModelOneStepAhead(reference.Transformer):
    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        if tgt_mask is None:
            tgt_mask = torch.ones(tgt_in.shape[1], tgt_in.shape[1]).tril(1).bool()
        return super().forward(src, tgt_in, src_mask, tgt_mask)


class ModelOwnMasksBesideTheGiven(reference.Transformer):
    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        future = self.real(tgt_in) & reference.causal(tgt_in.shape[1])
        source = self.real(src) if src_mask is None else src_mask & self.real(src)
        return super().forward(src, tgt_in, source, future if tgt_mask is None else tgt_mask & future)


class ModelTakesBothMasksOrNone(reference.Transformer):
    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        if src_mask is None or tgt_mask is None:
            src_mask = tgt_mask = None
        return super().forward(src, tgt_in, src_mask, tgt_mask)


class ModelHidesSpecialWords(reference.Transformer):
    """Whatever is no word of the vocabulary proper counts as padding."""

    def real(self, ids):
        return ((ids > 2) & (ids != self.pad))[:, None, None]

    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        if tgt_mask is None:
            tgt_mask = (tgt_in != self.pad)[:, None, None] & reference.causal(tgt_in.shape[1])
        return super().forward(src, tgt_in, src_mask, tgt_mask)


class ModelLastPlaceOnly(reference.Transformer):
    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        return super().forward(src, tgt_in, src_mask, tgt_mask)[:, -1]


class ModelLogProbabilities(reference.Transformer):
    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        return super().forward(src, tgt_in, src_mask, tgt_mask).log_softmax(-1)


class ModelDropsInEvaluation(reference.Transformer):
    def embedded(self, ids, embed):
        return F.dropout(embed(ids) * math.sqrt(embed.embedding_dim) + self.positions[: ids.shape[1]], self.dropout.p)


class ModelDropsWordsOfTheSourceOnly(reference.Transformer):
    def embedded(self, ids, embed):
        x = embed(ids) * math.sqrt(embed.embedding_dim) + self.positions[: ids.shape[1]]
        return self.dropout(x) if embed is self.src_embed else x


class ModelDropsWordsOfTheTargetOnly(reference.Transformer):
    def embedded(self, ids, embed):
        x = embed(ids) * math.sqrt(embed.embedding_dim) + self.positions[: ids.shape[1]]
        return self.dropout(x) if embed is self.tgt_embed else x


class ModelOneLayerAgain(reference.Transformer):
    """The first layer of the encoder in place of all of them."""

    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        layers, self.encoder = self.encoder, nn.ModuleList([self.encoder[0]] * len(self.encoder))
        logits = super().forward(src, tgt_in, src_mask, tgt_mask)
        self.encoder = layers
        return logits


class ModelOpensEmptySources(reference.Transformer):
    """As if a source of padding alone had been a full one."""

    def real(self, ids):
        words = ids != self.pad
        return (words | ~words.any(1, keepdim=True))[:, None, None]


class ModelCountsItsWords(reference.Transformer):
    """A mask made of the number of words: right where all padding stands behind them."""

    def real(self, ids):
        return (torch.arange(ids.shape[1]) < (ids != self.pad).sum(1, keepdim=True))[:, None, None]


MUTANTS = [
    ModelTiedCopy,
    ModelBatchAsPlace,
    ModelStrictTriangle,
    ModelOneStepAhead,
    ModelOwnMasksBesideTheGiven,
    ModelTakesBothMasksOrNone,
    ModelHidesSpecialWords,
    ModelLastPlaceOnly,
    ModelLogProbabilities,
    ModelDropsInEvaluation,
    ModelDropsWordsOfTheSourceOnly,
    ModelDropsWordsOfTheTargetOnly,
    ModelOneLayerAgain,
    ModelOpensEmptySources,
    ModelCountsItsWords,
]
