"""Laws of masked words: an answer of inputs and labels, in which -100 labels a word that nobody asks for."""

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
    """Inputs and labels are LongTensors of the shape of `ids`."""
    for name, found in zip(("inputs", "labels"), outputs[of], strict=True):
        if found.shape != ids.shape or found.dtype != torch.int64:
            return because or f"expected {kind(ids)} for the {name}, got {kind(found)}"
    return ""


@law
def known_words(outputs: Outputs, words: int, of: str = "out", because: str = "") -> str:
    """The inputs hold ids from 0 to `words` - 1, the mask's among them."""
    inputs = outputs[of][0]
    unknown = inputs[(inputs < 0) | (inputs >= words)]
    if not len(unknown):
        return ""
    return because or f"the inputs hold the id {int(unknown[0])}, but no word and no mask has it"


@law
def labels_hold_the_words(outputs: Outputs, ids: Tensor, of: str = "out", because: str = "") -> str:
    """Inputs and labels are LongTensors of the shape of `ids`, and each label is its word or -100."""
    unlike = long_like(outputs, ids, of)
    if unlike:
        return unlike
    labels = outputs[of][1]
    if bool(((labels == ids) | (labels == -100)).all()):
        return ""
    return because or "a label is neither -100 nor the id of the original word"


@law
def unasked_words_stay(outputs: Outputs, ids: Tensor, of: str = "out", because: str = "") -> str:
    """Where the label is -100 the word is as it was."""
    inputs, labels = outputs[of]
    changed = int((inputs != ids)[labels == -100].sum())
    return because or f"{changed} words changed, but their label is -100" if changed else ""


@law
def never_asked_for(outputs: Outputs, where: Tensor, of: str = "out", because: str = "") -> str:
    """No label on `where`."""
    found = int((outputs[of][1] != -100)[where].sum())
    return because or f"{found} special tokens have a label, but none should" if found else ""


def corruption_counts(outputs: Outputs, probabilities: Tensor, of: str = "out", last: int = 0, **_: Any) -> Tensor:
    """How often a word was not asked for, and, of those asked for, how often it became which word: (1, 1 + words).

    Of the `last` words only, or of all where that is 0.
    """
    inputs, labels = (tensor(part).flatten()[-last:] for part in outputs[of])
    became = torch.where(labels == -100, 0, inputs + 1)
    return frequency_counts({of: became}, probabilities, of)


@law_with(corruption_counts, relative=True)
def corruption_frequencies(
    outputs: Outputs, probabilities: Tensor, of: str = "out", last: int = 0, because: str = ""
) -> str:
    """What becomes of a text of one word follows `probabilities`: first for not being asked for, then word by word.

    `last`, where it is not 0, is how many words are counted, from the end.
    """
    return unlike(outputs, lambda found: corruption_counts(found, probabilities, of, last), probabilities, because)


def _together(chosen: Tensor, group: int) -> Tensor:
    """How many of `group` neighbours along the last axis are chosen, as a table (1, group + 1) of groups."""
    whole = chosen[..., : chosen.shape[-1] // group * group]
    return torch.bincount(whole.unflatten(-1, (-1, group)).sum(-1).flatten(), minlength=group + 1)[None].double()


def _by_own_coins(p: float, group: int) -> Tensor:
    """The probabilities of 0 … `group` chosen ones, each chosen with probability `p` on a coin of its own."""
    return torch.tensor([math.comb(group, k) * p**k * (1 - p) ** (group - k) for k in range(group + 1)])


def chosen_counts(outputs: Outputs, p: float, axis: int, group: int = 5, of: str = "out", **_: Any) -> Tensor:
    """How many of `group` neighbours along `axis` are asked for, as a table (1, group + 1) of groups."""
    return _together((_labels(outputs[of]) != -100).movedim(axis, -1), group)


def _labels(answer: Any) -> Tensor:
    """The labels of an answer; of a list of answers, as `draws` makes it, along a new first axis."""
    return answer[1] if isinstance(answer[1], Tensor) else torch.stack([_labels(one) for one in answer])


@law_with(chosen_counts, relative=True)
def chosen_one_by_one(outputs: Outputs, p: float, axis: int, group: int = 5, of: str = "out", because: str = "") -> str:
    """Each word is asked for with probability `p`, whatever becomes of its neighbours along `axis`."""
    shares = _by_own_coins(p, group)
    return unlike(outputs, lambda found: chosen_counts(found, p, axis, group, of), shares, because)


def tossed_counts(outputs: Outputs, p: float, group: int = 5, of: str = "out", **_: Any) -> Tensor:
    """How many of each `group` draws in a row are 0, as a table (1, group + 1) of groups."""
    return _together(tensor(outputs[of]).flatten() == 0, group)


@law_with(tossed_counts, relative=True)
def tossed_one_by_one(outputs: Outputs, p: float, group: int = 5, of: str = "out", because: str = "") -> str:
    """Each draw is 0 with probability `p`, whatever becomes of the others of its `group`."""
    return unlike(outputs, lambda found: tossed_counts(found, p, group, of), _by_own_coins(p, group), because)
