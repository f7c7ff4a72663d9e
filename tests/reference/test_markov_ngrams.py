"""The n-gram reference against counting by hand, against laws of probability, and against chance itself."""

from __future__ import annotations

import math
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from course.reference import markov_ngrams
from course.reference.markov_ngrams import (
    NGramModel,
    Table,
    Tree,
    count_ngrams,
    language_model,
    perplexity,
    sample_text,
    transition_matrix,
)

texts = st.lists(st.integers(0, 4), max_size=40)
orders = st.integers(1, 6)
VOCABULARY = 5


def ids_of(text: list[int]) -> torch.Tensor:
    return torch.tensor(text, dtype=torch.long)


# -- count_ngrams ------------------------------------------------------------------------------------------------


def test_counts_by_hand():
    assert count_ngrams(list("abab"), 2) == Counter({("a", "b"): 2, ("b", "a"): 1})
    assert count_ngrams(["the", "cat"], 1) == Counter({("the",): 1, ("cat",): 1})
    assert count_ngrams(list("aaaa"), 3) == Counter({("a", "a", "a"): 2})


@given(texts, orders)
def test_every_window_is_counted_once(text, n):
    counts = count_ngrams(text, n)
    assert sum(counts.values()) == max(len(text) - n + 1, 0)
    for gram, count in counts.items():
        assert count == sum(tuple(text[i : i + n]) == gram for i in range(len(text)))


@pytest.mark.parametrize("n", [0, -1])
def test_a_window_holds_something(n):
    with pytest.raises(ValueError, match="at least one"):
        count_ngrams([1, 2], n)


# -- transition_matrix ---------------------------------------------------------------------------------------------


def test_matrix_by_hand():
    P = transition_matrix(ids_of([0, 1, 0, 0, 2]), 4)
    assert_close(P[0], torch.tensor([1 / 3, 1 / 3, 1 / 3, 0]))
    assert_close(P[1], torch.tensor([1.0, 0, 0, 0]))
    assert_close(P[2:], torch.full((2, 4), 0.25))  # the last token is followed by nothing, and 3 never occurs


@given(texts, st.sampled_from([0.0, 0.1, 2.0]))
def test_matrix_is_counts_divided_by_counts(text, alpha):
    P = transition_matrix(ids_of(text), VOCABULARY, alpha)
    assert_close(P.sum(1), torch.ones(VOCABULARY))
    pairs = count_ngrams(text, 2)
    for v in range(VOCABULARY):
        total = sum(count for (first, _), count in pairs.items() if first == v) + alpha * VOCABULARY
        for u in range(VOCABULARY):
            expected = (pairs[v, u] + alpha) / total if total else 1 / VOCABULARY
            assert P[v, u].item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("ids", [torch.zeros(2, 3, dtype=torch.long), torch.zeros(3)])
def test_matrix_wants_a_line_of_ids(ids):
    with pytest.raises(ValueError, match="LongTensor"):
        transition_matrix(ids, 3)


# -- perplexity ------------------------------------------------------------------------------------------------------


@given(st.integers(2, 1000), st.integers(1, 30))
def test_a_uniform_guess_has_the_perplexity_of_its_vocabulary(size, length):
    assert perplexity(torch.full((length,), -math.log(size), dtype=torch.float64)) == pytest.approx(size)


@given(st.lists(st.floats(-20, 0), min_size=1, max_size=20))
def test_perplexity_knows_no_length_and_no_order(log_probs):
    value = perplexity(torch.tensor(log_probs, dtype=torch.float64))
    assert value >= 1
    assert perplexity(torch.tensor(log_probs[::-1] * 3, dtype=torch.float64)) == pytest.approx(value)


def test_impossible_is_infinite():
    assert perplexity(torch.tensor([-0.1, -math.inf])) == math.inf


@pytest.mark.parametrize("shape", [(0,), (2, 3)])
def test_perplexity_wants_tokens(shape):
    with pytest.raises(ValueError, match="at least one token"):
        perplexity(torch.zeros(shape))


# -- sample_text -----------------------------------------------------------------------------------------------------


def test_a_cycle_is_walked():
    P = torch.eye(3).roll(1, dims=1)  # 0 → 1 → 2 → 0
    assert sample_text(P, 0, 7, torch.Generator()).tolist() == [1, 2, 0, 1, 2, 0, 1]


def test_a_long_walk_visits_as_the_matrix_says():
    P = torch.tensor([[0.1, 0.9, 0.0], [0.5, 0.0, 0.5], [0.2, 0.3, 0.5]])
    walk = sample_text(P, 0, 20_000, torch.Generator().manual_seed(1))
    assert_close(transition_matrix(walk, 3), P, atol=0.02, rtol=0)


def test_the_generator_alone_decides():
    P = torch.full((5, 5), 0.2)
    first = sample_text(P, 0, 30, torch.Generator().manual_seed(4))
    torch.manual_seed(99)
    assert torch.equal(first, sample_text(P, 0, 30, torch.Generator().manual_seed(4)))
    assert not torch.equal(first, sample_text(P, 0, 30, torch.Generator().manual_seed(5)))
    assert sample_text(P, 0, 0, torch.Generator()).shape == (0,)


def test_a_matrix_that_is_not_square_is_refused():
    with pytest.raises(ValueError, match=r"\(2, 3\)"):
        sample_text(torch.ones(2, 3), 0, 1, torch.Generator())


# -- NGramModel ------------------------------------------------------------------------------------------------------


@given(texts, orders, st.lists(st.integers(0, 4), max_size=8), st.sampled_from([0.0, 0.5]))
def test_the_laws_of_the_model(text, n, context, alpha):
    P = NGramModel(n, VOCABULARY, alpha).fit(ids_of(text)).next_distribution(ids_of(context))
    assert P.shape == (VOCABULARY,)
    assert_close(P.sum(), torch.tensor(1.0))
    assert bool((P >= 0).all())
    assert all(P[token] > 0 for token in set(text))
    if alpha > 0:
        assert bool((P > 0).all())


@given(texts, orders, st.lists(st.integers(0, 4), max_size=8), st.lists(st.integers(0, 4), max_size=3))
def test_only_the_last_tokens_matter(text, n, context, earlier):
    model = NGramModel(n, VOCABULARY, 0.1).fit(ids_of(text))
    kept = context[len(context) - (n - 1) :] if len(context) >= n - 1 else None
    if kept is not None:
        assert torch.equal(model.next_distribution(ids_of(earlier + context)), model.next_distribution(ids_of(kept)))


@given(texts, st.lists(st.integers(0, 4), max_size=4))
def test_the_recursion_by_hand(text, context):
    n, alpha = 3, 0.5
    grams = {k: count_ngrams(text, k) for k in range(1, n + 1)}

    def probability(u: int, h: tuple[int, ...]) -> float:
        after = {g[-1]: c for g, c in grams[len(h) + 1].items() if g[:-1] == h}
        total, kinds = sum(after.values()), len(after)
        if not h:
            return (after.get(u, 0) + alpha) / (total + alpha * VOCABULARY)
        below = probability(u, h[1:])
        return (after.get(u, 0) + kinds * below) / (total + kinds) if total else below

    model = NGramModel(n, VOCABULARY, alpha).fit(ids_of(text))
    history = tuple(context[-(n - 1) :])
    expected = torch.tensor([probability(u, history) for u in range(VOCABULARY)])
    assert_close(model.next_distribution(ids_of(context)), expected, atol=1e-6, rtol=1e-5)


def test_fitting_again_starts_anew():
    model = NGramModel(3, VOCABULARY, 0.1).fit(ids_of([0, 1, 2, 0, 1, 2]))
    again = model.fit(ids_of([4, 3, 4, 3]))
    fresh = NGramModel(3, VOCABULARY, 0.1).fit(ids_of([4, 3, 4, 3]))
    for context in ([], [1], [4, 3]):
        assert torch.equal(again.next_distribution(ids_of(context)), fresh.next_distribution(ids_of(context)))


def test_a_distribution_is_the_callers_own():
    model = NGramModel(2, VOCABULARY, 0.1).fit(ids_of([0, 1, 0, 2]))
    before = model.next_distribution(ids_of([])).clone()
    model.next_distribution(ids_of([])).zero_()
    assert torch.equal(model.next_distribution(ids_of([])), before)


def test_nothing_read_is_uniform():
    assert_close(NGramModel(3, VOCABULARY, 0.0).next_distribution(ids_of([1, 2])), torch.full((5,), 0.2))


@pytest.mark.parametrize(("n", "size", "alpha"), [(0, 5, 0.1), (2, 0, 0.1), (2, 5, -1.0)])
def test_impossible_models_are_refused(n, size, alpha):
    with pytest.raises(ValueError, match="expected n"):
        NGramModel(n, size, alpha)


def test_more_context_helps_on_a_text_with_memory():
    ids = ids_of([0, 0, 1, 1] * 50)
    guesses = [NGramModel(n, 2, 0.1).fit(ids).next_distribution(ids_of([0, 1]))[1] for n in (1, 2, 3)]
    assert guesses[0] < 0.6 and guesses[1] < 0.6 < 0.9 < guesses[2]


def test_the_courses_own_choice():
    model = language_model(7)
    assert (model.n, model.vocab_size) == (5, 7)


@given(texts.filter(bool), orders, st.lists(st.lists(st.integers(0, 4), max_size=7), max_size=5))
def test_a_long_text_is_counted_otherwise_and_to_the_same_end(text, n, contexts):
    short = NGramModel(n, VOCABULARY, 0.1).fit(ids_of(text))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(markov_ngrams, "LONG", 0)
        long = NGramModel(n, VOCABULARY, 0.1).fit(ids_of(text))
    assert (type(short.followers), type(long.followers)) == (Table, Tree)
    for context in contexts:
        assert_close(short.next_distribution(ids_of(context)), long.next_distribution(ids_of(context)))
