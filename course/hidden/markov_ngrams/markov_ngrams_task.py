"""Hidden tests of `markov_ngrams_task`: held-out perplexity of a character model fitted by the judge."""

from functools import cache

import torch
from torch import Tensor

from course.data import docstrings
from course.exercise import Rng, build, exercise
from course.hidden.markov_ngrams.scaffold import windows
from course.reference import markov_ngrams as reference

ALPHABET = "\n" + "".join(map(chr, range(32, 127)))

CONTEXT = 12
"""Tokens of context in a question: enough for any sensible n."""

FULL, PARTIAL, PUBLIC = 1.10, 1.32, 1.25
"""Held-out perplexity, as a multiple of the reference's on the same questions. Measured over ten draws of 60,000
characters (tests/training): the reference's mixture with n = 4 1.02 to 1.07, 6 1.06 to 1.08, 7 1.15 to 1.19, 3 1.31 to
1.44; discounting 1.03 at most; constant weights of 1/2 with n = 6 0.95 at most; without a mixture above 1.42."""

ON_READ = (2.0, 4.0)
"""The same on the text it has read: n = 4 1.5, n = 2 above 5; the longest known context alone, with 0.1, above 3."""


@exercise(
    reference.language_model,
    name="markov_ngrams_task",
    hints=(
        "You drew one curve on the training text and one on a held-out text. Which of them tells how good a model "
        "will be on new modules, and at which n is it lowest?",
        "If n is fine and the score is not, print what your mixture says after a context that occurred once.",
        "Begin with a model of any n and alpha, returned without a call of `fit`, and run the check. It prints "
        "your ratio. Then change one of the two numbers at a time, and write down what the ratio does.",
    ),
)
def markov_ngrams_task(rng):
    """Fitted here on a randomly chosen part of the corpus, and asked about modules that `load` keeps back."""
    short = _judged("new modules, after a short text", 12_000, 250, rng, PUBLIC, public=True)
    yield short.shows("perplexity_within", full=FULL, called="perplexity, divided by that of the course's own model,")
    yield _judged("the text it has read", 12_000, 200, rng, *ON_READ, public=True, of_the_text=True, weight=0.5)
    yield _judged("new modules, after 20,000 characters", 20_000, 600, rng, PARTIAL)
    yield _judged("new modules, after 60,000 characters", 60_000, 2_000, rng, FULL, weight=3.0)


def _judged(
    title: str, length: int, questions: int, rng: Rng, *factors: float, public: bool = False, weight: float = 1.0,
    of_the_text: bool = False,
):  # fmt: skip
    corpus = _ids("train")
    begin = int(rng.integers(0, len(corpus) - length, 1))
    text = corpus[begin : begin + length]
    contexts, targets = windows(text if of_the_text else _ids("reserved"), CONTEXT, rng, questions)
    case = (
        build(title, len(ALPHABET), public=public, weight=weight)
        .laws_only()
        .call(text, method="fit", into="fitted")
        .map(contexts, method="next_distribution")
    )
    because = "even on its own training text, the perplexity is far too high" if of_the_text else ""
    for factor in factors:
        case = case.law("perplexity_within", targets=targets, factor=factor, because=because)
    return case


@cache
def _ids(split: str) -> Tensor:
    text = docstrings.reserved_text() if split == "reserved" else "\n".join(docstrings.load(split)["text"])
    number = {character: place for place, character in enumerate(ALPHABET)}
    return torch.tensor([number[character] for character in text])


@markov_ngrams_task.misconception(
    "Measure your model on its own training text. If it is bad even there, how much of the past does it see?"
)
def sees_too_little(vocab_size):
    return reference.NGramModel(2, vocab_size, 0.1)


@markov_ngrams_task.misconception(
    "Your model is excellent on its training text. Now look at the held-out curve. At which n does that curve turn?"
)
def recites(vocab_size):
    return reference.NGramModel(12, vocab_size, 0.1)


@markov_ngrams_task.misconception(
    "A model with your n can do better. How much does yours trust a context that occurred once?"
)
def trusts_no_context(vocab_size):
    return _LongestKnown(5, vocab_size, 0.1)


class _LongestKnown(reference.NGramModel):
    """Adds alpha to every count after the longest known context, and asks no shorter one."""

    def next_distribution(self, context):
        longest = max(self.followers.path(context.tolist()), default=None)
        if longest is None:
            return self.unigram.clone()
        seen, shares, remainder = self.followers[longest]
        counts = torch.zeros(self.vocab_size).index_add_(0, seen, shares) * len(seen) / remainder
        return (counts + self.alpha) / (counts.sum() + self.alpha * self.vocab_size)
