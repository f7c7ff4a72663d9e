"""Hidden tests of `pretraining_loss`: hidden words, pairs, and a batch in which nothing is hidden."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.exercise import call, exercise
from course.reference import bert as reference

V = 7


@exercise(
    reference.pretraining_loss,
    hints=(
        "Which labels are asked for? Compute both parts for one sentence by hand. Which numbers do you add?",
        "What is a mean over no words? What should the first part be then?",
        "Begin with the pairs, an ordinary cross-entropy of two classes. Then find the hidden words among the labels. "
        "Print how many there are, and the shape of the logits of those words alone.",
    ),
    calls=(
        "pretraining_loss(zeros(1, 2, 2), tensor([[0, -100]]), tensor([[100., 0.]]), tensor([0]))",
        "pretraining_loss(zeros(1, 2, 2), tensor([[-100, -100]]), tensor([[0., 100.]]), tensor([1]))",
        (
            "pretraining_loss(tensor([[[100., 0.], [100., 0.]]]), tensor([[1, -100]]), tensor([[100., 0.]]), "
            "tensor([0]))"
        ),
        ("pretraining_loss(tensor([[[100., 0.], [100., 0.]]]), tensor([[1, 0]]), tensor([[100., 0.]]), tensor([0]))"),
        ("pretraining_loss(tensor([[[100., 0.], [100., 0.]]]), tensor([[0, 0]]), tensor([[100., 0.]]), tensor([1]))"),
        "pretraining_loss(zeros(1, 2, 2), tensor([[-100, -100]]), tensor([[0., 0.]]), tensor([1]))",
    ),
)
def pretraining_loss(rng):
    """Both parts with gradients. The id 0 and the pair label 0 are asked for like all others."""

    def asked(title, B, T, share, dtype=torch.float64, **settings):
        labels = torch.where(rng.uniform(B, T) < share, rng.integers(0, V, B, T), -100)
        labels[0, :2] = torch.tensor([0, 3])
        pairs = torch.arange(B) % 2
        inputs = rng.normal(B, T, V, dtype=dtype), labels, 2 * rng.normal(B, 2, dtype=dtype), pairs
        return call(title, *inputs, **settings)

    yield asked("three pairs", 3, 5, 0.4, public=True, weight=2.0)
    yield asked("a larger batch", 11, 13, 0.2, weight=2.0)
    yield asked("every word is hidden", 2, 5, 1.0)
    yield asked("one sentence", 1, 11, 0.3)
    none = torch.full((3, 5), -100)
    inputs = rng.normal(3, 5, V), none, rng.normal(3, 2), torch.tensor([1, 0, 1])
    yield call("nothing is hidden", *inputs, grad=False, public=True, weight=2.0)
    single = torch.full((2, 5), -100)
    single[1, 3] = 2
    yield call("one word is hidden", rng.normal(2, 5, V), single, rng.normal(2, 2), torch.tensor([0, 1]))
    surprise = rng.normal(2, 5, V)
    surprise[1, 3, 2] -= 9.0  # so large a loss shows what is added to a probability or to a divisor
    pairs = rng.normal(2, 2), torch.tensor([0, 1])
    yield call("one word is hidden, and very unlikely", surprise, single, *pairs, public=True, weight=0.5)
    yield asked("float32", 2, 7, 0.3, torch.float32, weight=0.5)


def _words(word_logits, labels, **settings):
    return F.cross_entropy(word_logits.flatten(0, 1), labels.flatten(), **settings)


@pretraining_loss.misconception("Call it with no word hidden. What is the mean of no numbers?")
def not_a_number_where_nothing_is_hidden(word_logits, labels, pair_logits, is_next):
    return _words(word_logits, labels) + F.cross_entropy(pair_logits, is_next)


@pretraining_loss.misconception("Hide a word whose id is 0. Does the loss ask for it?")
def id_zero_ignored(word_logits, labels, pair_logits, is_next):
    hidden = labels > 0
    words = F.cross_entropy(word_logits[hidden], labels[hidden], reduction="sum") / hidden.sum().clamp(min=1)
    return words + F.cross_entropy(pair_logits, is_next)


@pretraining_loss.misconception("Change the logits of a pair with the label 0. Does the loss move?")
def pairs_with_label_zero_ignored(word_logits, labels, pair_logits, is_next):
    right = reference.pretraining_loss(word_logits, labels, pair_logits, is_next)
    pairs = F.cross_entropy(pair_logits, is_next)
    return right - pairs + F.cross_entropy(pair_logits, is_next, ignore_index=0)


@pretraining_loss.misconception("Change the logits of a word that is not hidden. Should the loss move?")
def all_words_asked_for(word_logits, labels, pair_logits, is_next):
    return _words(word_logits, labels.clamp(min=0)) + F.cross_entropy(pair_logits, is_next)


@pretraining_loss.misconception("By what do you divide the sum over the hidden words? Print that number.")
def divided_by_all_words(word_logits, labels, pair_logits, is_next):
    return _words(word_logits, labels, reduction="sum") / labels.numel() + F.cross_entropy(pair_logits, is_next)


@pretraining_loss.misconception("Make the batch twice as long by repeating it. Should the loss change?")
def sum_for_mean(word_logits, labels, pair_logits, is_next):
    words = _words(word_logits, labels, reduction="sum")
    return words + F.cross_entropy(pair_logits, is_next, reduction="sum")


@pretraining_loss.misconception("Is the loss the sum of the two parts, or their mean? Compute both for one batch.")
def mean_of_the_two_parts(word_logits, labels, pair_logits, is_next):
    return reference.pretraining_loss(word_logits, labels, pair_logits, is_next) / 2


@pretraining_loss.misconception("Change the pair logits. Does the loss move?")
def words_alone(word_logits, labels, pair_logits, is_next):
    pairs = F.cross_entropy(pair_logits, is_next)
    return reference.pretraining_loss(word_logits, labels, pair_logits, is_next) - pairs
