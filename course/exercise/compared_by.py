"""Functions of a result that are compared where right results differ, such as the probability of a path.

Each takes a result and the arguments of its call, and returns the value to compare. If it raises because it cannot
read the result, the result itself is compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

UNREADABLE = (KeyError, TypeError, ValueError, IndexError, RuntimeError, AttributeError)
"""Errors that such a function raises for a result of the wrong type or size."""


def log_p_of_path(result: Any, log_start: Tensor, log_A: Tensor, log_E: Tensor, seen: Tensor) -> dict[str, Any]:
    """Return the log-probability of each path of a hidden Markov model with its text (B,), and the returned score.

    `result` is paths (B, T) and scores. Tables and texts are those of `hmm_forward`. A path with an invalid state has
    probability zero.

    Raises:
        ValueError: the paths are not a LongTensor of the texts' shape.
    """
    path, score = result
    if path.shape != seen.shape or path.dtype != torch.long:
        raise ValueError(f"expected paths of shape {tuple(seen.shape)}, got {tuple(path.shape)}")
    start, A, E = (table.detach().double() for table in (log_start, log_A, log_E))
    i = path.detach().clamp(0, len(start) - 1)
    log_p = start[i[:, 0]] + A[i[:, :-1], i[:, 1:]].sum(1) + E[i, seen].sum(1)
    return {"log p of the path": log_p.masked_fill((i != path).any(1), -torch.inf), "the score": score}


def by_position(result: Any, *_: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Return keys (B, g, S, d), values (B, g, S, dv) and positions (S,), in the order of their positions.

    Raises:
        ValueError: the positions are not whole numbers, or not one for each key and each value.
    """
    keys, values, positions = result
    if positions.dtype != torch.long or not keys.shape[2:3] == values.shape[2:3] == positions.shape:
        raise ValueError(f"positions {tuple(positions.shape)} for keys {tuple(keys.shape)}")
    order = positions.argsort()
    return keys[:, :, order], values[:, :, order], positions[order]


COMPARED_BY: dict[str, Callable[..., Any]] = {function.__name__: function for function in (log_p_of_path, by_position)}
