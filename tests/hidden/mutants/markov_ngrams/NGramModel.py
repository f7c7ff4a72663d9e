"""Wrong answers to `NGramModel` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import markov_ngrams as reference
from tests.hidden.mutants.markov_ngrams.scaffold import Counts


class Uniform(reference.NGramModel):
    def next_distribution(self, context):
        return torch.full((self.vocab_size,), 1 / self.vocab_size)


class PairsOnly(reference.NGramModel):
    def next_distribution(self, context):
        return super().next_distribution(context[-1:])


class DoubleSoftmax(reference.NGramModel):
    def next_distribution(self, context):
        return super().next_distribution(context).softmax(0)


class OneRow(reference.NGramModel):
    """A table of one row: (1, V)."""

    def next_distribution(self, context):
        return super().next_distribution(context)[None]


class ListOfNumbers(reference.NGramModel):
    def next_distribution(self, context):
        return super().next_distribution(context).tolist()


class ArrayOfNumbers(reference.NGramModel):
    def next_distribution(self, context):
        return super().next_distribution(context).numpy()


class RefusesShortContexts(reference.NGramModel):
    def next_distribution(self, context):
        if len(context) < self.n - 1:
            raise KeyError(tuple(context.tolist()))
        return super().next_distribution(context)


class RefusesUnknownContexts(reference.NGramModel):
    def next_distribution(self, context):
        if len([*self.followers.path(context.tolist())]) < min(len(context), self.n - 1):
            raise KeyError(tuple(context.tolist()))
        return super().next_distribution(context)


class RepeatsTheLastToken(reference.NGramModel):
    """n_ctx_last: the last token stands for the whole context."""

    def next_distribution(self, context):
        return super().next_distribution(context[-1:].repeat(self.n - 1) if len(context) else context)


class LosesTheFirstToken(reference.NGramModel):
    """n_offby1, at the other end: the first window is never counted."""

    def fit(self, ids):
        return super().fit(ids[1:])


class NeedsNoSecondFit(reference.NGramModel):
    """Keeps to the first text."""

    def fit(self, ids):
        return self if hasattr(self, "followers") and self.followers.counts else super().fit(ids)


class SumsToLess(reference.NGramModel):
    def next_distribution(self, context):
        return 0.99 * super().next_distribution(context)


class LongestWithAlpha(reference.NGramModel):
    """n_smooth on the longest window alone: after an unknown context everything is alike."""

    def fit(self, ids):
        self.counts = reference.count_ngrams(ids.tolist(), self.n)
        return super().fit(ids)

    def next_distribution(self, context):
        if len(context) < self.n - 1:
            return super().next_distribution(context)
        h = tuple(context.tolist()[len(context) - self.n + 1 :])
        row = torch.tensor([self.counts[(*h, u)] + self.alpha for u in range(self.vocab_size)], dtype=torch.float32)
        return row / row.sum() if row.sum() > 0 else torch.full_like(row, 1 / self.vocab_size)


class TablesOfOnes(reference.NGramModel):
    """n_set_dedupe: each window counts once."""

    def fit(self, ids):
        super().fit(ids)
        for context, counted in self.followers.counts.items():
            self.followers.counts[context] = dict.fromkeys(counted, sum(counted.values()) / len(counted))
        self.unigram = (self.unigram > 0) / (self.unigram > 0).sum()
        return self


class KeepsItsAnswers(reference.NGramModel):
    """Remembers what it has said, and a second text changes nothing of it."""

    def next_distribution(self, context):
        answers = self.__dict__.setdefault("answers", {})
        tokens = tuple(context.tolist())
        if tokens not in answers:
            answers[tokens] = super().next_distribution(context)
        return answers[tokens]


class NeverBeyondTrigrams(reference.NGramModel):
    """One table each for one, two and three tokens."""

    def __init__(self, n, vocab_size, alpha):
        super().__init__(min(n, 3), vocab_size, alpha)


class VocabularyOfTheText(reference.NGramModel):
    """As wide as the largest token that was read."""

    def fit(self, ids):
        if len(ids):
            self.vocab_size = int(ids.max()) + 1
        return super().fit(ids)


class UniformWithoutContext(reference.NGramModel):
    """A window of one token is looked up as if it had a context."""

    def next_distribution(self, context):
        if self.n == 1:
            return torch.full((self.vocab_size,), 1 / self.vocab_size)
        return super().next_distribution(context)


class SoftmaxOfCountsMixed(reference.NGramModel):
    """A softmax of the counts for each order, and their mean."""

    def fit(self, ids):
        self.counts = [reference.count_ngrams(ids.tolist(), order + 1) for order in range(self.n)]
        return super().fit(ids)

    def next_distribution(self, context):
        tokens, orders = tuple(context.tolist()), []
        for k in range(min(len(tokens), self.n - 1) + 1):
            row = [self.counts[k][(*tokens[len(tokens) - k :], word)] for word in range(self.vocab_size)]
            orders.append(torch.tensor(row, dtype=torch.float32).softmax(0))
        return torch.stack(orders).mean(0)


class FitReturnsNothing(reference.NGramModel):
    """Counts, and has nothing to say about it."""

    def fit(self, ids):
        super().fit(ids)


class AlphaTwice(reference.NGramModel):
    def __init__(self, n, vocab_size, alpha):
        super().__init__(n, vocab_size, 2 * alpha)


class AlphaSharedOut(reference.NGramModel):
    """One alpha for all tokens together."""

    def __init__(self, n, vocab_size, alpha):
        super().__init__(n, vocab_size, alpha / vocab_size)


class AlwaysOneMore(reference.NGramModel):
    """Laplace, whatever alpha is; with an alpha of 0 nothing is added."""

    def __init__(self, n, vocab_size, alpha):
        super().__init__(n, vocab_size, float(alpha > 0))


class _OwnCounts(reference.NGramModel):
    """P_1 of the shares of what `weighed` makes of the counts."""

    def fit(self, ids):
        super().fit(ids)
        counts = self.weighed(torch.bincount(ids, minlength=self.vocab_size).float())
        if counts.sum() > 0:
            self.unigram = counts / counts.sum()
        return self


class AlphaForTheUnseen(_OwnCounts):
    def weighed(self, counts):
        return counts.where(counts > 0, self.alpha)


class FlattenedCounts(_OwnCounts):
    def weighed(self, counts):
        return counts**0.9 + self.alpha


class LosesTheLastPair(reference.NGramModel):
    """Each token is counted, and the last window of two and more is not."""

    def fit(self, ids):
        super().fit(ids)
        self.followers = reference.NGramModel(self.n, self.vocab_size, self.alpha).fit(ids[:-1]).followers
        return self


MUTANTS = [
    Uniform,
    PairsOnly,
    Counts,
    DoubleSoftmax,
    OneRow,
    ListOfNumbers,
    ArrayOfNumbers,
    RefusesShortContexts,
    RefusesUnknownContexts,
    RepeatsTheLastToken,
    LosesTheFirstToken,
    NeedsNoSecondFit,
    SumsToLess,
    LongestWithAlpha,
    TablesOfOnes,
    KeepsItsAnswers,
    NeverBeyondTrigrams,
    VocabularyOfTheText,
    LosesTheLastPair,
    FitReturnsNothing,
    AlphaTwice,
    AlphaSharedOut,
    AlwaysOneMore,
    AlphaForTheUnseen,
    FlattenedCounts,
    UniformWithoutContext,
    SoftmaxOfCountsMixed,
]
