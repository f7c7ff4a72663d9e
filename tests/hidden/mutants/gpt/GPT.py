"""Wrong answers to `GPT`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

from course.reference import gpt as reference

# -- first attempts ----------------------------------------------------------------------------------------------------


class OneCacheForAllLayers(reference.GPT):
    def forward(self, ids, cache=None):
        x = self.embed(ids) if ids.dim() == 2 else ids
        for layer in self.layers:
            x, pair = layer(x, cache)
        return self.norm(x) @ self.words.weight.T, pair


FIRST_ATTEMPTS = {OneCacheForAllLayers: "Whose keys"}

# -- others ------------------------------------------------------------------------------------------------------------


class NoGradientThroughVectors(reference.GPT):
    def forward(self, ids, cache=None):
        return super().forward(ids.detach(), cache)


MUTANTS = [NoGradientThroughVectors]
