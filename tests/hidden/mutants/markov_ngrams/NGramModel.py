"""Wrong answers to `NGramModel`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

from collections import Counter

import torch

from course.reference import markov_ngrams as reference

# -- first attempts ----------------------------------------------------------------------------------------------------


class LongestWindowAlone:
    """A model with windows of n tokens only, as in `transition_matrix`."""

    def __init__(self, n, vocab_size, alpha):
        self.n, self.vocab_size, self.alpha = n, vocab_size, alpha

    def fit(self, ids):
        self.counts = reference.count_ngrams(ids.tolist(), self.n)
        return self

    def next_distribution(self, context):
        h = tuple(context.tolist()[-(self.n - 1) :])
        row = torch.tensor([self.counts[(*h, u)] + self.alpha for u in range(self.vocab_size)], dtype=torch.float32)
        return row / row.sum()


class _AllOrders:
    """A model with counts of all orders, which mixes them with weights of one half."""

    def __init__(self, n, vocab_size, alpha):
        self.n, self.vocab_size, self.alpha = n, vocab_size, alpha

    def fit(self, ids):
        self.count(ids.tolist())
        return self

    def count(self, tokens):
        self.followers = {}
        for order in range(1, self.n + 1):
            for gram, count in reference.count_ngrams(tokens, order).items():
                self.followers.setdefault(gram[:-1], Counter())[gram[-1]] += count

    def shares(self, h, alpha=0.0):
        row = torch.tensor([self.followers[h][u] + alpha for u in range(self.vocab_size)], dtype=torch.float32)
        return row / row.sum()

    def next_distribution(self, context):
        tokens = context.tolist()
        P = self.shares((), self.alpha)
        for k in range(1, min(self.n - 1, len(tokens)) + 1):
            if tuple(tokens[-k:]) in self.followers:
                P = 0.5 * self.shares(tuple(tokens[-k:])) + 0.5 * P
        return P


class NothingReturnedByFit(_AllOrders):
    def fit(self, ids):
        self.count(ids.tolist())


class UnknownContextIsNoKey(_AllOrders):
    def next_distribution(self, context):
        tokens = context.tolist()
        P = self.shares((), self.alpha)
        for k in range(1, min(self.n - 1, len(tokens)) + 1):
            P = 0.5 * self.shares(tuple(tokens[-k:])) + 0.5 * P
        return P


class BeginningOfTheContext(_AllOrders):
    def next_distribution(self, context):
        tokens = context.tolist()
        P = self.shares((), self.alpha)
        for k in range(1, min(self.n - 1, len(tokens)) + 1):
            if tuple(tokens[:k]) in self.followers:
                P = 0.5 * self.shares(tuple(tokens[:k])) + 0.5 * P
        return P


class TensorsForKeys(_AllOrders):
    def count(self, tokens):
        super().count(tokens)
        self.followers = {(torch.tensor(h) if h else h): counts for h, counts in self.followers.items()}

    def next_distribution(self, context):
        P = self.shares((), self.alpha)
        for k in range(1, min(self.n - 1, len(context)) + 1):
            if context[-k:] in self.followers:
                P = 0.5 * self.shares(context[-k:]) + 0.5 * P
        return P


class UnknownHalfLost(_AllOrders):
    def next_distribution(self, context):
        tokens = context.tolist()
        P = 0.5 * self.shares((), self.alpha)
        for k in range(1, min(self.n - 1, len(tokens)) + 1):
            if tuple(tokens[-k:]) in self.followers:
                P += 0.5**k * self.shares(tuple(tokens[-k:]))
        return P


class BacksOffAlone(_AllOrders):
    """A model that uses the longest known context alone, so that unseen tokens are impossible."""

    def next_distribution(self, context):
        tokens = context.tolist()
        for k in range(min(self.n - 1, len(tokens)), 0, -1):
            if tuple(tokens[-k:]) in self.followers:
                return self.shares(tuple(tokens[-k:]))
        return self.shares((), self.alpha)


FIRST_ATTEMPTS = {
    LongestWindowAlone: "its last token is well known",
    NothingReturnedByFit: "Is a `return` missing?",
    UnknownContextIsNoKey: "raised KeyError: (",
    BeginningOfTheContext: "only the last two tokens matter",
    TensorsForKeys: "Are they equal, and of the same type?",
    UnknownHalfLost: "the probabilities should sum to one",
    BacksOffAlone: "has probability 0 after some context",
}

# -- others ------------------------------------------------------------------------------------------------------------


class OneRow(reference.NGramModel):
    """A model whose table of single tokens has the shape (1, V)."""

    def next_distribution(self, context):
        return super().next_distribution(context)[None]


class RefusesShortContexts(reference.NGramModel):
    def next_distribution(self, context):
        if len(context) < self.n - 1:
            raise KeyError(tuple(context.tolist()))
        return super().next_distribution(context)


class NeedsNoSecondFit(reference.NGramModel):
    """A model that ignores a second `fit`."""

    def fit(self, ids):
        return self if hasattr(self, "followers") and self.followers.counts else super().fit(ids)


class NeverBeyondTrigrams(reference.NGramModel):
    """A model with tables for one, two and three tokens only."""

    def __init__(self, n, vocab_size, alpha):
        super().__init__(min(n, 3), vocab_size, alpha)


class VocabularyOfTheText(reference.NGramModel):
    """A model whose vocabulary ends with the largest token of the text."""

    def fit(self, ids):
        if len(ids):
            self.vocab_size = int(ids.max()) + 1
        return super().fit(ids)


class AlphaSharedOut(reference.NGramModel):
    """A model that shares one alpha out among all tokens."""

    def __init__(self, n, vocab_size, alpha):
        super().__init__(n, vocab_size, alpha / vocab_size)


class LosesTheLastPair(reference.NGramModel):
    """A model that misses the last window of two or more tokens."""

    def fit(self, ids):
        super().fit(ids)
        self.followers = reference.NGramModel(self.n, self.vocab_size, self.alpha).fit(ids[:-1]).followers
        return self


MUTANTS = [
    OneRow,
    RefusesShortContexts,
    NeedsNoSecondFit,
    NeverBeyondTrigrams,
    VocabularyOfTheText,
    LosesTheLastPair,
    AlphaSharedOut,
]
