"""Print a class's summary: a table of scores, recognised misconceptions, and students not graded with the reason."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from course.grading.classroom.graded import Graded
from course.grading.course_files.catalogue import counted
from course.judge.verdict import Verdict
from course.syllabus import Topic

MARKS = {"error": "!", "time": "⧖", "memory": "!", "forbidden": "✗", "missing": "·", "not-graded": "?"}
RESTS = "↑"
AGAIN = "graded again after points were given by hand. Check whether these points still fit"
LEGEND = (
    "! raised an error or ran out of memory   ⧖ out of time   ✗ a forbidden call   · no answer"
    "   ↑ rests on an answer that fails   ? not graded   – for you to grade"
)


def show(topic: Topic, graded: Sequence[Graded]) -> None:
    """Print the summary of a class."""
    header, rows = table(topic, graded)
    _print_table(topic, header, rows)
    for title, lines in (("Misunderstandings", misunderstandings(graded)), ("Notes", notes(graded))):
        if lines:
            print(f"\n{title}")
            print("\n".join(f"  {line}" for line in lines))
    unfinished = not_graded(graded)
    done = len(graded) - len(unfinished)
    print(f"\n{done} of {len(graded)} submissions graded")
    for line in unfinished:
        print(f"  {line}")


def table(topic: Topic, graded: Sequence[Graded]) -> tuple[list[str], list[list[str]]]:
    """Return the score table: a header, and a row for each graded submission with a column for each graded cell."""
    names = graded_cells(topic, graded)
    header = ["student", "points", *names, "seconds"]
    rows = []
    for work in graded:
        if work.scores is not None and not work.reason:
            cells = [_cell(work, name) for name in names]
            points = f"{work.scores.score:g} / {work.scores.points:g}"
            rows.append([work.student, points, *cells, f"{work.seconds:.1f}"])
    return header, rows


def graded_cells(topic: Topic, graded: Sequence[Graded]) -> list[str]:
    """Return the names of the topic's released items, then those of the instructor's own cells."""
    released = dict.fromkeys(name for work in graded if work.scores for name in work.scores.maxima)
    items = [item.name for item in topic.items]
    return [*(name for name in items if name in released), *(name for name in released if name not in items)]


@dataclass(frozen=True)
class Misunderstanding:
    """A recognised misconception: its exercise, its name, its hint, and the students who show it."""

    exercise: str
    name: str
    hint: str
    students: tuple[str, ...]


def misunderstood(graded: Sequence[Graded]) -> list[Misunderstanding]:
    """Return the misconceptions recognised in a class, most common first."""
    seen: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for work in graded:
        for verdict in work.verdicts.values():
            if verdict.misconception:
                seen[verdict.exercise, _spoken(verdict), verdict.hint].append(work.student)
    found = [Misunderstanding(*about, tuple(who)) for about, who in seen.items()]
    return sorted(found, key=lambda one: (-len(one.students), one.exercise, one.name))


def misunderstandings(graded: Sequence[Graded]) -> list[str]:
    """Return a line for each recognised misconception, most common first: exercise, name, students."""
    return [
        f"{len(one.students):3}  {one.exercise}: {one.name}   ({', '.join(one.students)})"
        for one in misunderstood(graded)
    ]


def notes(graded: Sequence[Graded]) -> list[str]:
    """Return notes on repairs before grading, changed points, late penalties (not in the table), and slow starts."""
    late = [(work.student, work.scores.late) for work in graded if work.scores and not work.reason and work.scores.late]
    mended = [f"{work.student}: {note}" for work in graded for note in work.notes]
    again = [f"{work.student} ({', '.join(work.scores.again)})" for work in graded if work.scores and work.scores.again]
    cold = Counter(work.why_cold for work in graded if work.why_cold) if sys.platform == "linux" else {}
    return [
        *mended,
        *regraded(graded),
        *followed_through(graded),
        *([f"{AGAIN}: {', '.join(again)}"] if again else []),
        *(f"{student}: loses {points:g} of the points above, because it came late" for student, points in late),
        *(
            f"{counted(count, 'kernel')} started slowly, which changes no grade: {reason}"
            for reason, count in cold.items()
        ),
    ]


def followed_through(graded: Sequence[Graded]) -> list[str]:
    """Return lines on students who keep points despite an earlier mistake, or wait for manual grading because of it."""
    keeps: dict[tuple[str, str], list[str]] = defaultdict(list)
    waits: dict[tuple[str, str], list[str]] = defaultdict(list)
    for work in graded:
        for name, verdict in work.verdicts.items() if work.scores and not work.reason else ():
            if verdict.keeps:
                keeps[name, verdict.rests_on].append(work.student)
            elif verdict.rests_on and work.scores and name in work.scores.waiting:
                waits[name, verdict.rests_on].append(work.student)
    return [
        *(
            f"{name}: right but for {prerequisite}, keeps its points: {', '.join(who)}"
            for (name, prerequisite), who in keeps.items()
        ),
        *(
            f"{name}: rests on {prerequisite}, for you to grade: {', '.join(who)}"
            for (name, prerequisite), who in waits.items()
        ),
    ]


def regraded(graded: Sequence[Graded]) -> list[str]:
    """Return a line for each cell graded again with changed tests, with students whose points changed."""
    retested = Counter(name for work in graded for name in work.retested)
    moved: dict[str, list[str]] = {}
    for work in graded:
        now = work.scores.cells if work.scores and not work.reason else {}
        for name, points in now.items():
            before = work.before.get(name)
            if before is not None and points is not None and before != points:
                moved.setdefault(name, []).append(f"{work.student} {before:g} → {points:g}")
    tests = {name: f" with changed tests ({counted(count, 'submission')})" for name, count in retested.items()}
    same = ", ".join(sorted(retested.keys() - moved.keys()))
    return [
        *(
            f"{name}: graded again{tests.get(name, '')}, and points changed: {', '.join(who)}"
            for name, who in moved.items()
        ),
        *([f"{same}: graded again with changed tests, and no points changed"] if same else []),
    ]


def not_graded(graded: Sequence[Graded]) -> list[str]:
    """Return a line for each student who was not graded, or only in part, with the reason."""
    lines = [f"{work.student} (not graded): {work.reason}" for work in graded if work.reason]
    for work in graded:
        faults = [verdict for verdict in work.verdicts.values() if verdict.kind == "not-graded"]
        lines += [f"{work.student} ({verdict.exercise} not graded): {verdict.message}" for verdict in faults]
    return lines


def _cell(work: Graded, name: str) -> str:
    assert work.scores is not None
    score, verdict = work.scores.cells.get(name), work.verdicts.get(name)
    mark = MARKS.get(verdict.kind, RESTS if verdict.rests_on else "") if verdict else ""
    if score is None:
        return mark or "–"
    return " ".join(
        [
            f"{score:g}",
            *([mark] if mark else []),
            *(["–"] if name in (*work.scores.again, *work.scores.waiting) else []),
        ]
    )


def _spoken(verdict: Verdict) -> str:
    words = verdict.misconception.replace("_", " ")
    return f"{words} (another convention: {verdict.convention})" if verdict.convention else words


def _print_table(topic: Topic, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a rich table if rich is installed, else plain columns; in a narrow terminal, numbers replace names."""
    heads, key = [_broken(name) for name in header], ""
    terminal = shutil.get_terminal_size((10_000, 24)).columns
    narrow = _width(heads, rows) > terminal
    if narrow:
        names = header[2:-1]
        heads = [[name] for name in (*header[:2], *map(str, range(1, len(names) + 1)))]
        rows = [row[:-1] for row in rows]
        key = "   ".join(f"{number}\u00a0{name}" for number, name in enumerate(names, 1))
    try:
        from rich.box import HEAVY_HEAD, SIMPLE_HEAD
        from rich.console import Console
        from rich.markup import escape
        from rich.table import Table
    except ImportError:
        print(
            "\n".join(
                [f"{topic.folder}  {topic.title}", "", _plain(heads, rows), "", key.replace("\u00a0", " "), LEGEND]
            )
        )
        return
    drawn = Table(box=SIMPLE_HEAD if narrow else HEAVY_HEAD, pad_edge=not narrow, padding=(0, 0 if narrow else 1))
    for index, name in enumerate(heads):
        drawn.add_column("\n".join(name), justify="left" if index == 0 else "right", no_wrap=True)
    for row in rows:
        drawn.add_row(*map(escape, row))
    console = Console(width=terminal if narrow else max(_width(heads, rows), min(100, terminal)), highlight=False)
    console.print(escape(f"{topic.folder}  {topic.title}"), style="bold")
    console.print(drawn)
    below = "\n".join(textwrap.fill(line, console.width) for line in (key, LEGEND) if line)
    console.print(below.replace("\u00a0", " "), style="dim")


def _broken(name: str, widest: int = 12) -> list[str]:
    """Split a long name at underscores into lines, as in `scaled_dot_`, `product_`, `attention`."""
    lines = [""]
    parts = [part + "_" for part in name.split("_")]
    parts[-1] = parts[-1][:-1]
    for part in parts:
        if lines[-1] and len(lines[-1]) + len(part) > widest:
            lines.append("")
        lines[-1] += part
    return lines


def _width(heads: Sequence[Sequence[str]], rows: Sequence[Sequence[str]]) -> int:
    """Return the width of the boxed table in characters."""
    widths = [max(map(len, (*head, *(row[index] for row in rows))), default=0) for index, head in enumerate(heads)]
    return sum(widths) + 3 * len(widths) + 1


def _plain(heads: Sequence[Sequence[str]], rows: Sequence[Sequence[str]]) -> str:
    lines = [*zip_longest(*heads, fillvalue=""), *rows]
    widths = [max(len(line[index]) for line in lines) for index in range(len(heads))]
    return "\n".join("  ".join(f"{cell:>{width}}" for cell, width in zip(line, widths)).rstrip() for line in lines)
