"""Hidden tests of `viterbi`."""

from __future__ import annotations

from functools import partial

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.hidden_states.scaffold import emitted_by, sparse, tables_and_texts
from course.reference import hidden_states as reference


@exercise(
    reference.viterbi,
    hints=(
        "It is the forward sum with a maximum in place of the sum. What must you remember of each maximum?",
        "For two steps and two states, list the four paths. Which one is the best way into each of the last states?",
        "You know the best last state. Which of the things you remembered says what came before it?",
        "Begin with the loop of your `hmm_forward`. What does `max` with a `dim` return beside the largest values? "
        "Keep that of every step in a list, and print it for the worked example.",
    ),
    calls=(
        (
            "viterbi(tensor([1., 0.]).log(), tensor([[0., 1.], [1., 0.]]).log(), tensor([[0.5, 0.5], [0.5, "
            "0.5]]).log(), tensor([[0, 0, 0]]))[0]"
        ),
        (
            "viterbi(tensor([0.5, 0.5]).log(), tensor([[0.9, 0.1], [0.1, 0.9]]).log(), tensor([[0.8, 0.2], "
            "[0.2, 0.8]]).log(), tensor([[0, 0, 1]]))[0]"
        ),
        (
            "viterbi(tensor([0.5, 0.5]).log(), tensor([[0.5, 0.5], [0.5, 0.5]]).log(), tensor([[0.9, 0.1], "
            "[0.1, 0.9]]).log(), tensor([[0, 1, 0]]))[0]"
        ),
        (
            "viterbi(tensor([0., 1.]).log(), tensor([[1., 0.], [0., 1.]]).log(), tensor([[0.9, 0.1], [0.1, "
            "0.9]]).log(), tensor([[0, 0, 0]]))[0]"
        ),
        (
            "viterbi(tensor([1., 0.]).log(), tensor([[0.5, 0.5], [0.5, 0.5]]).log(), tensor([[1., 0.], [0., "
            "1.]]).log(), tensor([[0, 1]]))[1].exp()"
        ),
        (
            "viterbi(tensor([0.4, 0.6]).log(), tensor([[0.5, 0.5], [0.5, 0.5]]).log(), tensor([[1., 0.], "
            "[1., 0.]]).log(), tensor([[0]]))[0]"
        ),
    ),
)
def viterbi(rng):
    """B, T, S and V are different primes; chains with zeros, a thousand steps, paths that tie, an impossible text."""

    inputs = partial(tables_and_texts, rng)

    def asked(title, *given, **settings):
        return call(title, *given, grad=False, **settings).compare_by("log_p_of_path")

    yield asked("two short texts", *inputs(2, 5, 7, 3), public=True)
    yield asked("as many symbols as states", *inputs(3, 11, 5, 5), weight=2.0)
    yield asked("a single text", *inputs(1, 7, 3, 2))
    yield asked("a single step", *inputs(5, 1, 3, 2), public=True, weight=0.5)
    yield asked("two steps", *inputs(7, 2, 5, 3))
    yield asked("many texts", *inputs(31, 13, 7, 5), weight=2.0)
    yield asked("a thousand steps", *inputs(2, 1000, 3, 5), public=True, weight=2.0)
    found = sparse(rng, 5, 7)
    yield asked("zeros in the tables", *found, emitted_by(found, rng, 11, 7), public=True, weight=2.0)
    seen = emitted_by(found, rng, 2, 5)
    seen[1, 3] = 0  # comes from state 0 alone, where no step leads
    tied = ([1.0, 0.0], [[0.5, 0.5], [1.0, 0.0]], [[0.5, 0.5], [1.0, 0.0]])  # paths 0 1 0 0 and 0 0 1 0
    tables = (torch.tensor(table, dtype=torch.float64).log() for table in tied)
    yield asked("two paths are equally good", *tables, torch.tensor([[0, 0, 0, 1], [1, 0, 0, 1]]), public=True)
    yield asked("an impossible text", *found, seen, public=True)
    yield asked("float32", *inputs(2, 5, 3, 7, torch.float32), public=True)
    yield asked("memory that is not contiguous", *map(noncontiguous, inputs(3, 5, 7, 2)), public=True)


def _search(start, A, E, seen, *, late=0, pointer=0, best=torch.max):
    """Viterbi with one piece exchanged: emissions that come `late`, or ways back that are off by `pointer` steps."""
    emitted = E.T[seen]
    score, before = start + emitted[:, 0], []
    for t in range(1, seen.shape[1]):
        found = best(score[:, :, None] + A, 1)
        before.append(found.indices)
        score = found.values + emitted[:, t - late]
    path = [score.argmax(1)]
    for t in reversed(range(len(before))):
        path.append(before[max(t - pointer, 0)].gather(1, path[-1][:, None])[:, 0])
    return torch.stack(path[::-1], 1), score.amax(1)


@viterbi.misconception(
    "Score your path by hand, step by step. Is each step possible, and is the sum the score that you return?"
)
def best_state_of_each_place(start, A, E, seen):
    return reference.hmm_posterior(start, A, E, seen).argmax(-1), _search(start, A, E, seen)[1]


@viterbi.misconception("Your path takes the best next step each time. Can a worse step pay later?")
def greedy(start, A, E, seen):
    emitted = E.T[seen]
    score, state = (start + emitted[:, 0]).max(1)
    path = [state]
    for t in range(1, seen.shape[1]):
        step, state = (A[state] + emitted[:, t]).max(1)
        path, score = [*path, state], score + step
    return torch.stack(path, 1), score


viterbi.mistakes(
    "Row i of A holds the steps from i. Take a chain that can only go from 0 to 1. Where does your path go?",
    chain_transposed=lambda start, A, E, seen: _search(start, A.mT, E, seen),
)
viterbi.mistakes(
    "Write down which state each of your pointers belongs to, and to which step. Which one is read first on the way "
    "back?",
    way_back_off_by_one=lambda *inputs: _search(*inputs, pointer=1),
)


@viterbi.misconception(
    "Which step of the path do you find first on the way back, and where does it stand in your result?"
)
def path_turned_round(*inputs):
    path, score = _search(*inputs)
    return path.flip(1), score


viterbi.mistakes(
    "Change the last letter of a text. Which of your numbers move?",
    emission_of_the_step_before=lambda *inputs: _search(*inputs, late=1),
)


@viterbi.misconception("What is 0.1 to the power 1,000 on a computer? What does your maximum choose among zeros?")
def probabilities_underflow(start, A, E, seen):
    start, A, emitted = start.exp(), A.exp(), E.exp().T[seen]
    score, before = start * emitted[:, 0], []
    for t in range(1, seen.shape[1]):
        score, came = (score[:, :, None] * A).max(1)
        before, score = [*before, came], score * emitted[:, t]
    path = [score.argmax(1)]
    for came in reversed(before):
        path.append(came.gather(1, path[-1][:, None])[:, 0])
    return torch.stack(path[::-1], 1), score.amax(1).log()


@viterbi.misconception("The path is the best one. Is your score the probability of this path, or of all paths?")
def score_of_all_paths(start, A, E, seen):
    return _search(start, A, E, seen)[0], reference.hmm_forward(start, A, E, seen)[1]
