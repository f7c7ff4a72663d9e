"""Wrong answers to topic 01 that the hidden tests must notice, beyond the misconceptions they know by name."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import torch

from course.reference import markov_ngrams as reference

# -- count_ngrams ----------------------------------------------------------------------------------------------------


def misses_the_first(tokens, n):
    if n < 1:
        raise ValueError
    return Counter(tuple(tokens[i : i + n]) for i in range(1, len(tokens) - n + 1))


def wraps_around(tokens, n):
    if n < 1:
        raise ValueError
    return Counter(tuple(tokens[(i + k) % len(tokens)] for k in range(n)) for i in range(len(tokens)))


def a_plain_dict(tokens, n):
    return dict(reference.count_ngrams(tokens, n))


def lists_of_pairs(tokens, n):
    return reference.count_ngrams(tokens, n).most_common()


def shares_for_counts(tokens, n):
    counts = reference.count_ngrams(tokens, n)
    return Counter({gram: count / counts.total() for gram, count in counts.items()})


def pairs_whatever_n(tokens, n):
    if n < 1:
        raise ValueError
    return Counter(itertools.pairwise(tokens))


def complains_about_short_texts(tokens, n):
    if n > len(tokens):
        raise ValueError
    return reference.count_ngrams(tokens, n)


# -- transition_matrix -----------------------------------------------------------------------------------------------


def joint(ids, vocab_size, alpha=0.0):
    """n_joint: counts divided by all windows."""
    P = reference.transition_matrix(ids, vocab_size, alpha)
    return P / vocab_size


def smoothing_forgets_the_vocabulary(ids, vocab_size, alpha=0.0):
    """n_smooth_noV."""
    counts = reference.count_ngrams(ids.tolist(), 2)
    totals = Counter(ids[:-1].tolist())
    rows = [
        [(counts[v, u] + alpha) / ((totals[v] + alpha) or math.inf) for u in range(vocab_size)]
        for v in range(vocab_size)
    ]
    return torch.tensor(rows)


def smoothing_counts_seen_tokens(ids, vocab_size, alpha=0.0):
    """n_smooth_seenV: alpha times the number of *seen* successors below."""
    counts = torch.zeros(vocab_size, vocab_size)
    for pair in zip(ids[:-1].tolist(), ids[1:].tolist(), strict=True):
        counts[pair] += 1
    totals = counts.sum(1, keepdim=True) + alpha * (counts > 0).sum(1, keepdim=True)
    return torch.where(totals > 0, (counts + alpha) / totals, 1 / vocab_size)


def one_symbol_too_many(ids, vocab_size, alpha=0.0):
    """n_bos_in_V."""
    return reference.transition_matrix(ids, vocab_size + 1, alpha)[:vocab_size, :vocab_size]


def one_symbol_too_few(ids, vocab_size, alpha=0.0):
    """n_noeos_in_V: V − 1 in the denominator."""
    counts = torch.zeros(vocab_size, vocab_size)
    for pair in zip(ids[:-1].tolist(), ids[1:].tolist(), strict=True):
        counts[pair] += 1
    totals = counts.sum(1, keepdim=True) + alpha * (vocab_size - 1)
    return torch.where(totals > 0, (counts + alpha) / totals, 1 / vocab_size)


def pairs_deduplicated(ids, vocab_size, alpha=0.0):
    """n_set_dedupe."""
    pairs = sorted(set(zip(ids[:-1].tolist(), ids[1:].tolist(), strict=True)))
    counts = torch.full((vocab_size, vocab_size), float(alpha))
    for pair in pairs:
        counts[pair] += 1
    totals = counts.sum(1, keepdim=True)
    return torch.where(totals > 0, counts / totals, 1 / vocab_size)


def always_laplace(ids, vocab_size, alpha=0.0):
    return reference.transition_matrix(ids, vocab_size, 1.0)


def alpha_for_empty_rows_only(ids, vocab_size, alpha=0.0):
    return reference.transition_matrix(ids, vocab_size, 0.0)


def whole_numbers(ids, vocab_size, alpha=0.0):
    return (100 * reference.transition_matrix(ids, vocab_size, alpha)).round().long()


def skips_one(ids, vocab_size, alpha=0.0):
    """n_cross, as near as we come: pairs of tokens that are not neighbours."""
    return reference.transition_matrix(ids[::2], vocab_size, alpha)


# -- perplexity ------------------------------------------------------------------------------------------------------


def logarithm_to_base_two(log_probs):
    """n_ppl_log2: exp of a mean taken in bits."""
    return float(torch.exp(-(log_probs / math.log(2)).mean()))


def divided_by_sentences(log_probs):
    """n_ppl_persent: one text, so the sum is divided by one."""
    return float(torch.exp(-log_probs.sum() / 1))


def last_token_not_counted(log_probs):
    """n_ppl_noeoscount: the sum over all, divided by all but one."""
    return float(torch.exp(-log_probs.sum() / max(len(log_probs) - 1, 1)))


def median_for_mean(log_probs):
    return float(torch.exp(-log_probs.median()))


def impossible_left_out(log_probs):
    return float(torch.exp(-log_probs[torch.isfinite(log_probs)].mean()))


def an_epsilon_for_safety(log_probs):
    """log(0) made silently finite."""
    return float(torch.exp(-(log_probs.exp() + 1e-10).log().mean()))


def rounded(log_probs):
    return round(float(torch.exp(-log_probs.mean())), 2)


def product_of_inverses(log_probs):
    return float((1 / log_probs.exp()).prod())


# -- sample_text -----------------------------------------------------------------------------------------------------


def greedy(P, start, length, generator):
    """n_argmax."""
    text = [start]
    for _ in range(length):
        text.append(int(P[text[-1]].argmax()))
    return torch.tensor(text[1:])


def uniform_over_seen(P, start, length, generator):
    """n_uniform."""
    return reference.sample_text((P > 0) * 1.0, start, length, generator)


def context_never_moves(P, start, length, generator):
    """n_ctx_last: the context is not updated from draw to draw."""
    return torch.stack([torch.multinomial(P[start], 1, generator=generator)[0] for _ in range(length)])


def sharpened(P, start, length, generator):
    return reference.sample_text(P**2, start, length, generator)


def flattened(P, start, length, generator):
    return reference.sample_text(P**0.5, start, length, generator)


def mixed_with_uniform(P, start, length, generator):
    return reference.sample_text(0.8 * P + 0.2 / len(P), start, length, generator)


def every_second_draw_forgotten(P, start, length, generator):
    text = []
    for t in range(length):
        drawn = int(torch.multinomial(P[start], 1, generator=generator))
        text.append(drawn)
        start = drawn if t % 2 == 0 else start
    return torch.tensor(text)


def one_too_many(P, start, length, generator):
    return reference.sample_text(P, start, length + 1, generator)


def floating_tokens(P, start, length, generator):
    return reference.sample_text(P, start, length, generator).float()


def backwards(P, start, length, generator):
    return reference.sample_text(P, start, length, generator).flip(0)


def reseeded(P, start, length, generator):
    torch.manual_seed(0)
    return reference.sample_text(P, start, length, torch.default_generator)


# -- NGramModel ------------------------------------------------------------------------------------------------------


class Uniform(reference.NGramModel):
    def next_distribution(self, context):
        return torch.full((self.vocab_size,), 1 / self.vocab_size)


class PairsOnly(reference.NGramModel):
    def next_distribution(self, context):
        return super().next_distribution(context[-1:])


class Counts(reference.NGramModel):
    def next_distribution(self, context):
        return super().next_distribution(context) * 100


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
        if self.n > 1 and len(context) and tuple(context[-(self.n - 1) :].tolist()) not in self.followers:
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
        return self if len(getattr(self, "followers", {})) else super().fit(ids)


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
        for context, (seen, _, remainder) in self.followers.items():
            share = torch.full((len(seen),), (1 - remainder) / len(seen))
            self.followers[context] = (seen, share, remainder)
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


# -- the task --------------------------------------------------------------------------------------------------------


def single_characters(vocab_size):
    return reference.NGramModel(1, vocab_size, 0.1)


def three_characters(vocab_size):
    return reference.NGramModel(3, vocab_size, 0.1)


def nine_characters(vocab_size):
    return reference.NGramModel(9, vocab_size, 0.1)


def uniform(vocab_size):
    return Uniform(5, vocab_size, 0.1)


def louder_than_one(vocab_size):
    return Counts(5, vocab_size, 0.1)


class _OutOfNothing(reference.NGramModel):
    """Every token is certain, and one that does not exist makes up for it."""

    def next_distribution(self, context):
        return torch.cat([torch.ones(self.vocab_size), torch.tensor([1.0 - self.vocab_size])]).double()


def certain_of_everything(vocab_size):
    return _OutOfNothing(1, vocab_size, 0.1)


def a_class_for_a_model(vocab_size):
    return reference.NGramModel


MUTANTS = {
    "count_ngrams": [
        misses_the_first,
        wraps_around,
        a_plain_dict,
        lists_of_pairs,
        shares_for_counts,
        pairs_whatever_n,
        complains_about_short_texts,
    ],
    "transition_matrix": [
        joint,
        smoothing_forgets_the_vocabulary,
        smoothing_counts_seen_tokens,
        one_symbol_too_many,
        one_symbol_too_few,
        pairs_deduplicated,
        always_laplace,
        alpha_for_empty_rows_only,
        whole_numbers,
        skips_one,
    ],
    "perplexity": [
        logarithm_to_base_two,
        divided_by_sentences,
        last_token_not_counted,
        median_for_mean,
        impossible_left_out,
        an_epsilon_for_safety,
        rounded,
        product_of_inverses,
    ],
    "sample_text": [
        greedy,
        uniform_over_seen,
        context_never_moves,
        sharpened,
        flattened,
        mixed_with_uniform,
        every_second_draw_forgotten,
        one_too_many,
        floating_tokens,
        backwards,
        reseeded,
    ],
    "NGramModel": [
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
    ],
    "markov_ngrams_task": [
        single_characters,
        three_characters,
        nine_characters,
        uniform,
        louder_than_one,
        certain_of_everything,
        a_class_for_a_model,
    ],
}

WITHOUT_COUNTERPART = {
    "n_nobos": "our texts have no sentence marks: the first tokens are simply not predicted",
    "n_noeos": "our texts have no sentence marks: `sample_text` is told how long to write",
    "n_cross": "one text, no sentences to cross; its nearest relative is `skips_one`",
    "n_ppl_persent": "no sentences to divide by; with one text it is the sum for the mean, `divided_by_sentences`",
    "n_ppl_noeoscount": "no sentence marks to leave out; its nearest relative is `last_token_not_counted`",
}
"""Rows of the published catalogue of n-gram mistakes that our signatures cannot show, and why."""
