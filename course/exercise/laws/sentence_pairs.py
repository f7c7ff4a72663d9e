"""Laws of next-sentence prediction: an answer of sentence pairs (tuples of ids) and labels, 1 for "is the next one"."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from .chance import frequency_counts, unlike
from .plain import kind
from .registry import Outputs, Unreadable, law, law_with

Sentence = tuple[int, ...]
Documents = list[list[Sentence]]


@law
def one_pair_for_each_neighbour(outputs: Outputs, documents: Documents, of: str = "out", because: str = "") -> str:
    """Require one pair and one label for each sentence but the last of each document, in order."""
    pairs, labels = _answer(outputs[of])
    wanted = [first for first, _, _ in _neighbours(documents)]
    if [first for first, _ in pairs] == wanted and len(labels) == len(wanted):
        return ""
    told = f"expected {len(wanted)} pairs, one for each sentence that has a next one, in order"
    return because or f"{told}; got {len(pairs)} pairs and {len(labels)} labels"


@law
def next_ones_are_next(outputs: Outputs, documents: Documents, of: str = "out", because: str = "") -> str:
    """Require the second sentence to be the next one of the document where the label is 1."""
    for second, label, true, _ in _labelled(outputs[of], documents):
        if label == 1 and second != true:
            return because or "a pair is labelled 1, and its second sentence is not the next one"
    return ""


@law
def others_are_not_next(outputs: Outputs, documents: Documents, of: str = "out", because: str = "") -> str:
    """Require the second sentence to differ from the next one of the document where the label is 0."""
    for second, label, true, _ in _labelled(outputs[of], documents):
        if label == 0 and second == true:
            return because or "a pair is labelled 0, and its second sentence equals the next one"
    return ""


@law
def others_are_strangers(outputs: Outputs, documents: Documents, of: str = "out", because: str = "") -> str:
    """Require a second sentence from another document unless it is the next one."""
    for second, _, true, own in _labelled(outputs[of], documents):
        strangers = {sentence for number, other in enumerate(documents) if number != own for sentence in other}
        if second != true and second not in strangers:
            return because or "a second sentence that is not the next one comes from the same document, or from none"
    return ""


@law
def every_stranger_comes(outputs: Outputs, documents: Documents, of: str = "out", because: str = "") -> str:
    """Require, over a list of answers, each pair to meet every sentence of other documents but its own next one."""
    came: dict[int, set[Sentence]] = {}
    for answer in outputs[of]:
        for number, (second, *_) in enumerate(_labelled(answer, documents)):
            came.setdefault(number, set()).add(second)
    for number, (_, true, own) in enumerate(_neighbours(documents)):
        wanted = {sentence for i, other in enumerate(documents) if i != own for sentence in other} - {true}
        if wanted - came.get(number, set()):
            return because or "some sentence of another document never comes as the false second one"
    return ""


def label_counts(outputs: Outputs, of: str = "out", group: int = 1, **_: Any) -> Tensor:
    """Count groups of `group` consecutive labels by their number of ones, as (1, group + 1), over a list of answers."""
    answers = outputs[of] if isinstance(outputs[of], list) else [outputs[of]]
    labels = torch.cat([_answer(one)[1] for one in answers])
    groups = labels[: len(labels) // group * group].view(-1, group).sum(1)
    return frequency_counts({of: groups}, torch.ones(group + 1), of)


@law_with(label_counts, relative=True)
def labels_are_tossed(outputs: Outputs, of: str = "out", group: int = 5, because: str = "") -> str:
    """Require each label to be 1 with probability one half, independently of the others in its `group`."""
    shares = torch.distributions.Binomial(group, torch.tensor(0.5)).log_prob(torch.arange(group + 1.0)).exp()
    return unlike(outputs, lambda found: label_counts(found, of, group), shares, because)


def _neighbours(documents: Documents) -> Iterator[tuple[Sentence, Sentence, int]]:
    """Yield each sentence that has a next one, the next one, and the number of their document."""
    for number, document in enumerate(documents):
        for first, true in pairwise(map(tuple, document)):
            yield first, true, number


def _labelled(answer: Any, documents: Documents) -> Iterator[tuple[Sentence, int, Sentence, int]]:
    """Yield, for each pair, the second sentence, its label, the true next one, and the number of the document.

    Raises:
        Unreadable: the pairs do not satisfy `one_pair_for_each_neighbour`.
    """
    (pairs, labels), wanted = _answer(answer), list(_neighbours(documents))
    if len(pairs) != len(wanted) or len(labels) != len(wanted):
        raise Unreadable(f"expected {len(wanted)} pairs and as many labels, got {len(pairs)} and {len(labels)}")
    for (_, second), label, (_, true, number) in zip(pairs, labels.tolist(), wanted, strict=True):
        yield second, label, true, number


def _answer(answer: Any) -> tuple[list[tuple[Sentence, Sentence]], Tensor]:
    """Return the pairs and the labels of an answer.

    Raises:
        Unreadable: the answer has another form.
    """
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise Unreadable(f"expected a tuple of pairs and labels, got {kind(answer)}")
    pairs, labels = answer
    if not isinstance(labels, Tensor) or labels.dtype != torch.int64 or labels.ndim != 1:
        raise Unreadable(f"expected the labels as a LongTensor (N,), got {kind(labels)}")
    if not isinstance(pairs, list | tuple) or not all(
        isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs
    ):
        raise Unreadable("expected the pairs as a list of tuples of two sentences")
    if not all(isinstance(one, tuple | list) for pair in pairs for one in pair):
        raise Unreadable("expected each sentence as a tuple of ids, as it was given")
    if bool(((labels != 0) & (labels != 1)).any()):
        raise Unreadable("a label is neither 0 nor 1")
    return [(tuple(first), tuple(second)) for first, second in pairs], labels
