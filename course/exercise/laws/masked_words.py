"""Laws of masked language modelling: an answer of inputs and labels, with -100 for words that are not predicted."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from .chance import frequency_counts, unlike
from .plain import kind, tensor
from .registry import Outputs, law, law_with


@law
def long_like(outputs: Outputs, ids: Tensor, of: str = "out", because: str = "") -> str:
    """Require inputs and labels that are LongTensors of the shape of `ids`."""
    for name, found in zip(("inputs", "labels"), outputs[of], strict=True):
        if found.shape != ids.shape or found.dtype != torch.int64:
            return because or f"expected {kind(ids)} for the {name}, got {kind(found)}"
    return ""


@law
def known_words(outputs: Outputs, words: int, of: str = "out", because: str = "") -> str:
    """Require inputs with ids from 0 to `words` - 1, the mask's among them."""
    inputs = outputs[of][0]
    unknown = inputs[(inputs < 0) | (inputs >= words)]
    if not len(unknown):
        return ""
    return because or f"the inputs hold the id {int(unknown[0])}, but no word and no mask has it"


@law
def labels_hold_the_words(outputs: Outputs, ids: Tensor, of: str = "out", because: str = "") -> str:
    """Require LongTensors of the shape of `ids`, with labels that are either the word itself or -100."""
    unlike = long_like(outputs, ids, of)
    if unlike:
        return unlike
    labels = outputs[of][1]
    if bool(((labels == ids) | (labels == -100)).all()):
        return ""
    return because or "a label is neither -100 nor the id of the original word"


@law
def unasked_words_stay(outputs: Outputs, ids: Tensor, of: str = "out", because: str = "") -> str:
    """Require words with label -100 to be unchanged."""
    inputs, labels = outputs[of]
    changed = int((inputs != ids)[labels == -100].sum())
    return because or f"{changed} words changed, but their label is -100" if changed else ""


@law
def never_asked_for(outputs: Outputs, where: Tensor, of: str = "out", because: str = "") -> str:
    """Require label -100 wherever `where` is True."""
    found = int((outputs[of][1] != -100)[where].sum())
    return because or f"{found} special tokens have a label, but none should" if found else ""


def corruption_counts(outputs: Outputs, probabilities: Tensor, of: str = "out", last: int = 0, **_: Any) -> Tensor:
    """Return how often a word was not selected, and how often a selected one became which word: (1, 1 + words).

    Count only the last `last` words, or all if `last` is 0.
    """
    inputs, labels = (tensor(part).flatten()[-last:] for part in outputs[of])
    became = torch.where(labels == -100, 0, inputs + 1)
    return frequency_counts({of: became}, probabilities, of)


@law_with(corruption_counts, relative=True)
def corruption_frequencies(
    outputs: Outputs, probabilities: Tensor, of: str = "out", last: int = 0, because: str = ""
) -> str:
    """Require a text that repeats one word to be corrupted by `probabilities`: not selected, then each new word.

    Count only the last `last` words, or all if `last` is 0.
    """
    return unlike(outputs, lambda found: corruption_counts(found, probabilities, of, last), probabilities, because)


def _together(chosen: Tensor, group: int) -> Tensor:
    """Count groups of `group` neighbours along the last axis by their number of chosen ones, as (1, group + 1)."""
    whole = chosen[..., : chosen.shape[-1] // group * group]
    return torch.bincount(whole.unflatten(-1, (-1, group)).sum(-1).flatten(), minlength=group + 1)[None].double()


def _by_own_coins(p: float, group: int) -> Tensor:
    """Return the binomial probabilities of 0 … `group` chosen ones, each chosen independently with probability `p`."""
    return torch.tensor([math.comb(group, k) * p**k * (1 - p) ** (group - k) for k in range(group + 1)])


def chosen_counts(outputs: Outputs, p: float, axis: int, group: int = 5, of: str = "out", **_: Any) -> Tensor:
    """Count groups of `group` neighbours along `axis` by their number of selected words, as (1, group + 1)."""
    return _together((_labels(outputs[of]) != -100).movedim(axis, -1), group)


def _labels(answer: Any) -> Tensor:
    """Return the labels of an answer, or of a list of answers from `draws`, stacked along a new first axis."""
    return answer[1] if isinstance(answer[1], Tensor) else torch.stack([_labels(one) for one in answer])


@law_with(chosen_counts, relative=True)
def chosen_one_by_one(outputs: Outputs, p: float, axis: int, group: int = 5, of: str = "out", because: str = "") -> str:
    """Require each word to be selected with probability `p`, independently of its neighbours along `axis`."""
    shares = _by_own_coins(p, group)
    return unlike(outputs, lambda found: chosen_counts(found, p, axis, group, of), shares, because)


def tossed_counts(outputs: Outputs, p: float, group: int = 5, of: str = "out", **_: Any) -> Tensor:
    """Count groups of `group` consecutive draws by their number of zeros, as (1, group + 1)."""
    return _together(tensor(outputs[of]).flatten() == 0, group)


@law_with(tossed_counts, relative=True)
def tossed_one_by_one(outputs: Outputs, p: float, group: int = 5, of: str = "out", because: str = "") -> str:
    """Require each draw to be 0 with probability `p`, independently of the others in its `group`."""
    return unlike(outputs, lambda found: tossed_counts(found, p, group, of), _by_own_coins(p, group), because)
