"""Show a training's progress: a progress bar and the loss curve, redrawn a few times a second in a notebook."""

from __future__ import annotations

import time
from collections.abc import Sequence
from html import escape
from typing import Any

from ..surroundings import variable
from .display import in_notebook, show

EVERY = 0.3
"""Seconds between two drawings."""
_WIDTH, _HEIGHT, _LEFT = 420, 90, 58
"""The drawing's size, and the left edge of its curve, which leaves room for a number as long as 0.000154."""


class Curve:
    """The progress bar and losses of one training, without output while a notebook is graded."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._quiet = bool(variable("NBGRADER_EXECUTION"))
        self._live = in_notebook() and not self._quiet
        self._next = time.monotonic() + EVERY
        self._handle: Any = None

    def due(self) -> bool:
        """Return whether it is time for the next drawing."""
        return self._live and time.monotonic() >= self._next

    def draw(self, done: float, losses: Sequence[float], words: str = "") -> None:
        """Draw the bar at `done` (0 to 1) and the curve of `losses`."""
        self._next = time.monotonic() + EVERY
        html = picture(self.name, done, losses, words)
        text = words or f"{self.name}: {min(done, 1):.0%}"
        if self._handle is None:
            self._handle = show(html, text, display_id=f"fit-{self.name}-{id(self)}")
        else:
            self._handle.update({"text/html": html, "text/plain": text}, raw=True)

    def finish(self, done: float, losses: Sequence[float], words: str) -> None:
        """Draw the final state, or print one line outside a notebook."""
        if self._live:
            self.draw(done, losses, words)
        elif not self._quiet:
            print(words)


def picture(name: str, done: float, losses: Sequence[float], words: str = "") -> str:
    """Return the bar and the curve as an HTML fragment."""
    percent = max(0.0, min(done, 1.0)) * 100
    caption = words or f"{name}: {percent:.0f} %" + (f", loss {losses[-1]:.4g}" if losses else "")
    label = f"training loss, {percent:.0f} percent of the budget used"
    svg = (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" role="img" aria-label="{label}" '
        f'style="max-width:100%;margin-top:4px">{line}</svg>'
        if (line := _line(losses))
        else ""
    )
    return (
        '<div style="font-family:system-ui,sans-serif;font-size:13px;color:inherit">'
        '<div style="height:6px;max-width:440px;border-radius:3px;background:rgba(128,128,128,.25)">'
        f'<div style="height:6px;border-radius:3px;width:{percent:.1f}%;background:#4a7fd1"></div></div>'
        f"{svg}<div>{escape(caption)}</div></div>"
    )


def _line(losses: Sequence[float]) -> str:
    finite = [loss for loss in losses if loss == loss and abs(loss) != float("inf")]
    if len(finite) < 2:
        return ""
    points = _averaged(finite, 140)
    low, high = min(points), max(points)
    span = (high - low) or 1.0
    step = (_WIDTH - _LEFT - 4) / max(len(points) - 1, 1)
    path = " ".join(
        f"{_LEFT + index * step:.1f},{_HEIGHT - 8 - (point - low) / span * (_HEIGHT - 20):.1f}"
        for index, point in enumerate(points)
    )
    style = 'font-size="10" fill="currentColor" opacity=".75" text-anchor="end"'
    return (
        f'<polyline points="{path}" fill="none" stroke="#4a7fd1" stroke-width="1.6"/>'
        f'<text x="{_LEFT - 4}" y="14" {style}>{high:.3g}</text>'
        f'<text x="{_LEFT - 4}" y="{_HEIGHT - 4}" {style}>{low:.3g}</text>'
    )


def _averaged(values: Sequence[float], most: int) -> list[float]:
    """Return at most `most` means of neighbouring values."""
    size = -(-len(values) // most)
    return [sum(values[i : i + size]) / len(values[i : i + size]) for i in range(0, len(values), size)]
