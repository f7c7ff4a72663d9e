"""The reference against torch's own functions, values and gradients, and against the laws of bags and windows."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from course.reference.cbow import (
    CBOW,
    bag_of_words,
    build_vocab,
    cbow_logits,
    context_windows,
    cross_entropy,
    nearest,
)
from tests.reference.numbers import gradients, noise

DTYPES = [torch.float32, torch.float64]
words = st.lists(st.sampled_from(["a", "b", "c", "dd", ",", "."]), max_size=30)
slow_torch = settings(max_examples=40)


# --- vocabulary and bags ---------------------------------------------------------------------------------------------


def test_the_lectures_table_comes_out():
    sentences = [s.split() for s in ("yes , we have no bananas", "say yes for bananas", "no bananas , we say")]
    vocab = {word: i for i, word in enumerate(["<unk>", *sorted({w for s in sentences for w in s})])}
    counts = bag_of_words(sentences, vocab)
    table = {word: counts[:, i].tolist() for word, i in vocab.items()}
    assert table == {
        "<unk>": [0, 0, 0],
        ",": [1, 0, 1],
        "bananas": [1, 1, 1],
        "for": [0, 1, 0],
        "have": [1, 0, 0],
        "no": [1, 0, 1],
        "say": [0, 1, 1],
        "we": [1, 0, 1],
        "yes": [1, 1, 0],
    }


def test_a_vocabulary_by_hand():
    assert build_vocab(["b", "a", "c", "b", "a", "b"]) == {"<unk>": 0, "b": 1, "a": 2, "c": 3}
    assert build_vocab(["b", "a", "c", "b", "a", "b"], min_count=2) == {"<unk>": 0, "b": 1, "a": 2}
    assert build_vocab([]) == {"<unk>": 0}


@given(words, st.integers(1, 4))
def test_a_vocabulary_is_ordered_and_holds_the_frequent(tokens, min_count):
    vocab = build_vocab(tokens, min_count)
    assert list(vocab.values()) == list(range(len(vocab))) and next(iter(vocab)) == "<unk>"
    known = list(vocab)[1:]
    assert set(known) == {word for word in tokens if tokens.count(word) >= min_count}
    keys = [(-tokens.count(word), word) for word in known]
    assert keys == sorted(keys)


@given(st.lists(words, min_size=1, max_size=4), st.integers(1, 3))
def test_a_bag_counts_every_word_once_and_forgets_the_order(sentences, min_count):
    vocab = build_vocab(sentences[0], min_count)
    counts = bag_of_words(sentences, vocab)
    assert counts.shape == (len(sentences), len(vocab))
    assert counts.sum(1).tolist() == [len(sentence) for sentence in sentences]
    assert torch.equal(counts, bag_of_words([sorted(sentence) for sentence in sentences], vocab))


# --- windows ---------------------------------------------------------------------------------------------------------


def test_windows_by_hand():
    contexts, targets = context_windows(torch.tensor([5, 6, 7, 8, 9]), 1)
    assert contexts.tolist() == [[5, 7], [6, 8], [7, 9]] and targets.tolist() == [6, 7, 8]


@given(st.integers(1, 4), st.integers(0, 12))
def test_window_and_target_lie_around_their_place(radius, more):
    ids = torch.randperm(2 * radius + more)
    contexts, targets = context_windows(ids, radius)
    assert contexts.shape == (more, 2 * radius) and targets.shape == (more,)
    assert contexts.dtype == targets.dtype == torch.int64
    for i in range(more):
        whole = [*contexts[i, :radius].tolist(), int(targets[i]), *contexts[i, radius:].tolist()]
        assert whole == ids[i : i + 2 * radius + 1].tolist()


def test_results_do_not_alias_the_text():
    ids = torch.arange(7)
    contexts, targets = context_windows(ids, 1)
    contexts += 100
    targets += 100
    assert torch.equal(ids, torch.arange(7))


@pytest.mark.parametrize(("length", "radius"), [(0, 1), (3, 2), (5, 0), (5, -1)])
def test_impossible_windows_are_refused(length, radius):
    with pytest.raises(ValueError, match=rf"\({length},\)"):
        context_windows(torch.arange(length), radius)


# --- loss ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("B", "V"), [(1, 1), (1, 7), (5, 3), (13, 11)])
def test_cross_entropy_agrees_with_torch(B, V, dtype):
    logits, targets = noise(B, V, dtype=dtype), torch.arange(B) % V
    ours, theirs = cross_entropy(logits, targets), F.cross_entropy(logits, targets)
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(gradients(ours, [logits]), gradients(theirs, [logits]))


def test_cross_entropy_survives_huge_logits():
    logits = torch.tensor([[1e4, -1e4, 0.0], [-1e4, -1e4, 1e4]], dtype=torch.float64)
    assert cross_entropy(logits, torch.tensor([0, 2])) == 0
    assert cross_entropy(logits, torch.tensor([1, 2])) == 1e4


@slow_torch
@given(st.integers(1, 6), st.integers(1, 6), st.floats(-50, 50))
def test_cross_entropy_does_not_see_a_shift_and_is_never_negative(B, V, shift):
    logits, targets = noise(B, V).detach(), torch.zeros(B, dtype=torch.long)
    torch.testing.assert_close(cross_entropy(logits, targets), cross_entropy(logits + shift, targets))
    assert cross_entropy(logits, targets) >= 0


def test_knowing_nothing_costs_log_V():
    torch.testing.assert_close(cross_entropy(torch.zeros(3, 8), torch.tensor([0, 5, 7])), torch.tensor(8.0).log())


# --- the model -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("B", "C", "V", "D"), [(2, 4, 11, 3), (1, 2, 5, 7), (7, 6, 3, 1), (3, 1, 2, 2)])
def test_logits_agree_with_torchs_embedding_bag_and_linear_layer(B, C, V, D, dtype):
    contexts = torch.randint(V, (B, C), generator=torch.Generator().manual_seed(1))
    E, W, b = noise(V, D, dtype=dtype), noise(V, D, seed=1, dtype=dtype), noise(V, seed=2, dtype=dtype)
    bag = nn.EmbeddingBag.from_pretrained(E.detach(), mode="mean", freeze=False)
    ours, theirs = cbow_logits(contexts, E, W, b), F.linear(bag(contexts), W, b)
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(gradients(ours, [E, W, b]), gradients(theirs, [bag.weight, W, b]))


@slow_torch
@given(st.integers(1, 5), st.integers(1, 3))
def test_logits_forget_order_and_repetition(C, times):
    contexts = torch.randint(7, (3, C))
    tables = noise(7, 5).detach(), noise(7, 5, seed=1).detach(), noise(7, seed=2).detach()
    reference = cbow_logits(contexts, *tables)
    torch.testing.assert_close(cbow_logits(contexts[:, torch.randperm(C)], *tables), reference)
    torch.testing.assert_close(cbow_logits(contexts.repeat(1, times), *tables), reference)


def test_the_module_holds_what_the_function_reads():
    model = CBOW(11, 3)
    assert {name: tuple(p.shape) for name, p in model.named_parameters()} == {"E": (11, 3), "W": (11, 3), "b": (11,)}
    contexts = torch.tensor([[1, 2, 3, 4]])
    torch.testing.assert_close(model(contexts), cbow_logits(contexts, model.E, model.W, model.b))
    F.cross_entropy(model(contexts), torch.tensor([5])).backward()
    assert model.E.grad.abs().sum(1).nonzero().flatten().tolist() == [1, 2, 3, 4], "only the words that were read learn"


# --- neighbours ------------------------------------------------------------------------------------------------------


def test_neighbours_by_hand():
    E = torch.tensor([[1.0, 0.0], [5.0, 5.0], [0.9, 0.1], [-1.0, 0.0], [0.0, 1.0]])
    assert nearest(E, 0, 4).tolist() == [2, 1, 4, 3]


@slow_torch
@given(st.integers(2, 9), st.integers(0, 100))
def test_neighbours_agree_with_torchs_cosine_similarity(V, seed):
    E = noise(V, 5, seed=seed).detach()
    similarity = F.cosine_similarity(E, E[:1])
    expected = [i for i in similarity.argsort(descending=True).tolist() if i != 0]
    assert nearest(E, 0, V - 1).tolist() == expected
    lengths = torch.rand(V, 1, dtype=torch.float64) + 0.5
    assert nearest(E * lengths, 0, V - 1).tolist() == expected, "lengths do not count"


@pytest.mark.parametrize("k", [0, 5, 6])
def test_more_neighbours_than_words_are_refused(k):
    with pytest.raises(ValueError, match=r"\(5, 2\)"):
        nearest(torch.zeros(5, 2), 0, k)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: cross_entropy(torch.zeros(3, 5), torch.zeros(5, dtype=torch.long)),
        lambda: cbow_logits(torch.zeros(2, 4, dtype=torch.long), torch.zeros(5, 3), torch.zeros(3, 5), torch.zeros(5)),
    ],
)
def test_impossible_shapes_are_named(wrong):
    with pytest.raises(ValueError, match=r"\(3, 5\)"):
        wrong()
