r"""Markov n-grams: the next token depends on the n − 1 before it, and probabilities are counts divided by counts.

Shannon's model of language. Slide a window of n tokens over a text, count what it shows, and read off how often each
token follows each context. To write, sample from those frequencies again and again.

    P(u_t | u_1 … u_{t−1})  ≈  P(u_t | u_{t−n+1} … u_{t−1})          the Markov assumption
    p_v(u) = (c(v, u) + α) / (c(v, ·) + α V)                         n = 2, add α
    perplexity = exp(−(1/T) Σ_t ln p(u_t))
    P_k(u | h) = (c(h, u) + N(h) P_{k−1}(u | h′)) / (c(h, ·) + N(h))  h′: h without its oldest token
    P_1(u)     = (c(u) + α) / (T + α V)

c counts, · sums over all tokens, N(h) is the number of *different* tokens seen after the context h.

Glossary: T tokens of text, V tokens in the vocabulary, n length of the window, k length of a context.

Sources: C. E. Shannon, "A Mathematical Theory of Communication", Bell System Technical Journal 27, 1948, sections 2–3
(the series of approximations); I. H. Witten and T. C. Bell, "The Zero-Frequency Problem", IEEE Transactions on
Information Theory 37, 1991, method C (the weights N(h)).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from itertools import count
from typing import Any, TypeVar

import torch
from torch import Tensor

Token = TypeVar("Token", bound=Hashable)


def count_ngrams(tokens: Sequence[Token], n: int) -> Counter[tuple[Token, ...]]:
    """Count each window of n neighbouring tokens that lies wholly inside the text. A shorter text has none.

    Raises:
        ValueError: n < 1.
    """
    if n < 1:
        raise ValueError(f"an n-gram has at least one token, got n = {n}")
    shifted = [tokens[offset:] for offset in range(n)]
    return Counter(zip(*shifted))  # zip ends with the shortest: the last window ends at the last token


def transition_matrix(ids: Tensor, vocab_size: int, alpha: float = 0.0) -> Tensor:
    """Probabilities of the next token, one row for each previous one: ids (T,) -> (V, V), rows sum to one.

    `alpha` is added to every count. A row without any count is uniform, because nothing is known about what follows.

    Raises:
        ValueError: `ids` is not a LongTensor (T,).
    """
    _check_ids(ids)
    pairs = ids[:-1] * vocab_size + ids[1:]  # (T − 1,): row and column as one number
    counts = torch.bincount(pairs, minlength=vocab_size**2).view(vocab_size, vocab_size)
    weights = counts.to(torch.get_default_dtype()) + alpha
    totals = weights.sum(dim=1, keepdim=True)  # (V, 1)
    return torch.where(totals > 0, weights / totals, 1 / vocab_size)


def perplexity(log_probs: Tensor) -> float:
    """exp of the mean negative natural log-probability of the T tokens of a text: log_probs (T,) -> a number.

    It is the number of equally likely choices that would be as hard to guess. A token of probability 0 makes it
    infinite.

    Raises:
        ValueError: there is no token.
    """
    if log_probs.ndim != 1 or len(log_probs) == 0:
        raise ValueError(f"expected the log-probabilities of at least one token, (T,), got {tuple(log_probs.shape)}")
    return torch.exp(-log_probs.mean()).item()


def sample_text(P: Tensor, start: int, length: int, generator: torch.Generator) -> Tensor:
    """Sample `length` ids, each from the row of P (V, V) of the token before it. `start` is not among them.

    Raises:
        ValueError: P is not square.
    """
    if P.ndim != 2 or P.shape[0] != P.shape[1]:
        raise ValueError(f"a transition matrix is square, (V, V), got {tuple(P.shape)}")
    text = torch.empty(length, dtype=torch.long, device=P.device)
    current = start
    for t in range(length):
        current = int(torch.multinomial(P[current], 1, generator=generator))
        text[t] = current
    return text


class NGramModel:
    """A model of order n: `fit(ids)` counts windows of 1 … n tokens, `next_distribution(context)` mixes their answers.

    A long context says more and was seen less often. So each order's frequencies are mixed with the distribution of the
    order below, which gets the larger share the more often something new has followed the context (Witten and Bell).
    After an unseen context the shorter ones answer, down to the unigrams, where `alpha` is added.

    Raises:
        ValueError: `n` or `vocab_size` is below one, or `alpha` below zero.
    """

    def __init__(self, n: int, vocab_size: int, alpha: float) -> None:
        if n < 1 or vocab_size < 1 or alpha < 0:
            raise ValueError(f"expected n ≥ 1, vocab_size ≥ 1 and alpha ≥ 0, got {n}, {vocab_size} and {alpha}")
        self.n, self.vocab_size, self.alpha = n, vocab_size, alpha
        self.fit(torch.empty(0, dtype=torch.long))

    def fit(self, ids: Tensor) -> NGramModel:
        """Count the text ids (T,), anew each time, and return the model.

        Raises:
            ValueError: `ids` is not a LongTensor (T,).
        """
        _check_ids(ids)
        self.followers: Any = Tree(ids, self.n, self.vocab_size) if len(ids) > LONG else Table(ids, self.n)
        weights = self.followers.unigrams(self.vocab_size) + torch.tensor(float(self.alpha))
        total = weights.sum()
        self.unigram = weights / total if total > 0 else torch.full_like(weights, 1 / self.vocab_size)  # (V,)
        self.asked: dict[Any, Tensor] = {}  # what was answered before, (V,) by context
        return self

    def next_distribution(self, context: Tensor) -> Tensor:
        """P(next token | context): context (k,) for any k -> (V,), sums to one. Only its last n − 1 tokens matter."""
        distribution = self.unigram
        for known in self.followers.path(context.tolist()):
            if known not in self.asked:
                seen, shares, remainder = self.followers[known]
                self.asked[known] = (distribution * remainder).index_add_(0, seen, shares)
            distribution = self.asked[known]
        return distribution.clone()


def language_model(vocab_size: int) -> NGramModel:
    """Our own choice for characters of English prose. Beyond n = 5 the held-out perplexity of 150,000 of them rises."""
    return NGramModel(n=5, vocab_size=vocab_size, alpha=0.1)


LONG = 10_000
"""Tokens of a text above which a `Tree` counts in place of a `Table`. It takes less time, and no `count_ngrams`."""


class Table:
    """All contexts of up to n − 1 tokens, with what follows each, counted by `count_ngrams`."""

    def __init__(self, ids: Tensor, n: int) -> None:
        self.n = n
        self.counts: dict[tuple[int, ...], dict[int, int]] = {}
        tokens = ids.tolist()
        for order in range(1, n + 1):
            for gram, times in count_ngrams(tokens, order).items():
                self.counts.setdefault(gram[:-1], {})[gram[-1]] = times

    def unigrams(self, vocab_size: int) -> Tensor:
        """How often each token was counted, (V,)."""
        weights = torch.zeros(vocab_size)
        for token, times in self.counts.get((), {}).items():
            weights[token] = times
        return weights

    def path(self, context: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """A context's last token, its last two, and so on, as far as the text has them."""
        for length in range(1, min(len(context), self.n - 1) + 1):
            known = tuple(context[-length:])
            if known not in self.counts:
                return  # never seen, so no longer context was seen either
            yield known

    def __getitem__(self, context: tuple[int, ...]) -> tuple[Tensor, Tensor, float]:
        """The tokens seen after a context, their shares c(h, u) / (c(h, ·) + N(h)), and what remains of one."""
        counted = self.counts[context]
        total = sum(counted.values()) + len(counted)
        shares = [times / total for times in counted.values()]
        return torch.tensor(list(counted)), torch.tensor(shares), len(counted) / total


class Tree:
    """The same as a tree, for long texts. A child is a context that is longer by one older token.

    A node is a number, and the empty context is 0. All followers stand in one tensor, ordered by node, so that a node
    only has to know its place there. A hundred thousand small tensors would take many times as long to make.
    """

    def __init__(self, ids: Tensor, n: int, vocab_size: int) -> None:
        self.vocab_size = vocab_size
        self.longer: dict[int, int] = {}  # node · V + older token -> the longer context's node
        node = torch.zeros_like(ids)  # the context of each token that has one of this length
        counted = [ids.unique(return_counts=True)]  # node · V + follower, and how often
        for length in range(1, n):
            longer, place = (node[1:] * vocab_size + ids[:-length]).unique(return_inverse=True)
            node = 1 + len(self.longer) + place
            self.longer.update(zip(longer.tolist(), count(1 + len(self.longer))))
            counted.append((node * vocab_size + ids[length:]).unique(return_counts=True))
        self.single = counted[0]
        pairs, counts = (torch.cat(parts) for parts in zip(*counted))
        nodes, self.tokens = pairs // vocab_size, pairs % vocab_size
        sizes = torch.bincount(nodes)  # N(h)
        weights = torch.bincount(nodes, counts) + sizes  # c(h, ·) + N(h)
        self.shares = (counts / weights[nodes]).to(torch.get_default_dtype())
        self.remainders = (sizes / weights).tolist()
        self.ends = [0, *sizes.cumsum(0).tolist()]

    def unigrams(self, vocab_size: int) -> Tensor:
        """How often each token was counted, (V,)."""
        tokens, times = self.single
        return torch.zeros(vocab_size).index_add_(0, tokens, times.to(torch.get_default_dtype()))

    def path(self, context: Sequence[int]) -> Iterator[int]:
        """The nodes of a context's last token, its last two, and so on, as far as the text has them."""
        node = 0
        for token in reversed(context):
            pair = node * self.vocab_size + token
            if pair not in self.longer:
                return  # never seen, so no longer context was seen either
            node = self.longer[pair]
            yield node

    def __getitem__(self, node: int) -> tuple[Tensor, Tensor, float]:
        """The tokens seen after a context, their shares c(h, u) / (c(h, ·) + N(h)), and what remains of one."""
        begin, end = self.ends[node], self.ends[node + 1]
        return self.tokens[begin:end], self.shares[begin:end], self.remainders[node]


def _check_ids(ids: Tensor) -> None:
    if ids.ndim != 1 or ids.dtype != torch.long:
        raise ValueError(f"expected ids as a LongTensor (T,), got {tuple(ids.shape)} of {ids.dtype}")
