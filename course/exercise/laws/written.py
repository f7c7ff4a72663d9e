"""Laws of sequences that are generated token by token."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .measure import Measure
from .plain import kind, tensor
from .registry import Outputs, Unreadable, law, law_with


@law
def padded_behind(outputs: Outputs, eos: int, pad: int, of: str = "out", because: str = "") -> str:
    """Require ids (B, L) with nothing but `pad` after the first `eos` of a row."""
    ids = tensor(outputs[of])
    behind = (ids == eos).cumsum(1) - (ids == eos).long() > 0
    if bool((ids == pad)[behind].all()):
        return ""
    return because or "a sentence has tokens other than padding after its first eos"


@law
def no_longer_than(outputs: Outputs, longest: int, of: str = "out", because: str = "") -> str:
    """Require ids (B, L) with at most `longest` columns."""
    found = tensor(outputs[of]).shape[1]
    return "" if found <= longest else because or f"expected at most {longest} tokens, got {found}"


@law
def long_enough(outputs: Outputs, eos: int, longest: int, of: str = "out", because: str = "") -> str:
    """Require ids (B, L) with at most `longest` columns, and exactly as many if a row has no `eos`."""
    ids = tensor(outputs[of])
    if ids.shape[1] > longest:
        return because or f"expected at most {longest} tokens, got {ids.shape[1]}"
    endless = bool((~(ids == eos).any(1)).any())
    short = endless and ids.shape[1] < longest
    return because or "decoding stops although a sentence has no eos yet and may be longer" if short else ""


@law
def a_row_for_each(outputs: Outputs, ids: str, of: str = "out", because: str = "") -> str:
    """Require logits (B, L, V) with a row for each of the ids (B, L)."""
    shape, wanted = tuple(tensor(outputs[of]).shape), tuple(tensor(outputs[ids]).shape)
    if shape[:2] == wanted:
        return ""
    return because or f"expected logits of shape (B, T, V) from `forward` for tokens of shape {wanted}, got {shape}"


@law
def keeps_its_eos(outputs: Outputs, logits: str, eos: int, pad: int, of: str = "out", because: str = "") -> str:
    """Require ids (B, L) that do not replace `eos` by `pad` where `eos` has the largest logit (B, L, V)."""
    first = _first_that_strays(outputs, logits, eos, of)
    painted = (tensor(outputs[logits]).argmax(2) == eos) & (tensor(outputs[of]) == pad)
    if not bool(first.any() and painted[first].all()):
        return ""
    return because or "`decode_greedy` returns pad where `forward` finds eos most likely. Does it keep the eos itself?"


@law
def follows_its_logits(outputs: Outputs, logits: str, eos: int, of: str = "out", because: str = "") -> str:
    """Require each id to have the largest of its logits (B, L, V), up to and including the first `eos` of a row."""
    if not bool(_first_that_strays(outputs, logits, eos, of).any()):
        return ""
    return because or (
        "for the tokens that `decode_greedy` returned, `forward` finds another token more likely. Which token and "
        "which state go into a step?"
    )


def _first_that_strays(outputs: Outputs, logits: str, eos: int, of: str) -> Tensor:
    """Return (B, L): True at the first id of a row without the largest logit. Later ids depend on that one."""
    ids, scores = tensor(outputs[of]), tensor(outputs[logits]).double()
    before = (ids == eos).cumsum(1) - (ids == eos).long() == 0
    off = before & (scores.gather(2, ids[:, :, None]).squeeze(2) < scores.amax(2) - 1e-4)
    return off & (off.cumsum(1) == 1)


@law
def weighs_real_places(
    outputs: Outputs, ids: str, lengths: Tensor, eos: int, of: str = "out", because: str = ""
) -> str:
    """Require nonnegative weights (B, L, S) that sum to one and are zero from `lengths` on, up to each row's eos."""
    weights, said = tensor(outputs[of]).double(), tensor(outputs[ids])
    if weights.shape[:2] != said.shape:
        rows = f"one row for each token of shape {tuple(said.shape)}"
        return f"expected weights of shape (B, L, S), {rows}, got {tuple(weights.shape)}"
    before = (said == eos).cumsum(1) - (said == eos).long() == 0
    padding = torch.arange(weights.shape[2]) >= lengths[:, None, None]
    good = (weights.sum(2) - 1).abs() < 1e-4
    good &= ((weights.abs() * padding).amax(2) < 1e-6) & (weights.amin(2) >= 0)
    if bool(good[before].all()):
        return ""
    return because or "the weights should sum to one over the real tokens of a sentence, but they do not"


@law
def same_whoever_is_first(outputs: Outputs, to: str, pad: int, of: str = "out", because: str = "") -> str:
    """Require each row of a batch to be generated as it is alone. The batches are rolled by 0, 1, 2 … positions.

    `of` holds (ids (B, L), ...) for each batch, `to` (ids (1, L), ...) for each sentence; `pad` at the end is ignored.
    Each sentence is first in one batch, which exposes a loop that stops with the first row. One sentence may differ,
    because rounding decides between two equally likely tokens, and each batch rounds differently.
    """
    alone = [_stripped(tensor(found[0])[0], pad) for found in outputs[to]]
    strays = set()
    for k, found in enumerate(outputs[of]):
        rows = zip(tensor(found[0]), alone[k:] + alone[:k], strict=True)
        strays |= {(k + i) % len(alone) for i, (row, other) in enumerate(rows) if _stripped(row, pad) != other}
    return "" if len(strays) <= 1 else because or f"{of} and {to} should hold the same tokens, but they differ"


def _share_written(
    outputs: Outputs, targets: Tensor, pad: int, counted: Tensor | None = None, of: str = "out", **_: Any
) -> float:
    rows = zip(_rows(outputs[of]), targets, strict=True)
    right = torch.tensor([_stripped(one, pad) == _stripped(other, pad) for one, other in rows])
    return float((right if counted is None else right[counted]).double().mean())


@law_with(measure=Measure(_share_written))
def written_at_least(
    outputs: Outputs,
    targets: Tensor,
    bar: float,
    pad: int,
    counted: Tensor | None = None,
    of: str = "out",
    because: str = "",
) -> str:
    """Require a share of at least `bar` of the rows to equal `targets` (B, T), up to `pad` at their end.

    The rows are a tensor (B, L), or one list of any length for each. With `counted`, a mask (B,), other rows are
    ignored.
    """
    found = _share_written(outputs, targets, pad, counted, of)
    return "" if found >= bar else because or f"{found:.1%} of the rows have no error, but {bar:.1%} should"


def _share_aligned(
    outputs: Outputs, words: Tensor, gold: Tensor, places: list[int], of: str = "out", **_: Any
) -> float:
    weights = tensor(outputs[of]).double()
    if weights.ndim != 3 or weights.shape[1] <= max(places) or weights.shape[2] != words.shape[1]:
        raise Unreadable(f"expected weights of shape (B, L, S), got {kind(outputs[of])}")
    belongs = torch.nn.functional.one_hot(words + 1)[:, :, 1:].double()  # (B, S, words)
    found = (weights[:, places] @ belongs).max(-1)
    return float(((found.indices == gold) & (found.values > 0)).double().mean())


@law_with(measure=Measure(_share_aligned))
def aligned_at_least(
    outputs: Outputs, words: Tensor, gold: Tensor, places: list[int], bar: float, of: str = "out", because: str = ""
) -> str:
    """Require most of the weight (B, L, S) on the word in `gold` at a share of at least `bar` of `places`.

    `words` (B, S) holds the word at each source position, or -1. `gold` (B, n) holds the word for each of the places.
    """
    try:
        share = _share_aligned(outputs, words, gold, places, of)
    except Unreadable as why:
        return str(why)
    if share >= bar:
        return ""
    return because or f"{share:.1%} of the digits attend most to their word, but {bar:.1%} should"


@law
def never_written(outputs: Outputs, token: int, of: str = "out", because: str = "") -> str:
    """Require ids without that token."""
    held = sum(token in row for row in _written(outputs[of]))
    return because or f"{held} rows hold {token}, which is not to be written" if held else ""


@law
def mostly_as_long(
    outputs: Outputs, low: int, high: int, share: float = 0.5, of: str = "out", because: str = ""
) -> str:
    """Require at least a `share` of the rows to have from `low` to `high` tokens."""
    lengths = [len(row) for row in _written(outputs[of])]
    found = sum(low <= length <= high for length in lengths) / max(len(lengths), 1)
    return "" if found >= share else because or f"{found:.0%} of the rows have {low} to {high} tokens"


def _written(value: Any) -> list[list[int]]:
    """Return the tokens of each row.

    Raises:
        TypeError: the tokens are not whole numbers.
    """
    rows = _rows(value)
    if any(row.is_floating_point() and len(row) for row in rows):
        raise TypeError("tokens are whole numbers")
    return [row.tolist() for row in rows]


def _rows(value: Any) -> list[Tensor]:
    """Return the ids of each row, from a tensor (B, L) or from lists of any lengths."""
    return [tensor(row) for row in value] if isinstance(value, list) else list(tensor(value))


def _stripped(ids: Tensor, pad: int) -> list[int]:
    """Return ids (L,) without the padding at their end."""
    kept = (ids != pad).nonzero()
    return ids[: int(kept.max()) + 1].tolist() if len(kept) else []
