"""Wrong answers to `GPT` that no misconception knows by name."""

from __future__ import annotations

from course.reference import gpt as reference


class NoGradientThroughVectors(reference.GPT):
    def forward(self, ids, cache=None):
        return super().forward(ids.detach(), cache)


MUTANTS = [NoGradientThroughVectors]
