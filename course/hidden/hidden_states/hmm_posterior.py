"""Hidden tests of `hmm_posterior`."""

from __future__ import annotations

from functools import partial

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.hidden_states.scaffold import (
    backward,
    emitted_by,
    forward,
    log_sum_by_hand,
    log_sum_underflowing,
    sparse,
    tables_and_texts,
)
from course.reference import hidden_states as reference


@exercise(
    reference.hmm_posterior,
    hints=(
        "The forward sum knows what came up to t. Which sum would know what comes after it?",
        "Behind the last step nothing is left to be seen. How probable is nothing?",
        "Sum your result over the states at each position. What must come out, at every position?",
        "Begin with what `hmm_forward` returns. Then start the second sum at the last step, and write a single step "
        "back. Which letter is emitted in that step, and over which index do you sum?",
    ),
    calls=(
        (
            "hmm_posterior(tensor([0.5, 0.5]).log(), tensor([[0.5, 0.5], [0.5, 0.5]]).log(), tensor([[1., "
            "0.], [0., 1.]]).log(), tensor([[0, 1]]))"
        ),
        (
            "hmm_posterior(tensor([0.5, 0.5]).log(), tensor([[1., 0.], [0., 1.]]).log(), tensor([[0.5, 0.5], "
            "[0., 1.]]).log(), tensor([[1, 0]]))"
        ),
        (
            "hmm_posterior(tensor([1., 0.]).log(), tensor([[0., 1.], [1., 0.]]).log(), tensor([[0.5, 0.5], "
            "[0.5, 0.5]]).log(), tensor([[0, 1]]))"
        ),
        (
            "hmm_posterior(tensor([0.5, 0.5]).log(), tensor([[0.5, 0.5], [0.5, 0.5]]).log(), tensor([[0.5, "
            "0.5], [0.5, 0.5]]).log(), tensor([[0]]))"
        ),
        (
            "hmm_posterior(tensor([0.5, 0.5]).log(), tensor([[0., 1.], [1., 0.]]).log(), tensor([[0.5, 0.5], "
            "[1., 0.]]).log(), tensor([[0, 1]]))"
        ),
    ),
)
def hmm_posterior(rng):
    """B, T, S and V are different primes; zeros, a thousand steps. Every text is possible."""

    inputs = partial(tables_and_texts, rng)

    def asked(title, *given, **settings):
        return call(title, *given, grad=False, **settings)

    yield asked("two short texts", *inputs(2, 3, 5, 7), public=True, weight=2.0)
    yield asked("as many symbols as states", *inputs(3, 7, 5, 5), weight=2.0)
    yield asked("a single text", *inputs(1, 5, 3, 2))
    yield asked("a single step", *inputs(3, 1, 5, 2), public=True, weight=0.5)
    yield asked("two steps", *inputs(3, 2, 7, 5))
    yield asked("a thousand steps", *inputs(2, 1000, 3, 5), public=True, weight=2.0)
    found = sparse(rng, 5, 7)
    yield asked("zeros in the tables", *found, emitted_by(found, rng, 3, 7), public=True, weight=2.0)
    yield asked("float32", *inputs(2, 5, 3, 7, torch.float32), public=True)
    yield asked("memory that is not contiguous", *map(noncontiguous, inputs(3, 5, 7, 2)), public=True)


def _both(start, A, E, seen, *, add=torch.logsumexp, back=None):
    log_alpha, log_p = forward(start, A, E, seen, add)
    log_beta = backward(A if back is None else back, E, seen, add)
    return log_alpha, log_beta, log_p[:, None, None]


@hmm_posterior.misconception(
    "Change the last letter of a text. Does what you say about the first position change? It knows the whole text."
)
def forward_alone(start, A, E, seen):
    return forward(start, A, E, seen)[0].softmax(-1)


@hmm_posterior.misconception(
    "Change the first letter of a text. Does what you say about the last position change? It knows the whole text."
)
def backward_alone(start, A, E, seen):
    return backward(A, E, seen).softmax(-1)


@hmm_posterior.misconception(
    "Backwards, a path leaves state i for state j. In which row of A does that step stand, and over which index do you "
    "sum?"
)
def backward_transposed(start, A, E, seen):
    log_alpha, log_beta, _ = _both(start, A, E, seen, back=A.mT)
    return (log_alpha + log_beta).softmax(-1)


@hmm_posterior.misconception("For a text of one letter, how often does its emission enter your product?")
def own_emission_twice(start, A, E, seen):
    log_alpha, log_beta, _ = _both(start, A, E, seen)
    return (log_alpha + log_beta + E.T[seen]).softmax(-1)


@hmm_posterior.misconception(
    "Sum your result over the states. It is the same at each position. Which probability is it?"
)
def joint_with_the_text(start, A, E, seen):
    log_alpha, log_beta, _ = _both(start, A, E, seen)
    return (log_alpha + log_beta).exp()


@hmm_posterior.misconception("Your numbers are negative. Can a probability be? What is still missing?")
def logarithms(start, A, E, seen):
    log_alpha, log_beta, log_p = _both(start, A, E, seen)
    return log_alpha + log_beta - log_p


hmm_posterior.mistakes(
    "What is 0.1 to the power 1,000 on a computer? Divide it by itself.",
    probabilities_underflow=lambda *inputs: _posterior(*_both(*inputs, add=log_sum_underflowing)),
)
hmm_posterior.mistakes(
    "Print the largest number of a row in which all are -inf, and what is left after you subtract it.",
    nan_from_minus_infinity=lambda *inputs: _posterior(*_both(*inputs, add=log_sum_by_hand)),
)


def _posterior(log_alpha, log_beta, log_p):
    return (log_alpha + log_beta - log_p).exp()
