"""Laws of policies over a small set of answers: how far they are from a known policy."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .measure import Measure
from .plain import kind, tensor
from .registry import Outputs, Unreadable, law, law_with
from .trained import log_losses


def _divergence(outputs: Outputs, ids: Tensor, log_best: Tensor, of: str = "out", **_: Any) -> float:
    return _kl(_log_p(outputs[of], ids), log_best)


@law_with(measure=Measure(_divergence, "bar", at_most=True, is_share=False))
def divergence_at_most(
    outputs: Outputs, ids: Tensor, log_best: Tensor, bar: float, of: str = "out", because: str = ""
) -> str:
    """Require KL(policy || best) of at most `bar`, for logits (N, T, V) of all N possible answers.

    `ids` (N, T) are these answers. Their first token is given, not predicted. `log_best` (N,) are the log-probabilities
    of the best policy.
    """
    found = _divergence(outputs, ids, log_best, of)
    told = f"the divergence from the best policy is {found:.3f}, but it should be at most {bar:g}"
    return "" if found <= bar else because or told


@law
def nearer_to_best(
    outputs: Outputs, ids: Tensor, log_best: Tensor, than: Tensor, of: str = "out", because: str = ""
) -> str:
    """Require a policy closer to the best one than to another one with log-probabilities `than` (N,)."""
    log_p = _log_p(outputs[of], ids)
    if _kl(log_p, log_best) < _kl(log_p, than):
        return ""
    return because or "the policy is nearer to another one than to the best"


def _kl(log_p: Tensor, log_q: Tensor) -> float:
    p = log_p.exp()
    return float(torch.where(p > 0, p * (log_p - log_q), 0.0).sum())


def _log_p(logits: Any, ids: Tensor) -> Tensor:
    """Return the log-probabilities of answers, (N,), from logits for each next token.

    Raises:
        Unreadable: the logits are missing, or the probabilities of the answers do not sum to one.
    """
    found = tensor(logits)
    if found.dim() != 3 or found.shape[:2] != ids.shape:
        raise Unreadable(f"expected logits for answers of shape {tuple(ids.shape)}, got {kind(found)}")
    log_p = -log_losses(found[:, :-1], ids[:, 1:])
    total = float(log_p.exp().sum())
    if not abs(total - 1) < 1e-3:
        raise Unreadable(f"the probabilities of all answers add up to {total:.3f} and not to 1")
    return log_p
