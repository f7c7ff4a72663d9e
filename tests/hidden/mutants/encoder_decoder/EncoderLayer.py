"""Wrong answers to `EncoderLayer` that no misconception knows by name."""

from __future__ import annotations

from torch.nn import functional as F

from course.reference import encoder_decoder as reference


class EncoderNormedTwice(reference.EncoderLayer):
    def around(self, norm, sublayer, x):
        y = super().around(norm, sublayer, x)
        return norm(y) if self.norm == "post" else y


class EncoderDroppedBeforeTheSublayer(reference.EncoderLayer):
    def around(self, norm, sublayer, x):
        if self.norm == "pre":
            return x + sublayer(self.dropout(norm(x)))
        return norm(x + sublayer(self.dropout(x)))


class EncoderFeedForwardFirst(reference.EncoderLayer):
    def forward(self, x, mask=None):
        x = self.around(self.norm1, self.think, x)
        return self.around(self.norm2, lambda y: self.self_attention(y, y, mask)[0], x)


class EncoderNormOverWords(reference.EncoderLayer):
    """Future leaks though the mask is right (MorvanZhou/NLP-Tutorials #10)."""

    def around(self, norm, sublayer, x):
        return super().around(lambda y: norm((y - y.mean(1, keepdim=True)) / (y.std(1, keepdim=True) + 1)), sublayer, x)


class EncoderSeesOnlyThePast(reference.EncoderLayer):
    def forward(self, x, mask=None):
        past = reference.causal(x.shape[1])
        return super().forward(x, past if mask is None else mask & past)


class EncoderDetached(reference.EncoderLayer):
    def around(self, norm, sublayer, x):
        return super().around(norm, lambda y: sublayer(y).detach(), x)


class EncoderDropsInEvaluationInPreNorm(reference.EncoderLayer):
    def around(self, norm, sublayer, x):
        if self.norm == "post":
            return super().around(norm, sublayer, x)
        return x + F.dropout(sublayer(norm(x)), self.dropout.p)


class EncoderOpensEmptyRows(reference.EncoderLayer):
    """A sentence of padding alone looks at its padding."""

    def forward(self, x, mask=None):
        return super().forward(x, None if mask is None else mask | ~mask.any(-1, keepdim=True))


MUTANTS = [
    EncoderNormedTwice,
    EncoderDroppedBeforeTheSublayer,
    EncoderFeedForwardFirst,
    EncoderNormOverWords,
    EncoderSeesOnlyThePast,
    EncoderDetached,
    EncoderDropsInEvaluationInPreNorm,
    EncoderOpensEmptyRows,
]
