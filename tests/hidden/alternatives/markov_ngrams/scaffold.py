"""What several of this topic's answers are made of."""

from __future__ import annotations

from collections import Counter, defaultdict

import torch


class ConstantWeights:
    """Half of the weight for each order that knows the context (Jelinek and Mercer)."""

    trust = 0.5

    def __init__(self, n, vocab_size, alpha):
        self.n, self.vocab_size, self.alpha = n, vocab_size, alpha

    def fit(self, ids):
        tokens = ids.tolist()
        self.followers = defaultdict(Counter)
        for t, token in enumerate(tokens):
            for k in range(min(self.n, t + 1)):
                self.followers[tuple(tokens[t - k : t])][token] += 1
        return self

    def next_distribution(self, context):
        tokens = context.tolist()
        P = torch.full((self.vocab_size,), self.alpha + 1e-12, dtype=torch.float64)
        for token, count in self.followers[()].items():
            P[token] += count
        P = P / P.sum()
        for k in range(1, min(self.n - 1, len(tokens)) + 1):
            known = self.followers.get(tuple(tokens[len(tokens) - k :]))
            if known:
                seen = torch.zeros_like(P)
                for token, count in known.items():
                    seen[token] = count / known.total()
                P = self.trust * seen + (1 - self.trust) * P
        return P
