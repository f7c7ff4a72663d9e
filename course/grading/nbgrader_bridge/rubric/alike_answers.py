"""Find written answers that are equal or nearly equal to one, and show what differs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

NEAR = 0.9
"""The share of words that two nearly equal answers have in common, in order: in forty words, two may be replaced."""

_LETTERED = re.compile(r"\w+|[^\w\s.,;:!?\"'*_`]")
"""A word or a sign that means something. Commas, quotation marks and Markdown's marks do not."""


@dataclass(frozen=True)
class Change:
    """A piece of another answer: `kind` is `same`, `only here` (not in the other one) or `only there`."""

    kind: str
    text: str


def words(text: str) -> tuple[str, ...]:
    """Return what decides whether two answers are equal: words and signs, without case, spaces and punctuation."""
    return tuple(_LETTERED.findall(text.casefold()))


def is_near(here: tuple[str, ...], there: tuple[str, ...]) -> bool:
    """Return whether two answers, as `words` gives them, are nearly equal; empty ones are not."""
    if not here or here == there:
        return bool(here)
    matcher = SequenceMatcher(None, here, there, autojunk=False)
    return all(ratio() >= NEAR for ratio in (matcher.real_quick_ratio, matcher.quick_ratio, matcher.ratio))


def changes(here: str, there: str) -> Iterator[Change]:
    """Yield the pieces of both texts, word by word, the common ones once."""
    before, after = (re.findall(r"\s*\S+", text) for text in (here, there))
    matcher = SequenceMatcher(None, [one.strip() for one in before], [one.strip() for one in after], autojunk=False)
    for kind, start, end, first, last in matcher.get_opcodes():
        if kind == "equal":
            yield Change("same", "".join(after[first:last]))
            continue
        if end > start:
            yield Change("only here", "".join(before[start:end]))
        if last > first:
            yield Change("only there", "".join(after[first:last]))


class GradedTexts:
    """The texts of written answers in graded notebooks, each file read again only after it has changed."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[tuple[int, int], dict[str, str]]] = {}

    def read(self, path: Path, question: str) -> str | None:
        """Return a question's answer in the notebook at `path`, or None if it has none or cannot be read."""
        try:
            state = path.stat()
            stamp = state.st_mtime_ns, state.st_size
            if self._known.get(path, (None,))[0] != stamp:
                self._known[path] = stamp, dict(_texts(json.loads(path.read_text("utf-8"))["cells"]))
        except (OSError, ValueError, TypeError, KeyError):
            return None
        return self._known[path][1].get(question)


def _texts(cells: list[dict[str, object]]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each text cell that is graded."""
    for cell in cells:
        marks = cell.get("metadata", {}).get("nbgrader", {})  # type: ignore[attr-defined]
        if cell.get("cell_type") == "markdown" and marks.get("grade"):
            source = cell["source"]
            yield marks["grade_id"], source if isinstance(source, str) else "".join(source)  # type: ignore[arg-type]
