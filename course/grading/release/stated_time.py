"""Read the duration that a notebook's opening states, to compare it with the minutes of the syllabus."""

from __future__ import annotations

import re

NEAR = 20
"""The most minutes by which a notebook may differ from the syllabus, because texts say "about two hours"."""

SHORTEST = 45
"""The least minutes of a whole notebook; shorter durations are those of an exercise or a training."""

_WORDS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_NUMBER = rf"({'|'.join(_WORDS)}|\d+(?:\.\d+)?)"
_HALF = r"(\s+and\s+a\s+half)?"
_HOURS = re.compile(
    rf"(?<!half )\b{_NUMBER}(?:\s+to\s+{_NUMBER})?{_HALF}\s+(?:hours?|h)\b{_HALF}"
    r"(?:\s+(?:and\s+)?(\d+)(?:\s+minutes)?)?",
    re.I,
)
_MINUTES = re.compile(r"\b(\d+)(?:\s+to\s+(\d+))?\s+minutes\b")


def stated_minutes(text: str) -> tuple[int, int] | None:
    """Return the first range of minutes that a text states for a whole notebook, or None."""
    if found := _HOURS.search(text):
        low, high, half_before, half_after, minutes = found.groups()
        more = (30 if half_before or half_after else 0) + int(minutes or 0)
        return _in_minutes(low, more), _in_minutes(high or low, more)
    for found in _MINUTES.finditer(text):
        low, high = int(found[1]), int(found[2] or found[1])
        if low >= SHORTEST:
            return low, high
    return None


def _in_minutes(hours: str, more: int) -> int:
    return round(60 * float(_WORDS.get(hours.lower(), hours))) + more
