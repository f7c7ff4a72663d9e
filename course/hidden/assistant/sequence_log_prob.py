"""Hidden tests of `sequence_log_prob`: which logits are about which token, and a sum over what is learned."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import assistant as reference

SMALL = "three chats"


@exercise(
    reference.sequence_log_prob,
    hints=(
        "Take T = 2 and one row. Which logits say how likely ids[0, 1] is?",
        "A text of two tokens with probabilities 0.5 and 0.1 has probability 0.05. How do you get its logarithm from "
        "theirs?",
        "Let `learned` be True at one place only, and compute that number by hand.",
        "Begin with the log-probabilities of all words at all positions. Which position predicts no token of the row, "
        "and which token is predicted by none? Print the shapes without them, and look up `gather`.",
    ),
    forbidden=("F.cross_entropy", "nn.CrossEntropyLoss", "F.nll_loss", "nn.NLLLoss"),
    calls=(
        "sequence_log_prob(zeros(1, 3, 2), tensor([[0, 1, 1]]), tensor([[False, True, True]])).exp()",
        "sequence_log_prob(zeros(1, 3, 2), tensor([[0, 1, 1]]), tensor([[False, False, True]])).exp()",
        "sequence_log_prob(zeros(1, 3, 2), tensor([[0, 1, 1]]), tensor([[True, False, False]])).exp()",
        "sequence_log_prob(tensor([[[100., 0.], [0., 100.]]]), tensor([[0, 1]]), tensor([[False, True]]))",
        "sequence_log_prob(zeros(2, 2, 4), tensor([[0, 1], [2, 3]]), tensor([[True, True], [True, True]])).exp()",
        (
            "sequence_log_prob(tensor([[[0., 100.], [0., 100.], [0., 0.]]]), tensor([[0, 1, 1]]), "
            "tensor([[False, True, True]]))"
        ),
    ),
)
def sequence_log_prob(rng):
    """B, T and V differ; nothing learned; one and two tokens, and one row, where an axis may be lost."""

    def asked(B, T, V, dtype=torch.float64, share=0.6):
        return 2 * rng.normal(B, T, V, dtype=dtype), rng.integers(0, V, B, T), rng.uniform(B, T) < share

    yield call(SMALL, *asked(3, 5, 7), public=True, weight=2.0)
    yield call("long answers of a larger vocabulary", *asked(2, 13, 31))
    yield call("everything learned", *asked(5, 3, 2, share=2.0))
    logits, ids, learned = asked(3, 5, 4)
    learned[1] = False
    yield call("a row with nothing learned", logits, ids, learned, public=True)
    yield call("a single token", *asked(2, 1, 5), weight=0.5, public=True).counts_with(SMALL)
    logits, ids, learned = asked(2, 7, 5)
    ids[0, 1], learned[0, 1] = logits[0, 0].argmin(), True  # a probability of 0 in float64, whatever is drawn
    yield call("logits of thousands", 2000 * logits, ids, learned, public=True)
    yield call("rows of two tokens", *asked(3, 2, 5, share=2.0))
    yield call("one chat", *asked(1, 5, 3))
    yield call("float32", *asked(3, 4, 6, dtype=torch.float32), public=True)
    logits, ids, learned = asked(4, 3, 5)
    yield call(
        "memory that is not contiguous", noncontiguous(logits), noncontiguous(ids), noncontiguous(learned), public=True
    )


def _each(logits, ids):
    """log p of every token but the first, (B, T - 1)."""
    return logits[:, :-1].log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)


sequence_log_prob.mistakes(
    "Double an answer's length with tokens of the same probability. What becomes of the probability of the whole?",
    mean_for_sum=lambda logits, ids, learned: (
        (_each(logits, ids) * learned[:, 1:]).sum(1) / learned[:, 1:].sum(1).clamp(min=1)
    ),
    mean_even_of_nothing=lambda logits, ids, learned: (
        (_each(logits, ids) * learned[:, 1:]).sum(1) / learned[:, 1:].sum(1)
    ),
)


@sequence_log_prob.misconception(
    "The model has read ids[:, t] when it gives logits[:, t]. Should it guess what it has read?"
)
def says_what_it_reads(logits, ids, learned):
    return (logits.log_softmax(-1).gather(-1, ids[..., None]).squeeze(-1) * learned).sum(1)


sequence_log_prob.mistakes(
    "`learned[:, t]` is about `ids[:, t]`. Which entries of `learned` belong to ids[:, 1:]?",
    learned_of_the_token_before=lambda logits, ids, learned: (_each(logits, ids) * learned[:, :-1]).sum(1),
)
sequence_log_prob.mistakes(
    "Set all of `learned` to False. What should come out?",
    everything_counted=lambda logits, ids, learned: _each(logits, ids).sum(1),
)
sequence_log_prob.mistakes(
    "Two tokens with probabilities 0.5 and 0.1: what is added, and what is multiplied?",
    probabilities_added=lambda logits, ids, learned: (_each(logits, ids).exp() * learned[:, 1:]).sum(1),
)
sequence_log_prob.mistakes(
    "Exponentiate your log-probabilities at one position and add them over the vocabulary. Is the sum 1?",
    logits_as_they_are=lambda logits, ids, learned: (
        logits[:, :-1].gather(-1, ids[:, 1:, None]).squeeze(-1) * learned[:, 1:]
    ).sum(1),
    softmax_over_the_batch=lambda logits, ids, learned: (
        logits[:, :-1].log_softmax(0).gather(-1, ids[:, 1:, None]).squeeze(-1) * learned[:, 1:]
    ).sum(1),
)
sequence_log_prob.mistakes(
    "Take three rows of two tokens. Print the shapes of what you multiply by `learned`, and of `learned[:, 1:]`.",
    every_axis_of_one_lost=lambda logits, ids, learned: (
        logits[:, :-1].log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze() * learned[:, 1:]
    ).sum(-1),
)
sequence_log_prob.mistakes(
    "How many numbers come back for three rows? Each row is a text with a probability of its own.",
    one_number_for_the_batch=lambda logits, ids, learned: (_each(logits, ids) * learned[:, 1:]).sum(),
)
