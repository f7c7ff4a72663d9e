"""Wrong answers to `QLoRALinear` that no misconception knows by name."""

from __future__ import annotations

from course.reference.bert import QLoRALinear, dequantise


class KeepsAFloatCopy(QLoRALinear):
    def __init__(self, base, r, alpha, block=64):
        super().__init__(base, r, alpha, block)
        self.W = [dequantise(self.codes, self.scales, self.levels, self.shape)]


class KeepsAByteForEachWeight(QLoRALinear):
    def forward(self, x):
        self.unpacked = self.codes.repeat_interleave(2, 1)
        return super().forward(x)


MUTANTS = [KeepsAFloatCopy, KeepsAByteForEachWeight]
