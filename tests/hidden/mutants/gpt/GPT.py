"""Wrong answers to `GPT` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import gpt as reference


class NothingIsCached(reference.GPT):
    """Reads each chunk as a text of its own."""

    def forward(self, ids, cache=None):
        return super().forward(ids)


class LastLogitsAlone(reference.GPT):
    def forward(self, ids, cache=None):
        logits, cache = super().forward(ids, cache)
        return logits[:, -1:], cache


class ProbabilitiesForLogits(reference.GPT):
    def forward(self, ids, cache=None):
        logits, cache = super().forward(ids, cache)
        return logits.softmax(-1), cache


class ScaledEmbeddings(reference.GPT):
    """As in 2017, and in Gemma."""

    def embed(self, ids):
        return super().embed(ids) * self.words.embedding_dim**0.5


class NoGradientThroughVectors(reference.GPT):
    def forward(self, ids, cache=None):
        return super().forward(ids.detach(), cache)


class ForgetsTheFirstKey(reference.GPT):
    """A window that slides too early."""

    def forward(self, ids, cache=None):
        if cache is not None:
            cache = [(k[:, :, 1:], v[:, :, 1:]) for k, v in cache]
        return super().forward(ids, cache)


class LogitsAlone(reference.GPT):
    def forward(self, ids, cache=None):
        return super().forward(ids, cache)[0]


class HalfTheLayers(reference.GPT):
    def forward(self, ids, cache=None):
        x, present = ids if ids.is_floating_point() else self.embed(ids), []
        layer = self.layers[0]
        for past in cache or [None] * len(self.layers):
            x, pair = layer(x, past)
            present.append(pair)
        return torch.matmul(self.norm(x), self.words.weight.T), present


MUTANTS = [
    NothingIsCached,
    LastLogitsAlone,
    ProbabilitiesForLogits,
    ScaledEmbeddings,
    NoGradientThroughVectors,
    ForgetsTheFirstKey,
    LogitsAlone,
    HalfTheLayers,
]
