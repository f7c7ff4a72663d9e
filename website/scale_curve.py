"""The picture and the table of docs/scale.md, made from the numbers in bench/scale.csv.

`make pictures` writes them anew. A test compares the committed ones with what this module makes.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence
from pathlib import Path

from website.architecture import PICTURES, card

ROOT = Path(__file__).parents[1]
NUMBERS = ROOT / "bench" / "scale.csv"
PAGE = ROOT / "docs" / "scale.md"
TABLE = re.compile(r"(?<=<!-- measured -->\n).*?(?=<!-- /measured -->)", re.S)
"""Where the table stands in the page."""

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 66, 132, 40, 56
"""Pixels around the curve."""

COUNTS = (1, 2, 4, 8, 16, 32, 64)
RATES = (25, 50, 100, 200, 400, 800, 1600)

Numbers = dict[str, float]
"""One measured class, as `bench.scale` names its numbers."""


def read() -> list[Numbers]:
    """The measured classes, the smallest cluster first."""
    with NUMBERS.open(newline="") as file:
        lines = [{name: float(value) for name, value in line.items()} for line in csv.DictReader(file)]
    return sorted(lines, key=lambda line: line["workers"])


def per_minute(line: Numbers) -> float:
    """Submissions a minute that were measured."""
    return 60 * line["graded"] / line["seconds"]


def limit_of_workers(line: Numbers) -> float:
    """Submissions a minute that so many workers could execute."""
    return 60 * line["workers"] / line["execution"]


def limit_of_grader(lines: Sequence[Numbers]) -> float:
    """Submissions a minute that the grader could handle, by what it took for one on the largest cluster."""
    return 60_000 / lines[-1]["saving_ms"]


def draw() -> str:
    """The curve, and the two limits between which it bends."""
    lines = read()
    top = limit_of_grader(lines)
    drawn = [*_grid(), _axes()]
    drawn.append(_line([(line["workers"], limit_of_workers(line)) for line in lines], dashed=True))
    drawn.append(_line([(1, top), (64, top)], dashed=True))
    curve = [(line["workers"], per_minute(line)) for line in lines]
    drawn.append(_line(curve, dashed=False))
    for workers, rate in curve:
        drawn.append(f'<circle cx="{_x(workers):g}" cy="{_y(rate):g}" r="4" style="fill:var(--ink)"/>')
    drawn += [
        _label(_x(64) + 8, _y(limit_of_workers(lines[-1])) + 4, "if only workers", "took time"),
        _label(_x(64) + 8, _y(top) + 4, "if only the", "grader took time"),
        _label(_x(64) + 8, _y(curve[-1][1]) + 34, "measured"),
    ]
    return card(WIDTH, HEIGHT, in_words(lines), "".join(drawn))


def in_words(lines: Sequence[Numbers]) -> str:
    """What the picture shows, for those who do not see it."""
    told = [f"With {line['workers']:.0f} it is {per_minute(line):.0f}" for line in lines]
    limit = f"The grader handles {limit_of_grader(lines):.0f} a minute at most"
    return f"Submissions a minute by the number of workers. {'. '.join(told)}. {limit}."


def table() -> str:
    """The numbers as a table in Markdown."""
    head = ["workers", "submissions", "a minute", "if only workers took time", "grader, ms", "scheduler, ms"]
    head += ["kB through the scheduler", "MB scheduler", "MB grader"]
    rows = [head, ["--:"] * len(head)]
    for line in read():
        rates = [f"{per_minute(line):.0f}", f"{limit_of_workers(line):.0f}"]
        costs = [f"{line[name]:.0f}" for name in ("client_ms", "scheduler_ms", "kilobytes")]
        peaks = [f"{line[name]:.0f}" for name in ("scheduler_peak", "client_peak")]
        rows.append([f"{line['workers']:.0f}", f"{line['graded']:,.0f}", *rates, *costs, *peaks])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _x(workers: float) -> float:
    return round(LEFT + (WIDTH - LEFT - RIGHT) * math.log2(workers) / math.log2(COUNTS[-1]), 1)


def _y(rate: float) -> float:
    share = math.log2(rate / RATES[0]) / math.log2(1.25 * RATES[-1] / RATES[0])
    return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share, 1)


def _grid() -> list[str]:
    """Faint lines with the rates beside them, and the numbers of workers below."""
    drawn = []
    for rate in RATES:
        drawn.append(f'<path d="M{LEFT} {_y(rate):g}H{WIDTH - RIGHT}" class="g"/>')
        drawn.append(f'<text x="{LEFT - 22}" y="{_y(rate) + 4:g}" class="s">{rate:,}</text>')
    below = HEIGHT - BOTTOM + 18
    return drawn + [f'<text x="{_x(count):g}" y="{below}" class="s">{count}</text>' for count in COUNTS]


def _axes() -> str:
    middle = (LEFT + WIDTH - RIGHT) / 2
    return (
        f'<text x="{middle:g}" y="{HEIGHT - 14}" class="s">workers</text>'
        f'<text x="{LEFT - 44}" y="24" class="s l">submissions a minute</text>'
    )


def _line(points: Sequence[tuple[float, float]], dashed: bool) -> str:
    path = "L".join(f"{_x(workers):g} {_y(rate):g}" for workers, rate in points)
    style = "stroke:var(--line);stroke-dasharray:5 4" if dashed else "stroke:var(--ink);stroke-width:2.5"
    return f'<path d="M{path}" style="fill:none;{style}"/>'


def _label(x: float, y: float, *lines: str) -> str:
    return "".join(f'<text x="{x:g}" y="{y + 14 * at:g}" class="s l">{line}</text>' for at, line in enumerate(lines))


def write() -> None:
    """Write picture and table to where they belong."""
    (PICTURES / "scale.svg").write_text(draw(), "utf-8")
    page = TABLE.sub(lambda _: f"\n{table()}\n\n", PAGE.read_text("utf-8"))
    page = re.sub(r"!\[.*?\](?=\(pictures/scale\.svg\))", lambda _: f"![{in_words(read())}]", page)
    PAGE.write_text(page, "utf-8")


if __name__ == "__main__":
    write()
