"""Describe what an answer gave in a case, and the kind and size of the right value. Only the instructor reads it."""

from __future__ import annotations

import heapq
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..exercise.key import KeyCase
from ..exercise.recording import Recording
from ..exercise.script import are_gradients
from .compare_values import named_type
from .difference import Difference

MOST_NUMBERS, MOST_ITEMS = 6, 3
"""Limits of a description: numbers shown of a tensor, and items shown of a list."""

MOST_CHARACTERS = 160
LARGEST = 10**50
DEEPEST = 2
"""Depth to which nested lists are described."""


def what_came(key_case: KeyCase, seen: Recording, gap: Difference | None) -> tuple[str, str]:
    """Return what an answer gave in a case, and the kind and size of the right value where the case compares values.

    Of several outputs, describe the one that `gap` names, or else the last. If only laws decide, the right value is not
    described.
    """
    name = (gap.output if gap else "") or (seen.raised.step if seen.raised else _last(seen))
    words = described(seen.outputs.get(name)) if seen.raised is None else f"raised {seen.raised.name:.80}"
    got = words if name in ("out", "") else f"{name:.40}: {words}"
    if key_case.case.raises:
        return got, f"raises {key_case.case.raises}"
    expected = key_case.expected.outputs if key_case.is_compared else {}
    return got, kind_and_size(expected[name]) if name in expected else ""


def _last(seen: Recording) -> str:
    """Return the last output that holds no gradients."""
    names = [name for name in seen.outputs if not are_gradients(name)]
    return names[-1] if names else ""


def kind_and_size(value: Any) -> str:
    """Return a value's kind with its shape and dtype, or its length."""
    if isinstance(value, Tensor):
        return f"tensor {tuple(value.shape)} {str(value.dtype).removeprefix('torch.')}"
    if isinstance(value, np.ndarray):
        return f"numpy array {value.shape} {value.dtype}"
    name = named_type(value).removeprefix("an ").removeprefix("a ")
    return f"{name} of {len(value)}" if hasattr(value, "__len__") else name


def described(value: Any, deep: int = 0) -> str:
    """Return a description of at most `MOST_CHARACTERS`: the value's kind, its size and its first items."""
    words = _described(value, deep)
    return words if len(words) <= MOST_CHARACTERS else f"{words[: MOST_CHARACTERS - 2]} …"


def _described(value: Any, deep: int) -> str:
    if isinstance(value, np.ndarray):
        return f"{kind_and_size(value)}: {_numbers(torch.from_numpy(value))}"
    if isinstance(value, Tensor):
        return f"{kind_and_size(value)}: {_numbers(value.detach())}"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, int) and abs(value) > LARGEST:
        return f"a whole number of {value.bit_length()} bits"
    if isinstance(value, str | bytes):
        return repr(value[:MOST_CHARACTERS])
    if value is None or isinstance(value, bool | int | complex | Fraction | range):
        return repr(value)
    if not hasattr(value, "__len__") or deep == DEEPEST:
        return kind_and_size(value)
    return f"{kind_and_size(value)}: {_items(value, deep + 1)}"


def _numbers(tensor: Tensor) -> str:
    first = tensor.reshape(-1)[: MOST_NUMBERS + 1].tolist()
    words = [f"{number:.4g}" if isinstance(number, float) else str(number) for number in first[:MOST_NUMBERS]]
    return ", ".join([*words, "…"][: len(first)])


def _items(value: Any, deep: int) -> str:
    if isinstance(value, dict):
        pairs = islice(value.items(), MOST_ITEMS + 1)
        words = [f"{described(key, deep)} → {described(item, deep)}" for key, item in pairs]
    elif isinstance(value, set | frozenset):
        words = heapq.nsmallest(MOST_ITEMS + 1, (described(item, deep) for item in value))  # a set's order varies
    else:
        words = [described(value[index], deep) for index in range(min(len(value), MOST_ITEMS + 1))]
    return ", ".join([*words[:MOST_ITEMS], "…"][: len(words)])
