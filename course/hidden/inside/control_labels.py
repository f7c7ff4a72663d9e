"""Hidden tests of `control_labels`: one label a word type, drawn as often as tokens have it, types independent."""

from __future__ import annotations

import torch

from course.exercise import draws, exercise
from course.reference import inside as reference

SHARES = "labels as often as tokens have them"


@exercise(
    reference.control_labels,
    hints=(
        "Print words and your labels side by side. What is true of two tokens of the same word?",
        "Let nine of ten tokens have the label N. How often should a new word type get N?",
        "Begin with `words.unique(return_inverse=True)`. How many types are there, and which type is each token?",
    ),
    calls=(
        "control_labels(tensor([3, 3, 5]), tensor([1, 1, 1]), gen(0))",
        "control_labels(tensor([3, 4, 5]), tensor([2, 2, 2]), gen(0)).shape",
        "control_labels(tensor([7]), tensor([4]), gen(0))",
        "c = control_labels(tensor([1, 2, 1, 1]), tensor([0, 1, 1, 0]), gen(0)); c[0] == c[2]",
        "control_labels(tensor([9, 9]), tensor([0, 1]), gen(0)).unique().numel()",
    ),
)
def control_labels(rng):
    """A text with a frequent word, other shares, many types; one label a type, types independent."""
    words = torch.tensor([5, 2, 5, 5, 9, 5, 2, 5])
    labels = torch.tensor([0, 1, 0, 0, 2, 0, 1, 0])
    yield from _asked(SHARES, words, labels, rng, public=True)
    yield from _asked("other shares", *_text(rng, [9, 4, 3, 2, 1, 1]), rng)
    yield from _asked("tokens of a word with several labels", words, torch.tensor([0, 1, 1, 0, 0, 0, 1, 2]), rng)
    many = rng.permutation(61)
    asked = (3, many, torch.arange(61) % 7, rng.generator())
    each = draws("many types", *asked, public=True, weight=2.0).draws(*asked, into="again")
    because = "the same generator gives other labels the second time. Does all chance come from `generator`?"
    each = each.law("repeats", to="again", because=because)
    each = each.law("whole_numbers", because="labels are whole numbers: return a LongTensor")
    each = each.law("slices_differ", because="two calls drew the same labels. Do they come from `generator`?")
    yield each.law("slices_vary", dim=1, because="all words have one label. Does each type draw for itself?")


def _text(rng, frequencies):
    """Words of these frequencies in any order, each with the label of its type: labels are 0, 1 and 2."""
    types = torch.arange(len(frequencies)).repeat_interleave(torch.tensor(frequencies))
    order = rng.permutation(len(types))
    return 3 * types[order] + 1, types[order] % 3


def _asked(title, words, labels, rng, **options):
    """Many draws for one text, judged by three laws."""
    shares = torch.bincount(labels).double() / len(labels)
    drawn = draws(title, 3000, words, labels, rng.generator(), weight=2.0, **options)
    drawn = drawn.law("labels_of_types", words=words, probabilities=shares)
    yield drawn
    mixed = drawn.judged_again(f"{title}: one label a type", weight=2.0)
    mixed = mixed.law("one_label_a_type", words=words)
    yield mixed.counts_with(title)
    apart = drawn.judged_again(f"{title}: types on their own", weight=1.0)
    because = "the label of one word depends on that of another. Does each type draw for itself, with replacement?"
    yield apart.law("labels_of_types", words=words, probabilities=shares, pairs=True, because=because)


def _by_type(words, draw):
    types, of_type = words.unique(return_inverse=True)
    return draw(len(types))[of_type]


@control_labels.misconception("Print the labels of all tokens of one word. A probe could not learn them. Why?")
def a_label_a_token(words, labels, generator):
    return labels[torch.randint(len(labels), (len(words),), generator=generator)]


@control_labels.misconception("Give 5 of 8 tokens the label 0. How often does a word get 0 from you?")
def uniform_labels(words, labels, generator):
    known = labels.unique()
    return _by_type(words, lambda n: known[torch.randint(len(known), (n,), generator=generator)])


@control_labels.misconception("Are your labels those of the text, each under a new name? Then a probe reads as much.")
def labels_renamed(words, labels, generator):
    known, number = labels.unique(return_inverse=True)
    return known[torch.randperm(len(known), generator=generator)][number]


@control_labels.misconception(
    "Let one word be most of the text. How often should another word get its label? From which list do you draw?"
)
def drawn_from_the_types(words, labels, generator):
    firsts = torch.stack([labels[words == word][0] for word in words.unique()])
    return _by_type(words, lambda n: firsts[torch.randint(n, (n,), generator=generator)])


@control_labels.misconception("Print the labels of all tokens of one word. Does shuffling keep them together?")
def labels_shuffled(words, labels, generator):
    return labels[torch.randperm(len(labels), generator=generator)]
