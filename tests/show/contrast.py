"""How well one colour is read on another, by the web's rule (WCAG 2.2): 4.5 for words, 1 for the same colour twice."""

from __future__ import annotations

from typing import Any

from matplotlib.colors import to_rgb


def contrast(ink: Any, card: Any) -> float:
    """The ratio of two colours' luminances, the lighter above."""
    low, high = sorted((_luminance(ink), _luminance(card)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: Any) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear))
