"""Draw the report's figures as SVG with the page's CSS colours, so that they work in light, dark and print."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from html import escape

from markupsafe import Markup

from course.grading.classroom.graded import Graded
from course.grading.report.findings import Success

WIDTH, HEIGHT = 420, 190
LEFT, RIGHT, TOP, BOTTOM = 40, 12, 18, 36

BINS = 10


def histogram(shares: Sequence[float], what: str = "share of the points") -> Markup:
    """Return a histogram of students by a share, in tenths; `what` names the share."""
    counts = [0] * BINS
    for share in shares:
        counts[min(BINS - 1, int(share * BINS + 1e-9))] += 1
    step, most = (WIDTH - LEFT - RIGHT) / BINS, max(counts, default=0) or 1
    scale = (HEIGHT - TOP - BOTTOM) / most
    parts = [_axis(what, [(place / 5, f"{place * 20} %") for place in range(6)])]
    for index, count in enumerate(counts):
        if count:
            x, y = LEFT + index * step, HEIGHT - BOTTOM - count * scale
            parts.append(
                f'<rect class="bar" x="{x + 2:.1f}" y="{y:.1f}" width="{step - 4:.1f}" height="{count * scale:.1f}"/>'
            )
            parts.append(f'<text x="{x + step / 2:.1f}" y="{y - 5:.1f}" text-anchor="middle">{count}</text>')
    said = "; ".join(f"{10 * i} to {10 * i + 10} %: {count}" for i, count in enumerate(counts) if count)
    return _figure(parts, f"Students by {what}. {said}.")


def stacked(success: Success, width: int = 150, height: int = 14) -> Markup:
    """Return one exercise as a stacked bar: all points, some, none, not decided."""
    parts = (("good", success.full), ("part", success.some), ("bad", success.none), ("quiet", success.open))
    total = sum(count for _, count in parts) or 1
    x, drawn = 0.0, []
    for tone, count in parts:
        if count:
            wide = width * count / total
            drawn.append(f'<rect class="{tone}" x="{x:.1f}" y="0" width="{max(0.0, wide - 1):.1f}" height="{height}"/>')
            x += wide
    return Markup(  # noqa: S704, of numbers and of names of our own
        f'<svg class="stack" viewBox="0 0 {width} {height}" width="{width}" height="{height}" aria-hidden="true">'
        f"{''.join(drawn)}</svg>"
    )


def effort(graded: Sequence[Graded], *, named: bool = True) -> Markup:
    """Return a scatter plot of submissions, memory over seconds; `named` adds the student to each dot."""
    slowest = _round_up(max((work.seconds for work in graded), default=1.0))
    largest = _round_up(max((work.memory / 2**20 for work in graded), default=1.0))
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    parts = [_axis("seconds for the notebook", [(part / 4, f"{slowest * part / 4:g}") for part in range(5)])]
    for part in (0.5, 1.0):
        y = HEIGHT - BOTTOM - part * high
        parts.append(f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{LEFT - 5}" y="{y + 4:.1f}" text-anchor="end">{largest * part:g}</text>')
    parts.append(f'<text x="{LEFT}" y="{TOP - 6}">MB</text>')
    for work in graded:
        x = LEFT + wide * work.seconds / slowest
        y = HEIGHT - BOTTOM - high * work.memory / 2**20 / largest
        said = escape(f"{work.student}: {work.seconds:.1f} s, {work.memory / 2**20:.0f} MB")
        title = f"<title>{said}</title>" if named else ""
        parts.append(f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="4">{title}</circle>')
    below = " The table below has the largest." if named else ""
    return _figure(parts, f"Seconds and memory of {len(graded)} submissions.{below}")


def medians(topics: Sequence[tuple[str, Sequence[float]]]) -> Markup:
    """Return the share of the points over a term: a line through the medians, and each topic's interquartile range."""
    wide, high = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    places = [(index + 0.5) / len(topics) for index in range(len(topics))]
    parts = [_axis("topic", [(place, name) for place, (name, _) in zip(places, topics, strict=True)])]
    for part in (0.5, 1.0):
        y = HEIGHT - BOTTOM - part * high
        parts.append(f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{LEFT - 5}" y="{y + 4:.1f}" text-anchor="end">{100 * part:g} %</text>')
    dots, said = [], []
    for place, (name, shares) in zip(places, topics, strict=True):
        x, middle = LEFT + place * wide, statistics.median(shares)
        low, _, top = statistics.quantiles(shares, n=4, method="inclusive") if len(shares) > 1 else [middle] * 3
        ends = [HEIGHT - BOTTOM - min(1.0, share) * high for share in (low, top)]
        parts.append(f'<line class="spread" x1="{x:.1f}" x2="{x:.1f}" y1="{ends[0]:.1f}" y2="{ends[1]:.1f}"/>')
        dots.append((x, HEIGHT - BOTTOM - min(1.0, middle) * high))
        said.append(f"{name}: {100 * middle:.0f} %")
    parts.append(f'<polyline class="course" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in dots)}"/>')
    parts += [f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in dots]
    return _figure(parts, f"Median share of the points by topic. {'; '.join(said)}.")


def _axis(title: str, ticks: Sequence[tuple[float, str]]) -> str:
    y, wide = HEIGHT - BOTTOM, WIDTH - LEFT - RIGHT
    parts = [f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>']
    for place, label in ticks:
        x = LEFT + place * wide
        parts.append(f'<text x="{x:.1f}" y="{y + 14}" text-anchor="{"end" if place == 1 else "middle"}">{label}</text>')
    parts.append(f'<text x="{LEFT + wide / 2}" y="{HEIGHT - 5}" text-anchor="middle">{title}</text>')
    return "".join(parts)


def _figure(parts: Sequence[str], description: str) -> Markup:
    label = escape(description, quote=True)
    return Markup(  # noqa: S704, of numbers and of names of our own
        f'<svg class="figure" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{"".join(parts)}</svg>'
    )


def _round_up(value: float) -> float:
    """Return the next of 1, 2, 4, 8, 10 times a power of ten, so that its quarters have short labels."""
    power = 10.0 ** math.floor(math.log10(max(value, 1e-3)))
    return next(step * power for step in (1, 2, 4, 8, 10, 20) if step * power >= value)
