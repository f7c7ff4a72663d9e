"""A finding of `course doctor`, and the lines that it prints."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Literal

GIB = 2**30

Kind = Literal["fine", "note", "wrong"]
MARKS: dict[Kind, str] = {"fine": "✓", "note": "!", "wrong": "✗"}


@dataclass(frozen=True)
class Finding:
    """The result of one check: `what` was checked, `said` describes its state, and `advice` says what to do."""

    kind: Kind
    what: str
    said: str
    advice: str = ""

    def __str__(self) -> str:
        told = _folded(self.said, f"{MARKS[self.kind]} {self.what:<12} ")
        return f"{told}\n{_folded(self.advice, 15 * ' ' + '→ ')}" if self.advice else told


def _folded(text: str, head: str) -> str:
    wrapper = textwrap.TextWrapper(110, break_long_words=False, break_on_hyphens=False)
    wrapper.initial_indent, wrapper.subsequent_indent = head, " " * len(head)
    return wrapper.fill(text)
