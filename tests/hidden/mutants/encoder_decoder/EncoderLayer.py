"""Wrong answers to `EncoderLayer` that no misconception knows by name."""

from __future__ import annotations

from torch.nn import functional as F

from course.reference import encoder_decoder as reference


class EncoderNormOverWords(reference.EncoderLayer):
    """Future leaks though the mask is right (MorvanZhou/NLP-Tutorials #10)."""

    def around(self, norm, sublayer, x):
        return super().around(lambda y: norm((y - y.mean(1, keepdim=True)) / (y.std(1, keepdim=True) + 1)), sublayer, x)


class EncoderDetached(reference.EncoderLayer):
    def around(self, norm, sublayer, x):
        return super().around(norm, lambda y: sublayer(y).detach(), x)


class EncoderDropsInEvaluationInPreNorm(reference.EncoderLayer):
    def around(self, norm, sublayer, x):
        if self.norm == "post":
            return super().around(norm, sublayer, x)
        return x + F.dropout(sublayer(norm(x)), self.dropout.p)


class EncoderOpensEmptyRows(reference.EncoderLayer):
    """Let a sentence that is padding only attend to its padding."""

    def forward(self, x, mask=None):
        return super().forward(x, None if mask is None else mask | ~mask.any(-1, keepdim=True))


MUTANTS = [EncoderNormOverWords, EncoderDetached, EncoderDropsInEvaluationInPreNorm, EncoderOpensEmptyRows]
