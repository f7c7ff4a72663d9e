"""A difference between an answer and the right one: its kind and a sentence about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["missing", "raised", "memory", "type", "shape", "dtype", "values", "gradient", "mutated", "law"]


@dataclass(frozen=True)
class Difference:
    """The kind of difference, a sentence about it in the student's terms, and the name of the differing output."""

    kind: Kind
    message: str
    output: str = ""
