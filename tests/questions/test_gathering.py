"""The setup of an answer in a notebook whose names hold what has no literal."""

from __future__ import annotations

import linecache
import math
from typing import Any

import torch

from course.questions import gathered

SOURCE = "def answer(x):\n    return x.masked_fill(x < LEAST, -inf) + info + unknown\n"


def test_a_setup_defines_infinite_and_missing_numbers() -> None:
    linecache.cache["<an answer>"] = len(SOURCE), None, SOURCE.splitlines(keepends=True), "<an answer>"
    names: dict[str, Any] = {"inf": math.inf, "LEAST": -math.inf, "unknown": math.nan}
    names["info"] = torch.tensor([math.inf, -math.inf, math.nan, 1.0])
    exec(compile(SOURCE, "<an answer>", "exec"), names)
    _, setup = gathered(names["answer"], lambda name: False)
    made: dict[str, Any] = {}
    exec(setup, made)
    assert made["inf"] == math.inf and made["LEAST"] == -math.inf and math.isnan(made["unknown"])
    torch.testing.assert_close(made["info"], names["info"], equal_nan=True)
