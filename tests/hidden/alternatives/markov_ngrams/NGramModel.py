"""Right answers to `NGramModel` that look nothing like the reference."""

from __future__ import annotations

from collections import Counter, defaultdict

import torch

from tests.hidden.alternatives.markov_ngrams.scaffold import ConstantWeights


class TrustsLittle(ConstantWeights):
    trust = 0.2


class TrustsMuch(ConstantWeights):
    trust = 0.9


class KneserNey:
    """Lower orders count after how many different tokens one occurs; with no context at all, how often."""

    def __init__(self, n, vocab_size, alpha):
        self.n, self.vocab_size, self.alpha = n, vocab_size, alpha

    def fit(self, ids):
        tokens, before = ids.tolist(), defaultdict(lambda: defaultdict(set))
        self.seen = defaultdict(Counter)
        for t, token in enumerate(tokens):
            for k in range(min(t, self.n - 1) + 1):
                self.seen[tuple(tokens[t - k : t])][token] += 1
                if k:
                    before[tuple(tokens[t - k + 1 : t])][token].add(tokens[t - k])
        self.kinds = {h: Counter({u: len(kinds) for u, kinds in row.items()}) for h, row in before.items()}
        return self

    def next_distribution(self, context):
        return self._mixed(tuple(context.tolist()[max(0, len(context) - self.n + 1) :]), self.seen)

    def _mixed(self, h, table):
        if not h:
            counts = torch.tensor([self.seen[()][u] + self.alpha for u in range(self.vocab_size)])
            return counts / counts.sum()
        below, known = self._mixed(h[1:], self.kinds), table.get(h)
        if not known:
            return below
        discounted = torch.tensor([max(known[u] - 0.75, 0) for u in range(self.vocab_size)])
        return (discounted + 0.75 * len(known) * below) / known.total()


class DenseTables:
    """A full table V × … × V for each order, as long as memory lasts."""

    def __init__(self, n, vocab_size, alpha):
        self.n, self.V, self.alpha = n, vocab_size, alpha

    def fit(self, ids):
        self.tables = []
        for order in range(1, self.n + 1):
            table = torch.zeros((self.V,) * order)
            if len(ids) >= order:
                windows = ids.unfold(0, order, 1)
                table.index_put_(tuple(windows.T), torch.ones(len(windows)), accumulate=True)
            self.tables.append(table)
        return self

    def next_distribution(self, context):
        base = self.tables[0] + self.alpha
        P = base / base.sum()
        for k in range(1, min(len(context), self.n - 1) + 1):
            counts = self.tables[k][tuple(context[len(context) - k :])]
            total = counts.sum()
            weight = total / (total + 1.5)
            P = weight * counts / total.clamp(min=1) + (1 - weight) * P
        return P


ALTERNATIVES = [
    ConstantWeights,
    TrustsLittle,
    TrustsMuch,
    KneserNey,
    DenseTables,
]
