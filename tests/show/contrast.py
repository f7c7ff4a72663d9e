"""How well one colour is read on another, by the web's rule (WCAG 2.2): 4.5 for words, 1 for the same colour twice."""

from __future__ import annotations

from typing import Any

from course.show.style import luminance


def contrast(ink: Any, ground: Any) -> float:
    """The ratio of two colours' luminances, the lighter above."""
    low, high = sorted((luminance(ink), luminance(ground)))
    return (high + 0.05) / (low + 0.05)
