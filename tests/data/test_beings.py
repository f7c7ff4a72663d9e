"""The language of animals and things: what is drawn, what is labelled, and the best guess for a hidden word."""

from __future__ import annotations

import itertools

import pytest
import torch

from course.data import beings
from course.reference.masking import mlm_corrupt


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def drawn(n, seed=0):
    return beings.packed(beings.language().draw_sentences(n, generator(seed)))


def test_sentences_are_packed_as_bert_reads_them():
    ids, mask = drawn(50)
    assert bool((ids[:, 0] == beings.cls()).all()) and bool((ids[~mask] == 0).all())
    assert ids[torch.arange(50), mask.sum(1) - 1].tolist() == [beings.sep()] * 50
    assert beings.is_special(ids).sum().item() == 100 + int((~mask).sum())
    assert beings.decode(ids[0]).startswith("[CLS] ") and beings.decode(ids[0]).endswith(" . [SEP]")


def test_a_batch_has_sentences_of_similar_length():
    stream = beings.batches(generator())
    for ids, mask in itertools.islice(stream, 5):
        assert ids.shape == mask.shape and len(ids) == beings.BATCH
        assert int(mask.sum(1).max()) - int(mask.sum(1).min()) <= 5


def test_what_is_typed_is_read_and_what_is_unknown_is_named():
    assert beings.decode(beings.encode("the fox growls .")) == "the fox growls ."
    with pytest.raises(ValueError, match="'dragon' is not in the vocabulary"):
        beings.encode("the dragon growls .")


def test_halves_share_no_noun():
    first, second = beings.halves(generator())
    assert not {*first} & {*second} and {*first, *second} == {*beings.ANIMALS, *beings.THINGS}
    assert sum(noun in beings.ANIMALS for noun in first) == 5
    assert beings.halves(generator(1))[0] != first


def test_labelled_sentences_tell_nothing_but_their_nouns():
    nouns, others = beings.halves(generator())
    ids, mask, labels = beings.labelled(400, nouns, generator())
    objects = []
    for row, real, label in zip(ids, mask, labels.tolist()):
        said = beings.decode(row[real][1:-1]).split()
        found = [word for word in said if word in nouns]
        assert (found[0] in beings.ANIMALS) == bool(label) and not {*said} & {*others}
        assert {*said} & {*beings.WORDS["verb neutral"].split()}
        assert beings.language().log_probability(said) > -torch.inf
        objects += [(found[1] in beings.ANIMALS) == bool(label)] if len(found) > 1 else []
    assert labels.sum().item() == 200 and 0.4 < sum(objects) / len(objects) < 0.6


def test_the_best_guess_is_that_of_all_sentences():
    """Every sentence of four words, by brute force."""
    words = [("the", "a"), (*beings.ANIMALS, *beings.THINGS), "verb animal", "verb thing", "verb neutral"]
    verbs = [word for kind in words[2:] for word in beings.WORDS[kind].split()]
    determiners = beings.WORDS["determiner"].split()
    texts = torch.stack([beings.encode(f"{d} {n} {v} .") for d in determiners for n in words[1] for v in verbs])
    prior = beings.language().log_probabilities(texts.tolist()).exp()
    mask_id, V = beings.mask_id(), len(beings.words())
    inputs = beings.encode("the [MASK] growls [MASK]")
    seen_if_chosen = (0.8 * (inputs == mask_id) + 0.1 * (texts == inputs) + 0.1 / V).double()  # (N, 4)
    seen = 0.3 * seen_if_chosen + 0.7 * (texts == inputs)
    packed = torch.tensor([[beings.cls(), *inputs.tolist(), beings.sep()]])
    found = beings.guess(packed, torch.ones_like(packed).bool())
    for place in range(4):
        others = [t for t in range(4) if t != place]
        weight = prior * seen[:, others].prod(1) * seen_if_chosen[:, place]
        expected = torch.zeros(V).double().index_add_(0, texts[:, place], weight)
        torch.testing.assert_close(found[0, place + 1], expected / expected.sum())
    assert not found[0, [0, 5]].any()


def test_nobody_guesses_hidden_words_better_than_the_truth():
    ids, mask = drawn(300)
    inputs, labels = mlm_corrupt(ids, beings.is_special(ids), len(beings.words()), beings.mask_id(), generator(), 0.3)
    p = beings.guess(inputs, mask)[labels >= 0]
    truth = -p.gather(1, labels[labels >= 0][:, None]).log().mean()
    blurred = 0.9 * p + 0.1 / p.shape[1]
    sharpened = p.square() / p.square().sum(1, keepdim=True)
    for other in (blurred, sharpened):
        assert -other.gather(1, labels[labels >= 0][:, None]).log().mean() > truth
    assert torch.allclose(p.sum(1), torch.ones(len(p)).double())
