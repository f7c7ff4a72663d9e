"""The pictures of docs/architecture.md, drawn from the rules that the tests hold all imports to.

`make pictures` writes them anew. A test compares the committed ones with what this module draws.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import combinations, pairwise
from pathlib import Path

from course.edition import SOLUTIONS, STUDENTS
from tests.test_imports import EVERYWHERE, MAY_IMPORT, STAGE_MAY_IMPORT

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"

BOX, ROW, GAP, THIN, EDGE = 42, 82, 14, 10, 22
"""Pixels: a box's height, from one row to the next, between boxes, room for a way that passes a row, the margin."""

NARROWEST = 640
"""Pixels that the lowest row takes."""

SWEEPS = 24
"""How often the rows are put into a better order."""

PARTS = {
    "__init__": "what notebooks import",
    "__main__": "python -m course",
    "blocks": "building blocks",
    "cli": "the command course",
    "course": "one course as a value",
    "data": "corpora and images",
    "edition": "what an edition holds",
    "exercise": "what an exercise is",
    "grading": "grades a class",
    "hidden": "hidden tests",
    "judge": "compares, decides",
    "notebook": "check, hint, fit",
    "questions": "about your own code",
    "reference": "right answers",
    "show": "plots and widgets",
    "clock": "days on the wall",
    "files": "writes files whole",
    "outline": "reads course.toml",
    "problem": "one sentence",
    "source": "code as statements",
    "study_paths": "volumes, six weeks",
    "surroundings": "a kernel's beginning",
    "syllabus": "topics, points",
}
"""What is said of each part of `course` below its name."""

STAGES = {
    "classroom": "grades a class",
    "course_files": "topics and cells",
    "demo": "a made-up class",
    "execution": "runs notebooks",
    "export": "for platforms",
    "gradebook": "nbgrader's database",
    "intake": "what is handed in",
    "kernels": "forks kernels",
    "lms": "talks to platforms",
    "machine": "memory, faults",
    "nbgrader_bridge": "nbgrader's steps",
    "release": "gives a course out",
    "report": "a page on a class",
    "sandbox": "confines code",
    "self_study": "one notebook",
    "viva": "questions on paper",
}
"""What is said of each stage of `course/grading`."""


@dataclass(frozen=True)
class Box:
    """A part in the picture: its name and what it is, and whether the students' wheel holds it."""

    name: str
    said: str
    theirs: bool

    @property
    def width(self) -> int:
        """Pixels that its words take."""
        return 18 + round(max(8.1 * len(self.name), 6.2 * len(self.said)))


Way = tuple[str, str]
"""Who may import whom."""

Rows = list[list[str]]
"""The names in each row from the top, those of ways that pass it included."""


def draw_all() -> dict[str, str]:
    """Every picture by its file's name."""
    return {"parts.svg": draw_parts(), "grading.svg": draw_grading()}


def draw_parts() -> str:
    """The parts of the package and what each may import."""
    below = EVERYWHERE
    leads = {name: known - below for name, known in MAY_IMPORT.items() if name not in below}
    boxes = {name: Box(_shown(name), PARTS[name], name not in SOLUTIONS) for name in MAY_IMPORT}
    every = "syllabus and source and files and surroundings"
    alt = f"{_in_words('Parts of the package course', leads)} Every part may import {every}."
    return _picture(boxes, leads, sorted(below), alt)


def draw_grading() -> str:
    """The folders of `course/grading` and what each may import."""
    boxes = {name: Box(name, STAGES[name], name in STUDENTS) for name in STAGE_MAY_IMPORT}
    return _picture(boxes, STAGE_MAY_IMPORT, [], _in_words("Folders of course/grading", STAGE_MAY_IMPORT))


def _shown(name: str) -> str:
    return {"__init__": "course", "course": "course.py"}.get(name, name)


def direct(leads: Mapping[str, Collection[str]]) -> dict[str, list[str]]:
    """The ways that no longer way covers."""
    reached: dict[str, set[str]] = {}

    def reach(name: str) -> set[str]:
        if name not in reached:
            reached[name] = set(leads[name]).union(*(reach(other) for other in leads[name]))
        return reached[name]

    return {name: sorted(to for to in known if not any(to in reach(o) for o in known)) for name, known in leads.items()}


def _in_words(what: str, leads: Mapping[str, Collection[str]]) -> str:
    """What a picture shows, for those who do not see it."""
    said = [f"{_shown(name)} imports {' and '.join(map(_shown, to))}" for name, to in direct(leads).items() if to]
    return f"{'. '.join([what, *said])}."


def depths(leads: Mapping[str, Collection[str]]) -> dict[str, int]:
    """How many parts stand at most on each one: the row in which it is drawn."""
    found: dict[str, int] = {}

    def depth(name: str) -> int:
        if name not in found:
            found[name] = 1 + max((depth(other) for other in leads if name in leads[other]), default=-1)
        return found[name]

    return {name: depth(name) for name in leads}


def _stretched(leads: Mapping[str, Collection[str]]) -> tuple[Rows, list[list[str]]]:
    """The rows from the top, and each way as the names it runs through: one more in every row that it passes."""
    depth = depths(leads)
    rows: Rows = [sorted(name for name in leads if depth[name] == row) for row in range(max(depth.values()) + 1)]
    ways = []
    for name, to in ((name, to) for name, known in direct(leads).items() for to in known):
        passed = {at: f"{name}>{to}:{at}" for at in range(depth[name] + 1, depth[to])}
        for at, passing in passed.items():
            rows[at].append(passing)
        ways.append([name, *passed.values(), to])
    return rows, ways


def _ordered(rows: Rows, steps: Sequence[Way]) -> Rows:
    """The rows in an order in which few ways cross: each name goes to the middle of what it is joined to."""
    best, fewest = rows, _crossings(rows, steps)
    for sweep in range(SWEEPS):
        rows = [list(row) for row in rows]
        down = sweep % 2 == 0
        for at in range(1, len(rows)) if down else range(len(rows) - 2, -1, -1):
            fixed = {name: place for place, name in enumerate(rows[at - 1 if down else at + 1])}
            rows[at].sort(key=_middle(rows[at], fixed, steps))
        if (crossings := _crossings(rows, steps)) < fewest:
            best, fewest = rows, crossings
    return best


def _middle(row: Sequence[str], fixed: Mapping[str, float], steps: Sequence[Way]) -> Callable[[str], float]:
    """Where each name of a row would stand, if it went to the middle of its neighbours in a row that stays."""
    places = {name: float(place) for place, name in enumerate(row)}
    for name in row:
        near = [fixed[other] for step in steps for other in step if name in step and other in fixed]
        places[name] = sum(near) / len(near) if near else places[name]
    return places.__getitem__


def _crossings(rows: Rows, steps: Sequence[Way]) -> int:
    place = {name: at for row in rows for at, name in enumerate(row)}
    row_of = {name: at for at, row in enumerate(rows) for name in row}
    pairs = ((one, two) for one, two in combinations(steps, 2) if row_of[one[0]] == row_of[two[0]])
    return sum((place[a] - place[c]) * (place[b] - place[d]) < 0 for (a, b), (c, d) in pairs)


def _placed(rows: Rows, steps: Sequence[Way], widths: Mapping[str, int]) -> dict[str, float]:
    """The middle of each name, near those it is joined to and with room on both sides."""
    middles = {name: float(at) * 100 for row in rows for at, name in enumerate(row)}
    for _ in range(SWEEPS):
        for row in (*rows, *reversed(rows)):
            near = {name: [middles[o] for step in steps for o in step if name in step and o != name] for name in row}
            wanted = [sum(near[name]) / len(near[name]) if near[name] else middles[name] for name in row]
            middles.update(zip(row, _apart(wanted, [widths[name] + GAP for name in row])))
    left = min(middles[name] - widths[name] / 2 for name in middles)
    return {name: round(middle - left + EDGE, 1) for name, middle in middles.items()}


def _apart(wanted: Sequence[float], widths: Sequence[float]) -> list[float]:
    """The places nearest to those `wanted`, in the same order, at which things of such widths do not overlap."""
    starts = [0.0]
    for one, two in pairwise(widths):
        starts.append(starts[-1] + (one + two) / 2)
    blocks: list[tuple[float, int]] = []  # what stands close together: the mean place, and how many
    for place in (want - start for want, start in zip(wanted, starts)):
        block = (place, 1)
        while blocks and blocks[-1][0] > block[0]:
            (mean, count), (place, more) = blocks.pop(), block
            block = ((mean * count + place * more) / (count + more), count + more)
        blocks.append(block)
    shifts = [mean for mean, count in blocks for _ in range(count)]
    return [start + shift for start, shift in zip(starts, shifts)]


def _picture(boxes: Mapping[str, Box], leads: Mapping[str, Collection[str]], below: Sequence[str], alt: str) -> str:
    rows, ways = _stretched(leads)
    steps = [step for way in ways for step in pairwise(way)]
    widths = {name: boxes[name].width if name in boxes else THIN for row in rows for name in row}
    rows = _ordered(rows, steps)
    middles = _placed(rows, steps, widths)
    tops = {name: EDGE + ROW * at for at, row in enumerate(rows) for name in row}
    ground = EDGE + ROW * len(rows)
    taken = max(middles[name] + widths[name] / 2 for name in widths) + EDGE
    width = round(max(taken, NARROWEST))
    middles = {name: round(middle + (width - taken) / 2, 1) for name, middle in middles.items()}
    drawn = [_arrows(ways, middles, tops, widths)]
    drawn += [_box(boxes[name], middles[name], tops[name]) for name in leads]
    if below:
        drawn.append(_ground(ground, width, [boxes[name] for name in below]))
        ground += 100
    drawn.append(_legend(ground, width))
    return card(width, ground + 28, alt, "".join(drawn))


def _arrows(
    ways: Sequence[Sequence[str]],
    middles: Mapping[str, float],
    tops: Mapping[str, int],
    widths: Mapping[str, int],
) -> str:
    """The ways as lines with a head, side by side where several leave a box or come to one."""
    leaving: dict[str, list[Sequence[str]]] = {}
    coming: dict[str, list[Sequence[str]]] = {}
    for way in ways:
        leaving.setdefault(way[0], []).append(way)
        coming.setdefault(way[-1], []).append(way)
    out = _ports(leaving, middles, widths, lambda way: way[1])
    into = _ports(coming, middles, widths, lambda way: way[-2])
    paths = []
    for way in ways:
        points = [(out[tuple(way)], tops[way[0]] + BOX)]
        for name in way[1:-1]:
            points += [(middles[name], tops[name]), (middles[name], tops[name] + BOX)]
        points.append((into[tuple(way)], tops[way[-1]] - 4))
        path = f"M{points[0][0]:g} {points[0][1]}"
        for at, ((x, y), (to_x, to_y)) in enumerate(pairwise(points)):
            half = (y + to_y) / 2
            path += f"V{to_y}" if at % 2 else f"C{x:g} {half:g} {to_x:g} {half:g} {to_x:g} {to_y}"
        paths.append(f'<path d="{path}" class="w" marker-end="url(#head)"/>')
    return "".join(paths)


def _ports(
    ends: Mapping[str, Sequence[Sequence[str]]],
    middles: Mapping[str, float],
    widths: Mapping[str, int],
    next_to: Callable[[Sequence[str]], str],
) -> dict[tuple[str, ...], float]:
    """Where on the edge of its box each way ends, in the order of where they come from."""
    found = {}
    for name, ways in ends.items():
        apart = min(16.0, (widths[name] - 16) / len(ways))
        for at, way in enumerate(sorted(ways, key=lambda way: middles[next_to(way)])):
            found[tuple(way)] = round(middles[name] + apart * (at - (len(ways) - 1) / 2), 1)
    return found


def _box(box: Box, middle: float, top: int) -> str:
    frame = f'<rect x="{middle - box.width / 2:g}" y="{top}" width="{box.width}" height="{BOX}" rx="6"'
    return (
        f'{frame} class="{"b" if box.theirs else "b o"}"/>'
        f'<text x="{middle:g}" y="{top + 18}" class="t">{escape(box.name)}</text>'
        f'<text x="{middle:g}" y="{top + 33}" class="s">{escape(box.said)}</text>'
    )


def _ground(top: int, width: int, boxes: Iterable[Box]) -> str:
    """What every part may import, as the ground that all of them stand on."""
    boxes = list(boxes)
    taken = sum(box.width for box in boxes) + GAP * (len(boxes) - 1)
    frame = f'<rect x="{EDGE}" y="{top}" width="{width - 2 * EDGE}" height="84" rx="8" class="g"/>'
    drawn = [frame, f'<text x="{width / 2:g}" y="{top + 20}" class="s">every part may import</text>']
    left = (width - taken) / 2
    for box in boxes:
        drawn.append(_box(box, left + box.width / 2, top + 32))
        left += box.width + GAP
    return "".join(drawn)


def _legend(top: int, width: int) -> str:
    begin = width / 2 - 190
    return (
        f'<rect x="{begin:g}" y="{top}" width="26" height="14" rx="3" class="b"/>'
        f'<text x="{begin + 34:g}" y="{top + 11}" class="s l">in the wheel for students</text>'
        f'<rect x="{begin + 200:g}" y="{top}" width="26" height="14" rx="3" class="b o"/>'
        f'<text x="{begin + 234:g}" y="{top + 11}" class="s l">not in that wheel</text>'
    )


def card(width: int, height: int, alt: str, drawn: str) -> str:
    """A picture file with a background of its own, light or dark as the reader's system is."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img" '
        f'viewBox="0 0 {width} {height}"><title>{escape(alt)}</title><style>'
        ":root{--card:#ffffff;--ink:#24292f;--edge:#dfe2e6;--box:#eef2fb;--line:#5b6472;--other:#fdf1dd}"
        "@media (prefers-color-scheme:dark){:root{--card:#1b1f24;--ink:#e6e9ed;--edge:#3a4048;--box:#26324a;"
        "--line:#9aa3b0;--other:#43351c}}"
        "text{font-family:system-ui,'DejaVu Sans',sans-serif;fill:var(--ink);text-anchor:middle}"
        ".t{font-size:13.5px;font-weight:600}.s{font-size:11px}.l{text-anchor:start}"
        ".b{fill:var(--box);stroke:var(--line)}.o{fill:var(--other);stroke-dasharray:4 3}"
        ".g{fill:none;stroke:var(--edge);stroke-width:1.5}"
        ".w{fill:none;stroke:var(--line);stroke-width:1.4}.h{fill:var(--line)}</style>"
        '<defs><marker id="head" viewBox="0 0 8 8" refX="4" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0L8 4L0 8z" class="h"/></marker></defs>'
        f'<rect x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="10" '
        f'style="fill:var(--card);stroke:var(--edge)"/>{drawn}</svg>\n'
    )


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    for name, picture in draw_all().items():
        (PICTURES / name).write_text(picture, "utf-8")
