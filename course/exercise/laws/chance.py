"""Laws of random draws: do samples follow the right distribution?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .plain import tensor
from .registry import EXPECTED, Outputs, law_with

FALSE_ALARM = 1e-7
"""Bound on the probability that a right sampler breaks one frequency law (below one in a million per exercise)."""


def frequency_counts(outputs: Outputs, probabilities: Tensor, of: str = "out", start: Any = None, **_: Any) -> Tensor:
    """Return counts of drawn ids, (rows, K): one row, or one for each previous token if `start` holds first tokens.

    The draws are a LongTensor (n,), or (n, L) for n sequences; with `start`, position 0 follows `start`.

    Raises:
        ValueError: an id of probability zero was drawn.
    """
    drawn = tensor(outputs[of]).long()
    table = torch.zeros(probabilities.reshape(-1, probabilities.shape[-1]).shape, dtype=torch.float64)
    if start is None:
        row = torch.zeros_like(drawn)
    else:
        first = torch.full_like(drawn[..., :1], int(start))
        row = torch.cat([first, drawn[..., :-1]], dim=-1)
    if bool((drawn < 0).any()) or bool((drawn >= table.shape[1]).any()):
        raise ValueError("ids outside the vocabulary were drawn")
    flat = row.reshape(-1) * table.shape[1] + drawn.reshape(-1)
    return table.view(-1).index_add_(0, flat, torch.ones(flat.numel(), dtype=torch.float64)).view(table.shape)


@law_with(frequency_counts)
def frequencies(
    outputs: Outputs, probabilities: Tensor, draws: int, of: str = "out", start: Any = None, because: str = ""
) -> str:
    """Require `draws` ids that follow `probabilities` ((K,), or (K, K) by previous token with `start`).

    Each cell's count is compared with Chernoff's bound P(|p̂ − p| as large) ≤ 2·exp(−n·KL(p̂‖p)), which holds for any
    n, with a correction for the number of cells. A right sampler breaks the law with probability below `FALSE_ALARM`.
    """
    return _unlike(frequency_counts(outputs, probabilities, of, start), draws, probabilities, because)


def unlike(outputs: Outputs, count: Callable[[Outputs], Tensor], probabilities: Tensor, because: str) -> str:
    """Return a message if `probabilities` do not explain the counts, else an empty string.

    The counts must add up to the reference's own, if its outputs are given, or else to at least one.
    """
    table = count(outputs)
    asked = float(count(outputs[EXPECTED]).sum()) if EXPECTED in outputs else max(float(table.sum()), 1.0)
    return _unlike(table, asked, probabilities, because)


def _unlike(table: Tensor, asked: float, probabilities: Tensor, because: str) -> str:
    """Return such a message for a table of counts, whose sum must be `asked`, as an empty table would fit anything."""
    if float(table.sum()) != asked:
        amount = "few" if float(table.sum()) < asked else "many"
        return f"your result holds too {amount} samples. Compare its shape with the one in the task"
    p = probabilities.double().reshape(table.shape)
    n = table.sum(-1, keepdim=True)
    limit = math.log(2 * table.numel() * max(float(n.max()), 2.0) / FALSE_ALARM)
    excess = n * _binary_divergence(table / n.clamp(min=1), p)
    if bool((excess[n.expand_as(excess) > 0] <= limit).all()):
        return ""
    return because or "the samples do not follow the right distribution. Draw a few thousand and count them"


def _binary_divergence(a: Tensor, b: Tensor) -> Tensor:
    """Return KL(Bernoulli(a) || Bernoulli(b)), which is infinite if b excludes what a contains."""
    return (
        torch.special.xlogy(a, a)
        - torch.special.xlogy(a, b)
        + torch.special.xlogy(1 - a, 1 - a)
        - torch.special.xlogy(1 - a, 1 - b)
    )
