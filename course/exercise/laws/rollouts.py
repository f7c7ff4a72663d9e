"""Laws of texts that a model wrote, with a mask of its own tokens and their log-probabilities."""

from __future__ import annotations

import re
from typing import Any

import torch
from torch import Tensor

from ..stand_ins import CachedWriter
from .chance import unlike
from .measure import Measure
from .plain import tensor
from .registry import Outputs, law, law_with


def _parts(outputs: Outputs, of: str) -> tuple[Tensor, Tensor, Tensor]:
    ids, mask, log_p = (tensor(part) for part in outputs[of])
    if ids.is_floating_point() or mask.dtype != torch.bool or not ids.shape == mask.shape == log_p.shape:
        raise ValueError("expected ids, a boolean mask and log-probabilities of one shape")
    return ids, mask, log_p


@law
def written_by(
    outputs: Outputs,
    scores: Tensor,
    prompts: Tensor,
    end: int,
    temperature: float = 1.0,
    of: str = "out",
    because: str = "",
) -> str:
    """Require ids that go on with prompts (B, T), and the mask and log p that a `cached_writer` gives."""
    ids, mask, log_p = _parts(outputs, of)
    T = prompts.shape[1]
    if ids.shape[1] <= T or not torch.equal(ids[:, :T], prompts):
        return because or "ids begin with the prompts, and go on behind them"
    own = ids[:, T:]
    alive = torch.cat([torch.ones_like(own[:, :1]), (own[:, :-1] != end).long().cumprod(1)], 1).bool()
    if bool((own[~alive] != end).any()):
        return because or f"behind the end of a row there is something other than the end token {end}"
    if bool(mask[:, :T].any()) or not torch.equal(mask[:, T:], alive):
        return because or "the mask is True on each row's own tokens and its first end token, and nowhere else"
    said = (CachedWriter(scores.double())(ids)[0][:, T - 1 : -1] / temperature).log_softmax(-1)
    right = torch.cat([torch.zeros(prompts.shape), said.gather(-1, own[..., None])[..., 0].where(alive, 0.0)], 1)
    if bool((log_p.double() - right).abs().max() < 1e-4):
        return ""
    return because or "log_p is not that of the distribution from which each own token was drawn, or not 0 elsewhere"


def _first_own(outputs: Outputs, place: int, probabilities: Tensor, of: str = "out", **_: Any) -> Tensor:
    ids, _mask, _log_p = _parts(outputs, of)
    return torch.bincount(ids[:, place], minlength=len(probabilities))[None].double()


@law_with(_first_own)
def tokens_there(
    outputs: Outputs, place: int, probabilities: Tensor, draws: int, of: str = "out", because: str = ""
) -> str:
    """Require the ids (draws, L) at one place to follow `probabilities` (V,)."""
    if len(_parts(outputs, of)[0]) != draws:
        return because or f"expected {draws} rows, one for each prompt"
    return unlike(outputs, lambda given: _first_own(given, place, probabilities, of), probabilities, because)


ANSWER = re.compile(r"\s*([+-]?[0-9]+)\s*")


def _share_right(outputs: Outputs, tokens: str, end: int, targets: Tensor, of: str = "out", **_: Any) -> float:
    right = 0
    for row, target in zip(tensor(outputs[of]).tolist(), targets.tolist(), strict=True):
        said = "".join(tokens[token] for token in row[: row.index(end)]) if end in row else ""
        found = ANSWER.fullmatch(said.rpartition("=")[2]) if "=" in said else None
        right += found is not None and int(found[1]) == target
    return right / len(targets)


@law_with(measure=Measure(_share_right))
def answers_right(
    outputs: Outputs, tokens: str, end: int, targets: Tensor, bar: float, of: str = "out", because: str = ""
) -> str:
    """Require a share of at least `bar` of the texts, ids (B, L), to give the integer in `targets` (B,).

    An id stands for a character of `tokens`. It is the integer behind the last `=` before the first `end` that counts.
    """
    found = _share_right(outputs, tokens, end, targets, of)
    return "" if found >= bar else because or f"{found:.1%} of the answers are right, but {bar:.0%} should be"
