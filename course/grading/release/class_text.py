"""Fit a notebook's text to a class: boxes that depend on its topics, and exercises without points."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from copy import deepcopy
from datetime import datetime

from nbformat import NotebookNode

from course.grading.course_files.cells import SOLUTION_SUFFIX, grade_id
from course.source import parsed
from course.syllabus import near

_MARK = re.compile(r"(?:>[ \t]*)*<!-- (needs|without): (\S+(?:, \S+)*) -->[ \t]*")
_LIKE_A_MARK = re.compile(r"<!--\s*(?:needs|without)\b")
_BETWEEN = r"\n(?:[ \t]*\n)+"
_FORM = "a mark is the first line of a paragraph, such as <!-- needs: 06_self_attention -->, with text below it"


def fitted(markdown: str, topics: Collection[str]) -> str:
    """Return a text with the boxes for a class with these `topics`, such as `06_self_attention`, without marks."""
    if not _LIKE_A_MARK.search(markdown):
        return markdown
    kept = []
    for paragraph in re.split(_BETWEEN, markdown):
        first, _, rest = paragraph.partition("\n")
        if (mark := _MARK.fullmatch(first)) is None:
            kept.append(paragraph)
        elif (mark[1] == "needs") == all(name in topics for name in mark[2].split(", ")):
            kept.append(rest)
    return "\n\n".join(kept)


def faults(markdown: str, known: Collection[str]) -> Iterator[str]:
    """Yield a sentence for each fault in the marks of a text; `known` are all topics."""
    for paragraph in re.split(_BETWEEN, markdown):
        first, _, rest = paragraph.partition("\n")
        mark = _MARK.fullmatch(first)
        if _LIKE_A_MARK.search(rest if mark else paragraph) or (mark and not rest.strip(" >\n")):
            yield _FORM
        for name in mark[2].split(", ") if mark else ():
            if name not in known:
                yield f"a box depends on {name!r}, which is no topic{near(name, sorted(known))}"


OPTIONAL = "optional (no points)"
EXTRA = "extra credit"

_FENCE = re.compile(r"\s*(```|~~~)")
_HEADING = re.compile(r"#{1,6}\s")


def window(opens: datetime | None, due: datetime | None) -> str:
    """Return a line of text that says when a notebook opens and is due, or an empty string without these dates."""
    told = [f"{what} on {date:%A, %d %B %Y, %H:%M}" for what, date in (("Opens", opens), ("Due", due)) if date]
    zone = (due or opens or datetime.now()).tzinfo
    return f"*{'. '.join(told)} ({zone}).*" if told else ""


def mark(cells: Sequence[NotebookNode], names: Collection[str], label: str) -> None:
    """Mark these exercises, such as `OPTIONAL`, in their headings, or below a text without a heading."""
    for index, cell in enumerate(cells):
        if _asks(cells, index, names):
            before, heading, text = _parted(cell.source)
            marked = [f"{line.rstrip()}, {label}" for line in heading] or ["", f"*{label.capitalize()}.*"]
            cell.source = "\n".join([*before, *marked, *text])


def without(cells: Sequence[NotebookNode], names: Collection[str]) -> list[NotebookNode]:
    """Return the cells without these exercises; the text above each loses its last heading and the part below, too."""
    kept = []
    for index, cell in enumerate(cells):
        if _of(cell) in names or cell.source in {f'rubric("{name}")' for name in names}:
            continue
        if _asks(cells, index, names):
            before, _, _ = _parted(cell.source)
            cell.source = "\n".join(before).rstrip()
            if not cell.source:
                continue
        kept.append(cell)
    return kept


def uses(cells: Sequence[NotebookNode], name: str) -> str:
    """Return a phrase on whether an exercise can be dropped, and if not, why."""
    users = dict.fromkeys(needed_by(cells, name))
    if not users:
        texts = [cell.source for cell in without(deepcopy(cells), {name}) if cell.cell_type == "markdown"]
        told = any(re.search(rf"\b{name}\b", text) for text in texts)
        return "can be dropped, but a text mentions it" if told else "can be dropped"
    graded = [user for user in users if any(_of(cell) == user for cell in cells)]
    others = len(users) - len(graded)
    cells_too = [f"{others} {'other ' if graded else ''}cell{'s' * (others != 1)}"] if others else []
    return f"used by {', '.join([*graded, *cells_too])}"


def needed_by(cells: Sequence[NotebookNode], name: str) -> Iterator[str]:
    """Yield the cells that use definitions from an exercise's answer: graded ones by name, others by first line."""
    answers = [parsed(cell.source) for cell in cells if grade_id(cell) == name + SOLUTION_SUFFIX]
    defined = {one.name for tree in answers if tree for one in tree.body if isinstance(one, _DEFINITIONS)}
    for cell in cells:
        tree = parsed(cell.source) if cell.cell_type == "code" and _of(cell) != name else None
        if tree and defined & {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}:
            yield _of(cell) or cell.source.strip().partition("\n")[0][:60]


_DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


def _of(cell: NotebookNode) -> str:
    """Return the exercise whose answer or check a cell is."""
    return grade_id(cell).removesuffix(SOLUTION_SUFFIX)


def _asks(cells: Sequence[NotebookNode], index: int, names: Collection[str]) -> bool:
    """Return whether a text stands right above the answer to one of these exercises."""
    below = cells[index + 1] if index + 1 < len(cells) else None
    is_text = cells[index].cell_type == "markdown" and not grade_id(cells[index])
    return below is not None and is_text and _of(below) in names and bool(below.metadata["nbgrader"].get("solution"))


def _parted(text: str) -> tuple[list[str], list[str], list[str]]:
    """Return the lines before a text's last heading, the heading, and the lines below; without one, all are before."""
    lines, fenced, last = text.split("\n"), False, None
    for number, line in enumerate(lines):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and _HEADING.match(line):
            last = number
    return (lines, [], []) if last is None else (lines[:last], lines[last : last + 1], lines[last + 1 :])
