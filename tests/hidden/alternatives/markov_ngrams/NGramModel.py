"""Right answers to `NGramModel` that look nothing like the reference."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

import torch

from tests.hidden.alternatives.markov_ngrams.scaffold import ConstantWeights


class TrustsLittle(ConstantWeights):
    trust = 0.2


class TrustsMuch(ConstantWeights):
    trust = 0.9


class AllOrdersAlike(ConstantWeights):
    """The plain mean of what all orders say that know the context."""

    def next_distribution(self, context):
        tokens = context.tolist()
        unigram = torch.full((self.vocab_size,), float(self.alpha))
        for token, count in self.followers[()].items():
            unigram[token] += count
        said = [unigram / unigram.sum()]
        for k in range(1, min(self.n - 1, len(tokens)) + 1):
            known = self.followers.get(tuple(tokens[len(tokens) - k :]))
            if known:
                said.append(torch.tensor([known[u] / known.total() for u in range(self.vocab_size)]))
        return torch.stack(said).mean(0)


class AbsoluteDiscounting(ConstantWeights):
    """Takes 0.75 off each count and gives it to the order below."""

    def next_distribution(self, context):
        return self._mixed(tuple(context.tolist()[max(0, len(context) - self.n + 1) :]))

    def _mixed(self, h):
        known = self.followers.get(h)
        if not h:
            counts = [known[u] if known else 0 for u in range(self.vocab_size)]
            total = sum(counts) + self.alpha * self.vocab_size
            return torch.tensor([(c + self.alpha) / total if total else 1 / self.vocab_size for c in counts])
        below = self._mixed(h[1:])
        if not known:
            return below
        discounted = torch.tensor([max(known[u] - 0.75, 0) for u in range(self.vocab_size)])
        return (discounted + 0.75 * len(known) * below) / known.total()


class PseudoCounts(ConstantWeights):
    """The order below as a handful of counts added to this one (a Dirichlet prior), looked up by scanning the text."""

    def fit(self, ids):
        self.ids = ids.clone()
        return self

    def next_distribution(self, context):
        counts = torch.bincount(self.ids, minlength=self.vocab_size) + self.alpha
        if counts.sum() == 0:
            counts = counts + 1.0
        P = counts / counts.sum()
        for k in range(1, min(len(context), self.n - 1) + 1):
            rows = self.ids.unfold(0, k + 1, 1) if len(self.ids) > k else self.ids.new_empty(0, k + 1)
            rows = rows[(rows[:, :-1] == context[-k:]).all(1)]
            counts = torch.bincount(rows[:, -1], minlength=self.vocab_size)
            P = (counts + 2.0 * P) / (counts.sum() + 2.0)
        return P


@dataclass
class BacksOffByRecursion:
    """A table for each context, made when it is first met; each level hands its doubt down to the next."""

    n: int
    vocab_size: int
    alpha: float
    tables: dict = field(default_factory=dict)

    def fit(self, ids):
        self.tables, text = {}, ids.tolist()
        for end, token in enumerate(text):
            for k in range(min(self.n - 1, end) + 1):
                table = self.tables.setdefault(tuple(text[end - k : end]), torch.zeros(self.vocab_size))
                table[token] += 1
        return self

    def next_distribution(self, context):
        tokens = tuple(context.tolist())
        return self.after(tokens[max(len(tokens) - self.n + 1, 0) :])

    def after(self, tokens):
        counts = self.tables.get(tokens, torch.zeros(self.vocab_size))
        if not tokens:
            return (counts + self.alpha) / (counts + self.alpha).sum()
        kinds = int((counts > 0).sum())
        return (counts + kinds * self.after(tokens[1:])) / (counts.sum() + kinds) if kinds else self.after(tokens[1:])


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
    AllOrdersAlike,
    AbsoluteDiscounting,
    PseudoCounts,
    KneserNey,
    DenseTables,
    BacksOffByRecursion,
]
