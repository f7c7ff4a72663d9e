"""Right answers to topic 01 that look nothing like the reference."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field

import numpy as np
import torch

# -- count_ngrams ----------------------------------------------------------------------------------------------------


def counted_one_by_one(tokens, n):
    if n < 1:
        raise ValueError
    counts = Counter()
    for end in range(n, len(tokens) + 1):
        counts[tuple(tokens[end - n : end])] += 1
    return counts


class WindowCounter(Counter):
    """A subclass is a Counter, too."""


def counted_through_a_queue(tokens, n):
    if n <= 0:
        raise ValueError("n is too small")
    counts, window = WindowCounter(), deque(maxlen=n)
    for token in tokens:
        window.append(token)
        if len(window) == n:
            counts.update([tuple(window)])
    return counts


def counted_by_numpy(tokens, n):
    """The keys are tuples of numpy's own words and numbers, which equal Python's."""
    if n < 1:
        raise ValueError("n is too small")
    if len(tokens) < n:
        return Counter()
    return Counter(map(tuple, np.lib.stride_tricks.sliding_window_view(np.array(tokens), n)))


def counted_by_extending(tokens, n):
    if not n >= 1:
        raise ValueError(n)
    grams = [(token,) for token in tokens]
    for _ in range(n - 1):
        grams = [left + right[-1:] for left, right in itertools.pairwise(grams)]
    return Counter(grams)


# -- transition_matrix -----------------------------------------------------------------------------------------------


def matrix_by_counter(ids, vocab_size, alpha=0.0):
    pairs = Counter(zip(ids.tolist(), ids.tolist()[1:], strict=False))
    P = torch.empty(vocab_size, vocab_size, dtype=torch.float64)
    for v in range(vocab_size):
        row = [pairs[v, u] + alpha for u in range(vocab_size)]
        P[v] = torch.tensor([x / sum(row) for x in row] if sum(row) else [1 / vocab_size] * vocab_size)
    return P


def matrix_by_one_hot(ids, vocab_size, alpha=0.0):
    hot = torch.nn.functional.one_hot(ids, vocab_size).double()
    counts = hot[:-1].T @ hot[1:] + alpha
    counts[counts.sum(1) == 0] = 1.0
    return counts / counts.sum(1, keepdim=True)


def matrix_by_followers(ids, vocab_size, alpha=0.0):
    """A list of followers for every token, as one would keep them on cards."""
    followers = defaultdict(list)
    for previous, following in zip(ids[:-1].tolist(), ids[1:].tolist(), strict=True):
        followers[previous].append(following)
    rows = []
    for v in range(vocab_size):
        total = len(followers[v]) + alpha * vocab_size
        rows.append([(followers[v].count(u) + alpha) / total if total else 1 / vocab_size for u in range(vocab_size)])
    return torch.tensor(rows, dtype=torch.float32)


def matrix_by_numpy(ids, vocab_size, alpha=0.0):
    counts = np.full((vocab_size, vocab_size), float(alpha))
    np.add.at(counts, (ids[:-1].numpy(), ids[1:].numpy()), 1)
    with np.errstate(invalid="ignore"):
        P = counts / counts.sum(1, keepdims=True)
    return torch.from_numpy(np.where(np.isnan(P), 1 / vocab_size, P))


# -- perplexity ------------------------------------------------------------------------------------------------------


def perplexity_in_bits(log_probs):
    bits = -log_probs.mean() / math.log(2)
    return 2 ** bits.item()


def perplexity_as_a_geometric_mean(log_probs):
    return (1 / log_probs.exp().double()).log().mean().exp()


def perplexity_by_numpy(log_probs):
    return np.exp(-np.mean(log_probs.detach().numpy(), dtype=np.float64))


# -- sample_text -----------------------------------------------------------------------------------------------------


def sample_by_cumulative_sums(P, start, length, generator):
    edges = P.cumsum(1)
    text = []
    for _ in range(length):
        throw = torch.rand((), generator=generator, dtype=torch.float64).to(P.dtype) * edges[start, -1]
        start = min(int(torch.searchsorted(edges[start], throw, right=True)), len(P) - 1)
        text.append(start)
    return torch.tensor(text, dtype=torch.long)


def sample_by_exponential_race(P, start, length, generator):
    text = torch.zeros(length + 1, dtype=torch.long)
    text[0] = start
    for t in range(length):
        times = torch.empty_like(P[0]).exponential_(generator=generator) / P[text[t]]
        text[t + 1] = times.argmin()
    return text[1:]


def sample_by_one_seed(P, start, length, generator):
    """Python's dice, thrown from a seed that the generator gives."""
    dice = random.Random(int(torch.randint(2**31, (1,), generator=generator)))
    text = []
    for _ in range(length):
        start = dice.choices(range(len(P)), weights=P[start].tolist())[0]
        text.append(start)
    return torch.tensor(text)


# -- NGramModel ------------------------------------------------------------------------------------------------------


def sample_by_a_generator_of_tokens(P, start, length, generator):
    def walk(state):
        while True:
            state = int(torch.multinomial(P[state], 1, generator=generator))
            yield state

    return torch.tensor(list(itertools.islice(walk(start), length)))


def sample_by_numpys_dice(P, start, length, generator):
    """numpy throws them, and its seed is the generator's."""
    dice = np.random.default_rng(int(torch.randint(2**62, (1,), generator=generator)))
    text = np.empty(length, dtype=np.int64)
    for t in range(length):
        row = P[start].double().numpy()
        start = text[t] = dice.choice(len(row), p=row / row.sum())
    return torch.from_numpy(text)


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


# -- the task --------------------------------------------------------------------------------------------------------


class HalfAndHalf(ConstantWeights):
    """Constant weights again, fast enough for a long text."""


def six_with_constant_weights(vocab_size):
    return HalfAndHalf(6, vocab_size, 0.01)


def five_with_discounts(vocab_size):
    return _FastDiscounting(5, vocab_size, 0.1)


class _FastDiscounting(ConstantWeights):
    def next_distribution(self, context):
        tokens = context.tolist()
        P = torch.full((self.vocab_size,), self.alpha)
        unigram = self.followers[()]
        P[list(unigram)] += torch.tensor(list(unigram.values()))
        P = P / P.sum()
        for k in range(1, min(self.n - 1, len(tokens)) + 1):
            known = self.followers.get(tuple(tokens[len(tokens) - k :]))
            if not known:
                break
            P *= 0.75 * len(known) / known.total()
            P[list(known)] += (torch.tensor(list(known.values())) - 0.75) / known.total()
        return P


ALTERNATIVES = {
    "count_ngrams": [counted_one_by_one, counted_through_a_queue, counted_by_numpy, counted_by_extending],
    "transition_matrix": [matrix_by_counter, matrix_by_one_hot, matrix_by_followers, matrix_by_numpy],
    "perplexity": [perplexity_in_bits, perplexity_as_a_geometric_mean, perplexity_by_numpy],
    "sample_text": [
        sample_by_cumulative_sums,
        sample_by_exponential_race,
        sample_by_one_seed,
        sample_by_a_generator_of_tokens,
        sample_by_numpys_dice,
    ],
    "NGramModel": [
        ConstantWeights,
        TrustsLittle,
        TrustsMuch,
        AllOrdersAlike,
        AbsoluteDiscounting,
        PseudoCounts,
        KneserNey,
        DenseTables,
        BacksOffByRecursion,
    ],
    "markov_ngrams_task": [six_with_constant_weights, five_with_discounts],
}
