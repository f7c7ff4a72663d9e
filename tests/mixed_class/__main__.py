"""Makes the class, grades it, and compares what came of it with what is on record."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from course.grading.cells import SOLUTION_SUFFIX, grade_id
from course.grading.demo.run_demo import train
from tests.original import ORIGINAL, find_topic

from .roster import ATTENTION, BY_HAND, CLASS, DUE, OWN_CELLS, HandIn

REPOSITORY = Path(__file__).parents[2]
RESULTS = Path(__file__).with_name("results.json")
SECRET = "the same hidden cases every time"


def course(root: Path, *arguments: str, may_fail: bool = False) -> str:
    """Run `course` in `root`, as an instructor does."""
    command = [sys.executable, "-m", "course", *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if done.returncode and not may_fail:
        raise RuntimeError(done.stdout + done.stderr)
    return done.stdout + done.stderr


def make_course(root: Path) -> None:
    """A course of the three topics, with due dates, late work's loss and cells of its own, released."""
    course(REPOSITORY, "new", str(root), *CLASS)
    outline = root / "course.toml"
    text = outline.read_text("utf-8").replace("percent_per_day = 0", "percent_per_day = 10")
    lines = [f"due = {DUE}" if line.startswith("# due = ") else line for line in text.splitlines()]
    outline.write_text("\n".join(lines) + "\n", "utf-8")
    source = root / "solutions" / f"{ATTENTION}.py"
    source.write_text(source.read_text("utf-8") + OWN_CELLS, "utf-8")
    (root / ".course-secret").write_text(SECRET, "utf-8")
    course(root, "release")


def hand_in_everything(root: Path) -> None:
    """Everybody's work into `submitted/`."""
    for name, group in CLASS.items():
        solved = nbformat.read(root / "solutions" / name / f"{name}.ipynb", as_version=4)
        released = nbformat.read(root / "assignments" / name / f"{name}.ipynb", as_version=4)
        weights = train(ORIGINAL, solved, find_topic(name))
        for student, work in group.items():
            folder = root / "submitted" / student / name
            folder.mkdir(parents=True)
            (folder / "timestamp.txt").write_text(work.came)
            text = nbformat.writes(edited(work, solved, released)) if work.text is None else work.text
            (folder / f"{name}.ipynb").write_text(text, "utf-8")
            for path, content in weights.items() if work.trained else ():
                (folder / path).parent.mkdir(exist_ok=True)
                (folder / path).write_bytes(content)


def edited(work: HandIn, solved: NotebookNode, released: NotebookNode) -> NotebookNode:
    """The notebook that somebody hands in."""
    notebook = deepcopy(released)
    answers = [cell for cell in solved.cells if grade_id(cell) and cell.metadata["nbgrader"].get("solution")]
    sources = {} if work.blank else {grade_id(cell): cell.source for cell in answers[: work.done]}
    sources |= {name + SOLUTION_SUFFIX: source for name, source in work.answers.items()}
    for cell in notebook.cells:
        cell.source = sources.get(grade_id(cell), cell.source)
    for name in work.copied:
        index = _place(notebook, name)
        copy = deepcopy(notebook.cells[index])
        copy["id"] = f"copy-{index}"
        notebook.cells.insert(index + 1, copy)
    if work.before[0]:
        notebook.cells.insert(_place(notebook, work.before[0]), new_code_cell(work.before[1], id="before"))
    notebook.cells = [cell for cell in notebook.cells if grade_id(cell) not in work.deleted]
    return notebook


def _place(notebook: NotebookNode, name: str) -> int:
    return next(index for index, cell in enumerate(notebook.cells) if grade_id(cell) == name)


def give_points_by_hand(root: Path) -> None:
    """What a person enters in formgrader."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        for (student, topic, cell), (points, extra, comment) in BY_HAND.items():
            grade = book.find_grade(cell, topic, topic, student)
            grade.manual_score, grade.extra_credit, grade.needs_manual_grade = points, extra, False
            book.find_comment(cell, topic, topic, student).manual_comment = comment
        book.db.commit()


def results(root: Path) -> dict[str, Any]:
    """All numbers of the gradebook and all verdicts of the judge, by topic and student."""
    from nbgrader.api import Gradebook

    found: dict[str, Any] = {}
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        for topic, group in CLASS.items():
            graded = {work.student.id: work for work in book.assignment_submissions(topic)}
            found[topic] = {name: _result(root, topic, graded[name]) if name in graded else None for name in group}
    return found


def _result(root: Path, topic: str, work: Any) -> dict[str, Any]:
    cells = {
        grade.name: [
            grade.auto_score,
            grade.manual_score,
            grade.extra_credit,
            grade.max_score,
            grade.needs_manual_grade,
        ]
        for notebook in work.notebooks
        for grade in sorted(notebook.grades, key=lambda grade: grade.name)
    }
    path = root / "autograded" / work.student.id / topic / f"{topic}.ipynb"
    kept = nbformat.read(path, as_version=4).metadata.get("course", {}).get("verdicts", {}) if path.exists() else {}
    verdicts = {
        name: [
            verdict["kind"],
            verdict["score"],
            verdict["misconception"],
            verdict["rests_on"],
            verdict["correct_given_prerequisite"],
        ]
        for name, verdict in sorted(kept.items())
    }
    return {"score": work.score, "late": work.late_submission_penalty, "cells": cells, "verdicts": verdicts}


def grade_anew(root: Path) -> dict[str, Any]:
    """The whole of it in an empty folder `root`; returns what came of it."""
    make_course(root)
    hand_in_everything(root)
    print(course(root, "grade", *CLASS, may_fail=True))
    give_points_by_hand(root)
    course(root, "grade", *CLASS, may_fail=True)
    return results(root)


def differences(before: Any, after: Any, where: str = "") -> list[str]:
    """Every place at which two results differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        places = [*before, *(name for name in after if name not in before)]
        return [line for name in places for line in differences(before.get(name), after.get(name), f"{where}/{name}")]
    return [] if before == after else [f"{where}: {before} before, {after} now"]


def main(arguments: list[str]) -> int:
    """Grade the class; the status is 1 where anything differs from what is on record."""
    root = Path(tempfile.mkdtemp(prefix="mixed-")) / "class"
    now = grade_anew(root)
    shutil.rmtree(root.parent)
    if "--write" in arguments:
        commit = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=REPOSITORY, capture_output=True, text=True, check=True
        )
        about = {"version": "0.1.0", "commit": commit.stdout.strip()}
        text = json.dumps({**about, "results": now}, indent=1)
        rows = re.sub(r"\[[^\[\]]*\]", lambda row: " ".join(row[0].split()), text)
        RESULTS.write_text(f"{rows}\n", "utf-8")
        return 0
    found = differences(json.loads(RESULTS.read_text("utf-8"))["results"], now)
    print("\n".join(found) or "as on record, to the digit")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
