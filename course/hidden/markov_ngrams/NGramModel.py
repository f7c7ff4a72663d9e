"""Hidden tests of `NGramModel`."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from course.exercise import Rng, build, exercise
from course.hidden.markov_ngrams.scaffold import windows
from course.reference import markov_ngrams as reference

_SHAPES = "for a context of any length, an answer is a tensor of the V next probabilities"

IN_ORDER = "two tokens of context, in their order"
"""The case that no constant passes: what holds of any distribution counts together with it."""


@exercise(
    reference.NGramModel,
    hints=(
        "Fit it on the text 0 1 0 1 0 2 and ask for the next token after 0, after 1, after 2 and after nothing. "
        "Do the four answers sum to one?",
        "For n = 3, print the part of the context that you look up. Try a context of five tokens, of two, of one, "
        "of none.",
        "Ask for a context that never occurred. What does your model know about its last token alone?",
    ),
)
def NGramModel(rng):
    """Right models differ in value: laws decide, one mechanism a case; the last case measures the mixture's worth."""
    names = rng.permutation(5)
    text = names[rng.integers(0, 5, 61)]
    contexts = [(rng.integers(0, 5, k),) for k in (0, 1, 2, 3, 5, 7, 2, 4)]
    last = torch.tensor([5])  # a token of its own, so that no other context stands at the end of a text
    certain = torch.stack([names[0], torch.tensor(6), names[1]])  # 6 has one token before it and one after it, ever
    yield (
        _fitted("distributions", 3, 7, 0.5, torch.cat([text, certain.repeat(3), last]), public=True)
        .map([*contexts, (certain[:2],)], method="next_distribution")
        .law("is_a_tensor")
        .law("shape_is", shape=(len(contexts) + 1, 7), because=_SHAPES)
        .law("finite")
        .law("bounded", low=0.0, because="a probability is below zero")
        .law("bounded", high=1.000001, because="a probability is above one")
        .law("sums_to_one")
        .counts_with(IN_ORDER)
    )
    yield (
        _fitted("after the last token of the text", 3, 6, 0.5, torch.cat([text, last, text, last]), public=True)
        .call(last, method="next_distribution")
        .law("shape_is", shape=(6,), because=_SHAPES)
        .law("sums_to_one")
        .counts_with(IN_ORDER)
    )
    yield (
        _asked("asked twice", 3, 7, 0.5, text, [*contexts, *contexts], public=True)
        .map([*contexts, *contexts], method="next_distribution", into="again")
        .law("repeats", to="again", because="the same question gets another answer later on, and nothing was read "
             "in between")
        .counts_with(IN_ORDER)
    )  # fmt: skip
    # After (a, a) comes b, after (a, b) b, after (b, b) a, after (b, a) a: one token of context tells nothing.
    a, b = (int(name) for name in names[:2])
    memory = torch.tensor([a, a, b, b] * 12)
    because = "the two tokens before it decide what comes next here"
    yield (
        _asked(IN_ORDER, 3, 5, 0.01, memory, _contexts([a, a], [b, b]), public=True)
        .law("argmax_is", index=torch.tensor([b, a]), because=because)
        .map(_contexts([a, b], [b, a]), method="next_distribution", into="two different ones")
        .law("argmax_is", of="two different ones", index=torch.tensor([b, a]), because=because)
    )
    longer, asked = torch.tensor([a, a, a, b, b, b] * 9), _contexts([a, a, a], [b, a, a], [b, b, b], [a, b, b])
    yield (
        _asked("three tokens of context, n = 4", 4, 5, 0.01, longer, asked, public=True)
        .law("argmax_is", index=torch.tensor([b, a, a, b]), because="the three tokens before it decide what comes next "
             "here, and n = 4 lets you look at all of them")
    )  # fmt: skip
    yield (
        _fitted("what `fit` returns is the model", 3, 5, 0.2, text, public=True)
        .call(text[7:9], on="fitted", method="next_distribution")
        .call(text[7:9], method="next_distribution", into="asked itself")
        .law("shape_is", shape=(5,), because=_SHAPES)
        .law("equal", to="asked itself", because="what `fit` returns answers otherwise than the model that was fitted")
        .counts_with(IN_ORDER)
    )
    yield (
        _fitted("only the last n − 1 tokens", 3, 5, 0.2, text, public=True)
        .call(torch.cat([text[20:23], text[6:9]]), method="next_distribution")
        .call(text[7:9], method="next_distribution", into="kept")
        .call(torch.cat([(text[20:23] + 1) % 5, text[6:9]]), method="next_distribution", into="other beginning")
        .law("shape_is", shape=(5,), because=_SHAPES)
        .law("equal", to="kept", because="with n = 3 only the last two tokens matter; older ones changed your answer")
        .law("equal", to="other beginning", because="with n = 3, tokens before the last three changed your answer")
        .counts_with(IN_ORDER)
    )
    # Whoever has lost a window guesses among tokens read as often, and names the smallest or the largest of them.
    low, middle, high = names[:3].sort().values
    because = "was read, and nothing else; then your model is surprised by the"
    yield (
        _asked("the first window of a text, and the last", 2, 5, 0.01, torch.stack([low, high, middle]), [(low[None],)])
        .law("argmax_is", index=high[None], because=f"a b c {because} b after a")
        .call(high[None], method="next_distribution", into="after b")
        .law("argmax_is", of="after b", index=middle, because=f"a b c {because} c after b")
        .call(2, 5, 0.01, on="answer", into="other")
        .call(torch.stack([high, middle, low]), on="other", method="fit", into="other fitted")
        .call(high[None], on="other", method="next_distribution", into="other after a")
        .law("argmax_is", of="other after a", index=middle, because=f"a b c {because} b after a")
    )
    yield from _shorter_contexts(rng, names)
    yield from _never_impossible(rng, names)
    yield (
        _fitted("a second fit starts anew", 2, 5, 0.2, text)
        .map(contexts, method="next_distribution", into="asked in between")
        .call(memory, method="fit", into="fitted again")
        .map(contexts, method="next_distribution")
        .call(2, 5, 0.2, on="answer", into="fresh")
        .call(memory, on="fresh", method="fit", into="fitted")
        .map(contexts, on="fresh", method="next_distribution", into="expected")
        .law("equal", to="expected", because="after a second `fit` the first text still shows")
        .counts_with(IN_ORDER)
    )
    yield _worth_something(rng)


def _fitted(title: str, n: int, vocab_size: int, alpha: float, text: Tensor, public: bool = False, weight: float = 1.0):
    """A model built and fitted, judged by laws only."""
    case = build(title, n, vocab_size, alpha, public=public, weight=weight).laws_only()
    return case.call(text, method="fit", into="fitted")


def _asked(title: str, n: int, vocab_size: int, alpha: float, text: Tensor, contexts: list, public: bool = False):
    """The same, asked what comes after each of `contexts`; the shape of the answers goes before all that they say."""
    case = _fitted(title, n, vocab_size, alpha, text, public).map(contexts, method="next_distribution")
    return case.law("shape_is", shape=(len(contexts), vocab_size), because=_SHAPES)


def _contexts(*tokens: list[int]) -> list[tuple[Tensor]]:
    return [(torch.tensor(context),) for context in tokens]


def _shorter_contexts(rng: Rng, names: Tensor):
    """Nothing, too little, and something never read before: each time the shorter windows answer."""
    counts = torch.tensor([23, 11, 5, 2, 1])
    text = names[torch.arange(5).repeat_interleave(counts)[rng.permutation(42)]]
    frequencies = torch.zeros(5, dtype=torch.float64).index_put_((names,), counts.double() / 42)
    nothing = torch.tensor([], dtype=torch.long)
    yield (
        _fitted("no context: the single tokens' frequencies", 3, 5, 0.0, text, public=True)
        .call(nothing, method="next_distribution")
        .law("shape_is", shape=(5,), because=_SHAPES)
        .law(
            "slices_vary",
            because="without a context all tokens are alike to yours, and half of the text is one of them",
        )
        .law("positive", because="a token that occurs in the text has probability 0 without a context")
        .law("close_to", value=frequencies, within=0.04, because="without a context only the frequencies are left")
    )
    smoothed = torch.cat([frequencies * 42, torch.zeros(2, dtype=torch.float64)]) + 2.5
    yield (
        _fitted("no context, and an alpha of 2.5", 3, 7, 2.5, text)
        .call(nothing, method="next_distribution")
        .law("shape_is", shape=(7,), because=_SHAPES)
        .law("close_to", value=smoothed / smoothed.sum(), within=1e-5, because="without a context only P₁ is left: is "
             "alpha added to the count of each token, whether it was read or not, and as often in the sum below?")
    )  # fmt: skip
    yield (
        _fitted("n = 1 looks at nothing", 1, 5, 0.3, text)
        .call(text[:3], method="next_distribution")
        .call(nothing, method="next_distribution", into="without")
        .law("equal", to="without", because="a window of one token has no context, yet yours changes the answer")
        .law(
            "close_to",
            of="without",
            value=frequencies,
            within=0.04,
            because="windows of one token tell how often each token comes, and with n = 1 yours answers otherwise",
        )
    )
    with_pairs = torch.cat([text, torch.tensor([5, 6] * 4)])  # only 6 ever comes after 5
    yield (
        _asked("what never came after a context", 2, 7, 0.1, with_pairs, _contexts([5]))
        .law("larger_at", index=int(names[0]), than=int(names[4]), because="of two tokens that never came after a "
             "context, the one that fills half of the text should be likelier than the one read once: who speaks up "
             "where the context is silent?")
    )  # fmt: skip
    # a b c … in a ring: each token has one successor; with n = 4 the longer contexts below never occurred.
    ring = names.repeat(9)
    short = [(names[i : i + 1],) for i in range(4)]
    strange = [(torch.stack([names[(i + 2) % 5], names[(i + 2) % 5], names[i]]),) for i in range(4)]
    yield (
        _asked("a context shorter than n − 1", 4, 5, 0.01, ring, short).law(
            "argmax_is", index=names[1:], because="one token of context was given, and it tells all there is to know"
        )
    )
    yield (
        _asked("a context never read, with a known ending", 4, 5, 0.01, ring, strange, public=True)
        .law("finite", because="after a context that never occurred your model answers NaN")
        .law("argmax_is", index=names[1:], because="the whole context is new, but its last token is well known: use it")
    )


def _never_impossible(rng: Rng, names: Tensor):
    """What was read anywhere may come everywhere; with alpha > 0 anything may."""
    ring = names.repeat(7)
    contexts = [(names[:k],) for k in (0, 1, 2, 3)] + [(torch.stack([names[3], names[1]]),)]
    because = "a token that occurs in the text has probability 0 after some context"
    yield (
        _asked("all that was read stays possible, alpha = 0", 3, 5, 0.0, ring, contexts)
        .law("finite")
        .law("positive", because=because)
        .law("sums_to_one")
        .counts_with(IN_ORDER)
    )
    yield (
        _asked("with alpha everything is possible", 3, 7, 0.4, ring, contexts)
        .law("positive", because="alpha is positive, and yet a token has probability 0")
        .counts_with(IN_ORDER)
    )


def _worth_something(rng: Rng):
    """Held-out text of a source with a memory of two tokens; the bar is 1.5 times the reference's own perplexity.

    Over eight seeds it is 1.25 times that with equal weights for all orders, 1.46 with a constant of 0.2; without a
    mixture of three orders it is 1.8 or more.
    """
    V, width = 11, 5
    source = torch.softmax(2.5 * rng.normal(V, V, V), -1)
    dice = torch.Generator().manual_seed(rng.seed())
    text = [0, 1]
    for _ in range(3300):
        text.append(int(torch.multinomial(source[text[-2], text[-1]], 1, generator=dice)))
    ids = torch.tensor(text)
    contexts, targets = windows(ids[2300:], width, rng)
    return (
        _fitted("held-out perplexity", 4, V, 0.1, ids[:2300], weight=2.0)
        .map(contexts, method="next_distribution")
        .law("perplexity_within", targets=targets, factor=1.5)
    )


class _Changed(reference.NGramModel):
    """The reference with one thing wrong, for the misconceptions below."""

    def mixed(self, tokens: list[int]) -> Tensor:
        return reference.NGramModel.next_distribution(self, torch.tensor(tokens, dtype=torch.long))

    def counts(self, tokens: list[int]) -> Tensor:
        """c(h, ·) for the context h, (V,)."""
        found = torch.zeros(self.vocab_size)
        width = len(tokens) + 1
        for window in zip(*(self.text[offset:] for offset in range(width))):
            if list(window[:-1]) == tokens:
                found[window[-1]] += 1
        return found

    def fit(self, ids: Tensor):
        self.text = ids.tolist()
        return super().fit(ids)

    def longest(self, tokens: list[int]) -> list[int]:
        return tokens[len(tokens) - min(len(tokens), self.n - 1) :]


@NGramModel.misconception(
    "Sum the distribution after a context that you know well. If several orders speak, how much weight do they "
    "have together?"
)
class weights_above_one(_Changed):
    def next_distribution(self, context):
        tokens = context.tolist()
        return sum(self.mixed(tokens[len(tokens) - k :]) for k in range(min(len(tokens), self.n - 1) + 1))


@NGramModel.misconception(
    "Sum the distribution after one context. By what is a count divided: by all windows, or by those with this context?"
)
class divided_by_all_windows(_Changed):
    def next_distribution(self, context):
        counts = self.counts(self.longest(context.tolist()))
        joint = (counts + self.alpha) / (len(self.text) + self.alpha * self.vocab_size)
        return joint if bool(counts.any()) else self.mixed(context.tolist())


@NGramModel.misconception(
    "You added alpha to every count. How often was it added, and how often does the sum below know about it?"
)
class alpha_once_below(_Changed):
    def next_distribution(self, context):
        tokens = self.longest(context.tolist())
        while tokens and not bool(self.counts(tokens).any()):
            tokens = tokens[1:]
        counts = self.counts(tokens)
        return 0.5 * (counts + self.alpha) / (counts.sum() + self.alpha) + 0.5 * self.unigram


@NGramModel.misconception(
    "What comes after a context that was read only once? Is everything else impossible from then on?"
)
class longest_context_alone(_Changed):
    def next_distribution(self, context):
        tokens = self.longest(context.tolist())
        while tokens and not bool(self.counts(tokens).any()):
            tokens = tokens[1:]
        counts = self.counts(tokens)
        return counts / counts.sum() if tokens else self.unigram.clone()


@NGramModel.misconception(
    "Give it a context of five tokens with n = 3, and print the part that you look up. Which end of the context "
    "is nearest to the next token?"
)
class first_tokens_of_the_context(_Changed):
    def next_distribution(self, context):
        return self.mixed(context[: self.n - 1].tolist())


@NGramModel.misconception("Fit it on 0 0 1 1 0 0 1 1, and ask after (0, 1). Is that the same question as after (1, 0)?")
class context_reversed(_Changed):
    def next_distribution(self, context):
        return self.mixed(self.longest(context.tolist())[::-1])


@NGramModel.misconception(
    "How many tokens of context does a window of n = 3 leave? Change the token before those: does the answer change?"
)
class one_token_too_many(reference.NGramModel):
    def __init__(self, n, vocab_size, alpha):
        super().__init__(n + 1, vocab_size, alpha)


@NGramModel.misconception(
    "With n = 3, how many tokens of the context change your answer? Fit it on 0 0 1 1 0 0 1 1 and ask after (0, "
    "0) and (1, 0)."
)
class one_token_too_few(reference.NGramModel):
    def __init__(self, n, vocab_size, alpha):
        super().__init__(max(n - 1, 1), vocab_size, alpha)


@NGramModel.misconception(
    "Fit it on 0 0 0 1. Is 0 three times as likely as 1, with no context at all? What turns your counts into shares?"
)
class softmax_of_the_counts(_Changed):
    def next_distribution(self, context):
        tokens = self.longest(context.tolist())
        while tokens and not bool(self.counts(tokens).any()):
            tokens = tokens[1:]
        return torch.softmax(self.counts(tokens) + self.alpha, 0)


@NGramModel.misconception(
    "Fit it on 0 0 0 1, and ask with no context. How many numbers of the answer are above zero? Who decides, and when?"
)
class everything_on_the_likeliest(_Changed):
    def next_distribution(self, context):
        return F.one_hot(self.mixed(context.tolist()).argmax(), self.vocab_size).float()


@NGramModel.misconception("Fit it on one text, then on another. Does it still speak of the first?")
class remembers_the_first_text(_Changed):
    def __init__(self, n, vocab_size, alpha):
        self.kept: list[int] = []
        super().__init__(n, vocab_size, alpha)

    def fit(self, ids):
        self.kept = self.kept + ids.tolist()
        return super().fit(torch.tensor(self.kept, dtype=torch.long))


@NGramModel.misconception("Fit it on three tokens and write down all windows of two. Does the model know the last one?")
class loses_the_last_window(reference.NGramModel):
    def fit(self, ids):
        return super().fit(ids[:-1])


@NGramModel.misconception("Fit it on three tokens and write down all windows of two. At which place does yours begin?")
class loses_the_first_window(reference.NGramModel):
    def fit(self, ids):
        super().fit(ids)
        self.followers = reference.NGramModel(self.n, self.vocab_size, self.alpha).fit(ids[1:]).followers
        return self


@NGramModel.misconception("Print one key of your table and the key you look up: is the one found by the other?")
class contexts_never_found(_Changed):
    def next_distribution(self, context):
        return self.unigram.clone()


@NGramModel.misconception(
    "Print your table of single tokens, ask for an answer, and print it again. Who has changed it?"
)
class mixes_into_its_own_table(_Changed):
    def next_distribution(self, context):
        return self.unigram.copy_(self.mixed(context.tolist()))


@NGramModel.misconception("Print an answer. Can a probability be below zero? What kind of number is this?")
class logarithms(_Changed):
    def next_distribution(self, context):
        return self.mixed(context.tolist()).log()


@NGramModel.misconception(
    "A word that never came after this context: is it as likely as any other such word? What do you know of it from "
    "elsewhere?"
)
class mixed_with_uniform(_Changed):
    def next_distribution(self, context):
        tokens = self.longest(context.tolist())
        while tokens and not bool(self.counts(tokens).any()):
            tokens = tokens[1:]
        counts = self.counts(tokens)
        return 0.6 * counts / counts.sum() + 0.4 / self.vocab_size if tokens else self.unigram.clone()


@NGramModel.misconception(
    "The context at the very end of the text: how often did it occur, and how often was it followed by something?"
)
class counts_the_last_context(_Changed):
    def next_distribution(self, context):
        tokens, P = self.longest(context.tolist()), self.unigram.clone()
        for length in range(1, len(tokens) + 1):
            followed = self.counts(tokens[-length:])
            occurred = followed.sum() + (self.text[-length:] == tokens[-length:])
            if occurred > 0:
                P = 0.5 * followed / occurred + 0.5 * P
        return P


@NGramModel.misconception(
    "Ask after a context that never occurred. What are the counts, what is their sum, and what is one divided by "
    "the other?"
)
class nan_for_the_unknown(_Changed):
    def next_distribution(self, context):
        counts = self.counts(self.longest(context.tolist()))
        return 0.5 * counts / counts.sum() + 0.5 * self.unigram


@NGramModel.misconception(
    "Sum the distribution after a context that never occurred. What does an order that has seen nothing add to it, and "
    "which weight does it keep?"
)
class zeros_for_the_unknown(_Changed):
    def next_distribution(self, context):
        tokens, P = self.longest(context.tolist()), self.unigram.clone()
        for length in range(1, len(tokens) + 1):
            counts = self.counts(tokens[-length:])
            P = 0.5 * counts / counts.sum().clamp(min=1) + 0.5 * P
        return P


@NGramModel.misconception(
    "Ask after a context whose last token is well known but which, as a whole, never occurred. What would you say "
    "yourself?"
)
class unknown_means_uniform(_Changed):
    def next_distribution(self, context):
        tokens = self.longest(context.tolist())
        if tokens and not bool(self.counts(tokens).any()):
            return torch.full((self.vocab_size,), 1 / self.vocab_size)
        return self.mixed(tokens)


@NGramModel.misconception(
    "Ask with no context at all, and with a single token. Is there really nothing that your model could say?"
)
class short_means_uniform(_Changed):
    def next_distribution(self, context):
        if len(context) < self.n - 1:
            return torch.full((self.vocab_size,), 1 / self.vocab_size)
        return self.mixed(context.tolist())


@NGramModel.misconception(
    "Alpha is there for tokens that never occurred at all. Add one to the vocabulary and ask for its probability."
)
class alpha_forgotten(reference.NGramModel):
    def __init__(self, n, vocab_size, alpha):
        super().__init__(n, vocab_size, 0.0)
