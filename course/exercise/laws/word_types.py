"""Laws of random labels that every token of a word type shares, over many draws of them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .chance import unlike
from .plain import tensor
from .registry import Outputs, Unreadable, law, law_with


def _drawn(outputs: Outputs, words: Tensor, of: str) -> Tensor:
    """Return the labels of several draws, (draws, N).

    Raises:
        Unreadable: there is not one label for each token.
    """
    labels = tensor(outputs[of]).long()
    labels = labels[None] if labels.ndim == 1 else labels
    if labels.ndim != 2 or labels.shape[1] != len(words):
        raise Unreadable(f"expected a label for each of {len(words)} tokens, got shape {tuple(labels.shape[1:])}")
    return labels


def _first_tokens(words: Tensor) -> Tensor:
    """Return the place of the first token of each word type, in the order of the types' numbers."""
    return torch.stack([(words == word).nonzero()[0, 0] for word in words.unique()])


@law
def one_label_a_type(outputs: Outputs, words: Tensor, of: str = "out", because: str = "") -> str:
    """Require all tokens of a word type, words (N,), to have one label in each draw."""
    labels = _drawn(outputs, words, of)
    places = _first_tokens(words)[words.unique(return_inverse=True)[1]]
    told = "two tokens of the same word have different labels. How many labels does a word type have?"
    return "" if bool((labels == labels[:, places]).all()) else because or told


def type_label_counts(
    outputs: Outputs, words: Tensor, probabilities: Tensor, of: str = "out", pairs: bool = False, **_: Any
) -> Tensor:
    """Return how often each word type got each label, (types, K), or, with `pairs`, of two neighbouring types (1, K²).

    Raises:
        ValueError: a label that does not exist was drawn.
    """
    labels, K = _drawn(outputs, words, of)[:, _first_tokens(words)], probabilities.shape[-1]  # (draws, types)
    if bool((labels < 0).any()) or bool((labels >= K).any()):
        raise ValueError("labels were drawn that do not exist")
    if pairs:
        even = labels[:, : labels.shape[1] // 2 * 2].view(len(labels), -1, 2)
        return torch.bincount((even[..., 0] * K + even[..., 1]).flatten(), minlength=K * K).double()[None]
    return torch.stack([torch.bincount(column, minlength=K).double() for column in labels.T])


@law_with(type_label_counts, relative=True)
def labels_of_types(
    outputs: Outputs, words: Tensor, probabilities: Tensor, of: str = "out", pairs: bool = False, because: str = ""
) -> str:
    """Require the label of each word type to follow `probabilities` (K,), and types to be labelled independently."""
    p = probabilities.double()
    rows = len(words.unique())
    expected = torch.outer(p, p).flatten()[None] if pairs else p.expand(rows, -1)
    return unlike(outputs, lambda found: type_label_counts(found, words, probabilities, of, pairs), expected, because)
