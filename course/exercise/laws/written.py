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
    """Ids (B, L) hold nothing but `pad` behind the first `eos` of a row."""
    ids = tensor(outputs[of])
    behind = (ids == eos).cumsum(1) - (ids == eos).long() > 0
    if bool((ids == pad)[behind].all()):
        return ""
    return because or "a sentence has tokens other than padding after its first eos"


@law
def no_longer_than(outputs: Outputs, longest: int, of: str = "out", because: str = "") -> str:
    """Ids (B, L) have at most `longest` columns."""
    found = tensor(outputs[of]).shape[1]
    return "" if found <= longest else because or f"expected at most {longest} tokens, got {found}"


@law
def long_enough(outputs: Outputs, eos: int, longest: int, of: str = "out", because: str = "") -> str:
    """Ids (B, L) have at most `longest` columns, and as many if there is a row without `eos`."""
    ids = tensor(outputs[of])
    if ids.shape[1] > longest:
        return because or f"expected at most {longest} tokens, got {ids.shape[1]}"
    endless = bool((~(ids == eos).any(1)).any())
    short = endless and ids.shape[1] < longest
    return because or "decoding stops although a sentence has no eos yet and may be longer" if short else ""


@law
def a_row_for_each(outputs: Outputs, ids: str, of: str = "out", because: str = "") -> str:
    """Logits (B, L, V) have a row for each of the ids (B, L)."""
    shape, wanted = tuple(tensor(outputs[of]).shape), tuple(tensor(outputs[ids]).shape)
    if shape[:2] == wanted:
        return ""
    return because or f"expected logits of shape (B, T, V) from `forward` for tokens of shape {wanted}, got {shape}"


@law
def keeps_its_eos(outputs: Outputs, logits: str, eos: int, pad: int, of: str = "out", because: str = "") -> str:
    """Ids (B, L) do not leave their logits (B, L, V) only where those say `eos`, for `pad`."""
    first = _first_that_strays(outputs, logits, eos, of)
    painted = (tensor(outputs[logits]).argmax(2) == eos) & (tensor(outputs[of]) == pad)
    if not bool(first.any() and painted[first].all()):
        return ""
    return because or "`decode_greedy` returns pad where `forward` finds eos most likely. Does it keep the eos itself?"


@law
def follows_its_logits(outputs: Outputs, logits: str, eos: int, of: str = "out", because: str = "") -> str:
    """Up to and with its first `eos`, each id has the largest of the logits (B, L, V) that were computed for it."""
    if not bool(_first_that_strays(outputs, logits, eos, of).any()):
        return ""
    return because or (
        "for the tokens that `decode_greedy` returned, `forward` finds another token more likely. Which token and "
        "which state go into a step?"
    )


def _first_that_strays(outputs: Outputs, logits: str, eos: int, of: str) -> Tensor:
    """(B, L): True at the first id of a row that is not the likeliest; what comes after one says little."""
    ids, scores = tensor(outputs[of]), tensor(outputs[logits]).double()
    before = (ids == eos).cumsum(1) - (ids == eos).long() == 0
    off = before & (scores.gather(2, ids[:, :, None]).squeeze(2) < scores.amax(2) - 1e-4)
    return off & (off.cumsum(1) == 1)


@law
def weighs_real_places(
    outputs: Outputs, ids: str, lengths: Tensor, eos: int, of: str = "out", because: str = ""
) -> str:
    """Weights (B, L, S) are none below zero, sum to one, and are zero behind `lengths`, up to the eos of each row."""
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
    """Of batches rolled by 0, 1, 2 … places, each (ids (B, L), ...), every row is that sentence's alone, but for `pad`.

    Alone it is `to`, a list of (ids (1, L), ...). A sentence that ends first and stops the others is first once. One
    sentence may differ: where two tokens are equally likely, rounding chooses, and each batch rounds in its own way.
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
    """A share of at least `bar` of the rows is written as in `targets` (B, T), to the end, but for `pad` behind it.

    What is written is a tensor (B, L), or a list for each row, as long as it has to be. With `counted`, a mask (B,),
    other rows do not matter.
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
    """At a share of at least `bar` of `places`, most of the weight (B, L, S) lies on the word that `gold` names.

    `words` (B, S) is each source place's word, -1 where there is none, `gold` (B, n) the word for each of the places.
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
    """No row holds that token."""
    held = sum(token in row for row in _written(outputs[of]))
    return because or f"{held} rows hold {token}, which is not to be written" if held else ""


@law
def mostly_as_long(
    outputs: Outputs, low: int, high: int, share: float = 0.5, of: str = "out", because: str = ""
) -> str:
    """A share of at least `share` of the rows has from `low` to `high` tokens."""
    lengths = [len(row) for row in _written(outputs[of])]
    found = sum(low <= length <= high for length in lengths) / max(len(lengths), 1)
    return "" if found >= share else because or f"{found:.0%} of the rows have {low} to {high} tokens"


def _written(value: Any) -> list[list[int]]:
    """Tokens row by row.

    Raises:
        TypeError: they are no whole numbers.
    """
    rows = _rows(value)
    if any(row.is_floating_point() and len(row) for row in rows):
        raise TypeError("tokens are whole numbers")
    return [row.tolist() for row in rows]


def _rows(value: Any) -> list[Tensor]:
    """Ids row by row: of a tensor (B, L), or of lists of any lengths."""
    return [tensor(row) for row in value] if isinstance(value, list) else list(tensor(value))


def _stripped(ids: Tensor, pad: int) -> list[int]:
    """Ids (L,) without the padding at their end."""
    kept = (ids != pad).nonzero()
    return ids[: int(kept.max()) + 1].tolist() if len(kept) else []
