"""Hidden tests of `hmm_forward`."""

from __future__ import annotations

from functools import partial

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.hidden_states.scaffold import (
    emitted_by,
    forward,
    log_sum_by_hand,
    log_sum_underflowing,
    log_sum_with_a_little,
    sparse,
    tables_and_texts,
)
from course.reference import hidden_states as reference


@exercise(
    reference.hmm_forward,
    hints=(
        "Take two states and two letters, and write all four paths with their probabilities. What do they sum to?",
        "A path that is in state j at step t came from some state i. Which table says how likely that step is, and "
        "over which index do you sum?",
        "What is the logarithm of a sum of exponentials called, and which function computes it safely?",
        "Begin with the first step, which has no sum. It is a tensor (B, S), made from the start and from what the "
        "first letters say of each state. Compare its exponential with the worked example.",
    ),
    calls=(
        (
            "hmm_forward(tensor([1., 0.]).log(), tensor([[0., 1.], [1., 0.]]).log(), tensor([[1., 0.], [0., "
            "1.]]).log(), tensor([[0, 1]]))[1].exp()"
        ),
        (
            "hmm_forward(tensor([1., 0.]).log(), tensor([[0., 1.], [1., 0.]]).log(), tensor([[1., 0.], [0., "
            "1.]]).log(), tensor([[0, 0]]))[1].exp()"
        ),
        (
            "hmm_forward(tensor([0.5, 0.5]).log(), tensor([[0.5, 0.5], [0.5, 0.5]]).log(), tensor([[1., 0.], "
            "[0., 1.]]).log(), tensor([[0]]))[1].exp()"
        ),
        (
            "hmm_forward(tensor([0.5, 0.5]).log(), tensor([[0.5, 0.5], [0.5, 0.5]]).log(), tensor([[1., 0.], "
            "[0., 1.]]).log(), tensor([[0, 1]]))[1].exp()"
        ),
        (
            "hmm_forward(tensor([0.5, 0.5]).log(), tensor([[1., 0.], [0., 1.]]).log(), tensor([[1., 0.], "
            "[0., 1.]]).log(), tensor([[0, 0]]))[1].exp()"
        ),
        (
            "hmm_forward(tensor([1., 0.]).log(), tensor([[0.5, 0.5], [1., 0.]]).log(), tensor([[0.5, 0.5], "
            "[0.5, 0.5]]).log(), tensor([[0, 1]]))[0].exp()"
        ),
    ),
)
def hmm_forward(rng):
    """B, T, S and V are different primes; then each is one, S = V, zeros in the tables, a thousand steps."""

    inputs = partial(tables_and_texts, rng)

    yield call("two short texts", *inputs(2, 3, 5, 7), public=True, weight=2.0)
    yield call("as many symbols as states", *inputs(3, 7, 5, 5), weight=2.0)
    yield call("a single text", *inputs(1, 5, 3, 2))
    yield call("a single step", *inputs(3, 1, 5, 2), public=True)
    yield call("a single state", *inputs(2, 5, 1, 3)).counts_with("two short texts")
    yield call("a thousand steps", *inputs(2, 1000, 3, 5), public=True, grad=False, weight=2.0)
    found = sparse(rng, 5, 7)
    yield call("zeros in the tables", *found, emitted_by(found, rng, 3, 7), public=True, grad=False)
    seen = emitted_by(found, rng, 2, 5)
    seen[1, 3] = 0  # comes from state 0 alone, where no step leads
    yield call("an impossible text", *found, seen, public=True, grad=False)
    yield call("float32", *inputs(2, 5, 3, 7, torch.float32), public=True)
    yield call("memory that is not contiguous", *map(noncontiguous, inputs(3, 5, 7, 2)), public=True)


hmm_forward.mistakes(
    "Row i of A holds the steps from i. Let a chain go from 0 to 1 only. Which of the two gets all the weight?",
    chain_transposed=lambda start, A, E, seen: forward(start, A.mT, E, seen),
)
hmm_forward.mistakes(
    "Take a text of one letter. Does your answer depend on which letter it is?",
    first_emission_left_out=partial(forward, first=False),
)
hmm_forward.mistakes(
    "Change the last letter of a text. Which of your numbers move?",
    emission_of_the_step_before=partial(forward, late=1),
)
hmm_forward.mistakes(
    "What is 0.1 to the power 1,000 on a computer? At which step do your probabilities become zero?",
    probabilities_underflow=partial(forward, add=log_sum_underflowing),
)
hmm_forward.mistakes(
    "Print the largest number of a column in which all are -inf, and what is left after you subtract it.",
    nan_from_minus_infinity=partial(forward, add=log_sum_by_hand),
)
hmm_forward.mistakes(
    "Which probability does your text get that no path can emit? Is any number added inside a logarithm?",
    a_little_added=partial(forward, add=log_sum_with_a_little),
)
hmm_forward.mistakes(
    "This is the best path's probability. How many paths emit the text, and which of them does yours leave out?",
    best_path_only=partial(forward, add=torch.amax),
)


@hmm_forward.misconception("Sum exp(log_alpha) over the states of one step. Is it one, or the probability of a text?")
def normalised_at_each_step(start, A, E, seen):
    log_alpha, log_p = forward(start, A, E, seen)
    return log_alpha.log_softmax(-1), log_p
