"""The laws of masking: models asked at every position, masked words, and outputs that may not change."""

from __future__ import annotations

import math

import torch

from course.exercise.laws import EXPECTED, LAWS
from course.reference.masking import mlm_corrupt


def broken(name, outputs, **params):
    return LAWS[name].holds(outputs, **params)


def test_losses_of_whole_sentences_are_means_over_what_is_asked():
    logits = torch.zeros(2, 3, 4)
    targets = torch.tensor([[1, 2, -100], [3, -100, -100]])
    outputs, known = {"out": logits}, torch.tensor([2 * math.log(4), math.log(4)])
    assert not broken("log_loss_at_most", outputs, targets=targets, known=known, margin=1e-6)
    assert broken("log_loss_at_most", outputs, targets=targets, known=known, margin=-0.01)
    assert not broken("log_loss_at_least", outputs, targets=targets, known=known, margin=-1e-6)
    assert broken("log_loss_at_least", outputs, targets=targets, known=known, margin=0.01)


def test_a_leak_is_found_in_sums_of_sentences_and_no_luck_is():
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(500, 3, 5, generator=generator, dtype=torch.float64)
    flat = logits.softmax(-1).flatten(0, 1)
    targets = torch.multinomial(flat, 1, generator=generator).view(500, 3)
    targets[::2, 2] = -100
    losses = torch.nn.functional.cross_entropy(logits.mT, targets, reduction="none").sum(1)
    assert not broken("no_better_than", {"out": logits}, targets=targets, best=losses)
    peeking = logits + 0.5 * torch.nn.functional.one_hot(targets.clamp(min=0), 5)
    assert broken("no_better_than", {"out": peeking}, targets=targets, best=losses)


def test_what_may_not_move():
    first, second = torch.zeros(2, 5, 3), torch.zeros(2, 5, 3)
    second[:, 3:] = 1.0
    outputs = {"first": first, "second": second}
    assert not broken("equal_up_to", outputs, of="first", to="second", count=3)
    assert broken("equal_up_to", outputs, of="first", to="second", count=4)
    assert not broken("equal_up_to", outputs, of="first", to="second", count=2, dim=0, within=2.0)
    assert EXPECTED not in outputs


def test_masked_words():
    ids = torch.randint(5, (40, 7), generator=torch.Generator().manual_seed(1))
    special = ids == 0
    inputs, labels = mlm_corrupt(ids, special, 5, 5, torch.Generator().manual_seed(2), 0.5)
    right = {"out": (inputs, labels)}
    assert not broken("labels_hold_the_words", right, ids=ids)
    assert not broken("unasked_words_stay", right, ids=ids)
    assert not broken("never_asked_for", right, where=special)
    assert broken("labels_hold_the_words", {"out": (inputs, labels.clamp(min=0))}, ids=ids)
    assert "torch" not in broken("labels_hold_the_words", {"out": (inputs.float(), labels)}, ids=ids)
    assert not broken("long_like", right, ids=ids)
    assert "float32" in broken("long_like", {"out": (inputs.float(), labels)}, ids=ids)
    assert broken("long_like", {"out": (inputs, labels[:1])}, ids=ids)
    assert not broken("known_words", right, words=6)
    assert "the id 6" in broken("known_words", {"out": (inputs + 1, labels)}, words=6)
    assert "the id -100" in broken("known_words", {"out": (labels, inputs)}, words=6)
    assert broken("unasked_words_stay", {"out": (inputs, torch.full_like(ids, -100))}, ids=ids)
    assert broken("never_asked_for", {"out": (ids, ids)}, where=special)


def test_right_draws_of_masked_words_hardly_ever_break_a_law_of_chance():
    ids, none = torch.ones(500, 5, dtype=torch.long), torch.zeros(500, 5, dtype=torch.bool)
    p, fates = 0.4, [0.1 / 3, 0.1 + 0.1 / 3, 0.1 / 3, 0.8]
    shares = torch.tensor([1 - p, *(p * fate for fate in fates)])
    for seed in range(200):
        outputs = {"out": mlm_corrupt(ids, none, 3, 3, torch.Generator().manual_seed(seed), p)}
        assert not broken("corruption_frequencies", outputs, probabilities=shares)
        assert not broken("chosen_one_by_one", outputs, p=p, axis=1)
        assert not broken("chosen_one_by_one", outputs, p=p, axis=0)
    outputs = {"out": (ids, torch.where(torch.rand(500, 1) < p, ids, -100))}
    assert broken("chosen_one_by_one", outputs, p=p, axis=1)


def test_what_becomes_of_the_last_words_can_be_counted_by_itself():
    fates = torch.tensor([0.0, 0.0, 0.2, 0.0, 0.8])
    in_a_row = torch.full((2500,), 3).masked_fill(torch.arange(2500) >= 2000, 1)
    outputs = {"out": (in_a_row, torch.ones(2500, dtype=torch.long))}
    assert not broken("corruption_frequencies", outputs, probabilities=fates)
    assert broken("corruption_frequencies", outputs, probabilities=fates, last=500)
