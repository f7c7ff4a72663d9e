"""Sets that ask one engine the same of many things: a few stand for them in `make test`, `make soak` has the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest


def few(everything: Sequence[Any], *chosen: Any) -> list[Any]:
    """Parameters for all of `everything`, slow ones for what was not `chosen`."""
    assert set(chosen) <= set(everything), f"{chosen} are to stand for {everything}"
    values = [one if isinstance(one, tuple) else (one,) for one in everything]
    slow = [() if one in chosen else pytest.mark.slow for one in everything]
    return [pytest.param(*value, marks=marks) for value, marks in zip(values, slow, strict=True)]
