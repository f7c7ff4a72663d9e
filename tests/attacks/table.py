"""What became of an attack, and the table of all."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Met:
    """An attack, what it aimed at, the sandbox it met, what it did (nothing), and how the grader says so."""

    attack: str
    aim: str
    tier: str
    effect: str
    how: str

    @property
    def harmless(self) -> bool:
        """Whether it did nothing, and was reported."""
        return not self.effect and bool(self.how)


def table(rows: Iterable[Met]) -> str:
    """The rows as plain columns: attack, aim, effect, how it was met, tier."""
    lines = [("attack", "aim", "effect", "how it was met", "tier")]
    for row in rows:
        effect, how = (textwrap.shorten(part, 80, placeholder=" ...") for part in (row.effect, row.how))
        lines.append((row.attack, row.aim, effect or "none", how or "NOT REPORTED", row.tier))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    drawn = ["  ".join(f"{part:<{width}}" for part, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    return "\n".join([drawn[0], "  ".join("-" * width for width in widths), *drawn[1:]])
