"""Submissions that are attacks themselves, before any of their code runs: links, sizes, names, JSON, metadata."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from nbformat import NotebookNode

from ..grading.lesson import answers, deleted, find, hand_in, solved
from .answers import WRONG
from .world import FILES

HONEST = "honest"
ZERO: dict[str, float] = dict.fromkeys(WRONG, 0)


class HandedIn(NamedTuple):
    """A submission: what it aims at, how it is made, and what it must score (nothing at all if it is refused)."""

    name: str
    aim: str
    make: Callable[[Path, Path], None]
    scores: dict[str, float] | None = None


def _with_file(name: str, write: Callable[[Path, Path], object]) -> Callable[[Path, Path], None]:
    """A solved notebook, and beside it what `write(path, root)` makes."""

    def make(root: Path, notebook: Path) -> None:
        path = notebook.parent / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, root)

    return make


def _text(change: Callable[[dict], bytes | str]) -> Callable[[Path, Path], None]:
    def make(root: Path, notebook: Path) -> None:
        changed = change(json.loads(notebook.read_text("utf-8")))
        notebook.write_bytes(changed if isinstance(changed, bytes) else changed.encode())

    return make


def _in_cell(document: dict, value: str) -> str:
    document["cells"][2]["metadata"]["x"] = "HERE"
    return json.dumps(document).replace('"HERE"', value)


def _edited(*edits: Callable[[NotebookNode], None]) -> Callable[[Path, Path], None]:
    def make(root: Path, notebook: Path) -> None:
        course = notebook.parents[3]
        hand_in(course, notebook.parents[1].name, solved(course), answers(WRONG), *edits)

    return make


def _forged_marks(nb: NotebookNode) -> None:
    marks = {"grade": True, "grade_id": "extra", "points": 50, "solution": False, "schema_version": 3, "locked": True}
    nb.cells.append(NotebookNode(nb.cells[-1], metadata=NotebookNode(nbgrader=NotebookNode(marks)), source="50"))
    nb.cells[-1].id = "extra"
    for name in ZERO:
        find(nb, name).metadata["nbgrader"].update(points=50, solution=True, schema_version=1)
        find(nb, name).source = "50"
    nb.metadata["course"] = {"verdicts": {"softmax": {"kind": "passed"}}}


def _absurd_ids(nb: NotebookNode) -> None:
    for number, cell in enumerate(nb.cells):
        cell.id = "../" * 9 + str(number)


SHADOW = "open({path!r}, 'w').close()\nraise SystemExit('shadowed')\n"


def _shadows(root: Path, notebook: Path) -> None:
    code = SHADOW.format(path=str(root / "shadowed"))
    modules = ("torch", "sitecustomize", "usercustomize", "course/__init__", "nbgrader_config", "ipykernel_launcher")
    for name in (*modules, ".ipython/profile_default/startup/00"):
        path = notebook.parent / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code)


def _deep(path: Path, root: Path) -> None:
    (path / "/".join("d" * 30)).mkdir(parents=True)


def _large(path: Path, root: Path) -> None:
    with path.open("wb") as file:
        file.truncate(200 * 2**20)


SUBMISSIONS = (
    HandedIn(
        "symbolic link to the gradebook",
        "a file",
        _with_file("a", lambda p, root: p.symlink_to(root / FILES["gradebook"])),
    ),
    HandedIn("symbolic link to a folder", "a folder", _with_file("a", lambda p, root: p.symlink_to(root))),
    HandedIn("hard link handed in", "a file", _with_file("a", lambda p, root: os.link(root / FILES["gradebook"], p))),
    HandedIn("a pipe nobody writes to", "the grader's time", _with_file("a", lambda p, root: os.mkfifo(p))),
    HandedIn("a name that climbs", "a file", _with_file("..\\..\\up", lambda p, root: p.touch())),
    HandedIn("a name in no alphabet", "the archive", _with_file(os.fsdecode(b"\xff"), lambda p, root: p.touch())),
    HandedIn("thirty folders deep", "the grader's stack", _with_file("deep", _deep)),
    HandedIn("a notebook of 200 MB", "the grader's memory", lambda root, notebook: _large(notebook, root)),
    HandedIn("a notebook that is not text", "the reader", _text(lambda d: b"\x80" + json.dumps(d).encode())),
    HandedIn("broken JSON", "the reader", _text(lambda d: json.dumps(d)[:-30])),
    HandedIn("JSON nested without end", "the grader's stack", _text(lambda d: _in_cell(d, "[" * 5000 + "]" * 5000))),
    HandedIn("half a character in a notebook", "the reader", _text(lambda d: _in_cell(d, '"\\ud800"'))),
    HandedIn("a number without end", "the reader", _text(lambda d: _in_cell(d, "9" * 10_000))),
    HandedIn("ten million values", "the grader's memory", _text(lambda d: _in_cell(d, "[" + "0," * 10_000_000 + "0]"))),
    HandedIn("absurd cell ids", "the reader", _edited(_absurd_ids), ZERO),
    HandedIn("edited marks, points, tests", "the gradebook", _edited(_forged_marks), ZERO),
    HandedIn("deleted grade cells", "the gradebook", _edited(deleted(*ZERO)), ZERO),
    HandedIn(
        "modules in the place of others", "the grader's imports", _shadows, {"attention_cost": 1, "crossover_length": 1}
    ),
)


def hand_in_all(course: Path, canaries: Path) -> dict[str, HandedIn]:
    """Put every one of them into a course, beside an honest one; returns them by student."""
    hand_in(course, HONEST, solved(course))
    made = {f"s{number:02}": submission for number, submission in enumerate(SUBMISSIONS)}
    for student, submission in made.items():
        submission.make(canaries, hand_in(course, student, solved(course)))
    return made
