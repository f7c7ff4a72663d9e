"""nbgrader's own commands, in a fresh clone, from release to exported grades."""

from __future__ import annotations

import csv
import json
import os
import shutil
import sys
import urllib.request
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from course.grading.authoring.source import build
from course.grading.course_folder import source_path
from course.grading.release.lint import solution_lines
from tests.commands import output_of
from tests.original import ORIGINAL, find_topic
from tests.serving import jupyter

ROOT = Path(__file__).parents[2]
TOPIC = find_topic("self_attention")
PROGRAMS = Path(sys.executable).parent
SOLVED = "softmax"


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files an instructor has after `git clone`, and what `nbgrader autograde` made of one submission."""
    clone = tmp_path_factory.mktemp("clone") / "course"
    (clone / "solutions").mkdir(parents=True)
    for source in (ROOT / "solutions").glob("*.py"):
        shutil.copy(source, clone / "solutions")
    released = Path("assignments") / TOPIC.folder / f"{TOPIC.folder}.ipynb"
    (clone / released).parent.mkdir(parents=True)
    shutil.copy(ROOT / released, clone / released)
    shutil.copy(ROOT / "nbgrader_config.py", clone)
    _nbgrader(clone, "generate_assignment", TOPIC.folder)
    _submit(clone, "ada")
    _nbgrader(clone, "autograde", TOPIC.folder)
    return clone


def _nbgrader(clone: Path, *arguments: str) -> str:
    """Run the stock command as from a shell in which no environment is activated."""
    return output_of(clone, "nbgrader", *arguments, PATH=os.defpath)


def _submit(clone: Path, student: str) -> None:
    """One exercise solved, the others as released."""
    solved = {cell.id: cell.source for cell in build(ORIGINAL, source_path(ROOT, TOPIC), TOPIC).cells}
    path = clone / "submitted" / student / TOPIC.folder / f"{TOPIC.folder}.ipynb"
    path.parent.mkdir(parents=True)
    notebook = nbformat.read(clone / "assignments" / TOPIC.folder / path.name, as_version=4)
    for cell in notebook.cells:
        if cell.id == f"{SOLVED}-solution":
            cell.source = solved[cell.id]
    nbformat.write(notebook, path)


def test_autograde_gives_the_points_that_are_due(clone: Path) -> None:
    points = {item.name: item.points for item in TOPIC.items}
    with Gradebook(f"sqlite:///{clone / 'gradebook.db'}") as gradebook:
        notebook = gradebook.find_submission_notebook(TOPIC.folder, TOPIC.folder, "ada")
        scores = {grade.name: grade.auto_score for grade in notebook.grades}
    question = f"{TOPIC.name}_question"
    assert scores.pop(question) in (None, 0.0)
    assert scores == {name: float(points[name] * (name == SOLVED)) for name in points if name != question}


def test_the_graded_folder_holds_no_solution(clone: Path) -> None:
    solved = build(ORIGINAL, source_path(ROOT, TOPIC), TOPIC)
    given = {line.strip() for cell in _notebook(clone / "submitted").cells for line in cell.source.splitlines()}
    graded = {line.strip() for cell in _notebook(clone / "autograded").cells for line in cell.source.splitlines()}
    secret = set(solution_lines(solved)) - given
    assert secret and not secret & graded
    others = [path.name for path in (clone / "autograded").rglob("*") if path.is_file()]
    assert others == [f"{TOPIC.folder}.ipynb"]


def _notebook(folder: Path) -> nbformat.NotebookNode:
    return nbformat.read(folder / "ada" / TOPIC.folder / f"{TOPIC.folder}.ipynb", as_version=4)


def test_feedback_and_export(clone: Path) -> None:
    assert "not recognized" not in _nbgrader(clone, "generate_feedback", TOPIC.folder)
    page = (clone / "feedback" / "ada" / TOPIC.folder / f"{TOPIC.folder}.html").read_text("utf-8")
    assert "softmax" in page
    _nbgrader(clone, "export")
    with (clone / "grades.csv").open() as lines:
        row = next(row for row in csv.DictReader(lines) if row["assignment"] == TOPIC.folder)
    assert row["student_id"] == "ada"
    assert float(row["score"]) == 2.0 and float(row["max_score"]) == TOPIC.points


def test_validate_names_what_fails_and_passes_what_does_not(clone: Path) -> None:
    submitted = clone / "submitted" / "ada" / TOPIC.folder / f"{TOPIC.folder}.ipynb"
    said = _nbgrader(clone, "validate", str(submitted))
    failing = [item.name for item in TOPIC.items if f'check("{item.name}"' in said]
    assert failing == [item.name for item in TOPIC.judged if item.name != SOLVED], said


def test_formgrader_shows_the_class(clone: Path, tmp_path: Path) -> None:
    with jupyter("jupyter_server", clone, tmp_path, "--IdentityProvider.token=") as address:
        assignments = json.loads(_get(f"{address}formgrader/api/assignments"))
        (listed,) = [assignment for assignment in assignments if assignment["name"] == TOPIC.folder]
        assert (listed["num_submissions"], listed["max_score"]) == (1, TOPIC.points)
        assert "ada" in _get(f"{address}formgrader/api/submissions/{TOPIC.folder}")
        assert "Manage Assignments" in _get(f"{address}formgrader/manage_assignments")


def _get(address: str) -> str:
    with urllib.request.urlopen(address, timeout=60) as answer:
        return answer.read().decode()
