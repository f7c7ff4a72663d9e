"""An ordinary nbgrader course, the one in its own wheel, earns under our steps what it earns under nbgrader's."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from tests.commands import output_of

from .test_conformance import CONFIG

COURSE = Path(next(iter(find_spec("nbgrader").submodule_search_locations)), "docs", "source", "user_guide")
STUDENTS = ("bitdiddle", "hacker")
pytestmark = pytest.mark.skipif(not (COURSE / "submitted").is_dir(), reason="this nbgrader comes without its course")


def graded(folder: Path, configuration: str) -> dict[tuple[str, ...], tuple[object, ...]]:
    """What the gradebook says of every graded cell when the course is graded with that configuration."""
    shutil.copytree(COURSE / "source" / "ps1", folder / "source" / "ps1")
    for student in STUDENTS:
        shutil.copytree(COURSE / "submitted" / student / "ps1", folder / "submitted" / student / "ps1")
    (folder / "nbgrader_config.py").write_text(configuration)
    output_of(folder, "nbgrader", "generate_assignment", "ps1", "--create")
    output_of(folder, "nbgrader", "autograde", "ps1", "--create")
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as gradebook:
        submissions = gradebook.assignment_submissions("ps1")
        notebooks = [(work.student.id, notebook) for work in submissions for notebook in work.notebooks]
        return {
            (student, notebook.name, grade.name): (grade.auto_score, grade.max_score, grade.needs_manual_grade)
            for student, notebook in notebooks
            for grade in notebook.grades
        }


def test_an_ordinary_course_earns_the_same(tmp_path):
    (tmp_path / "stock").mkdir()
    (tmp_path / "ours").mkdir()
    stock = graded(tmp_path / "stock", "")
    ours = graded(tmp_path / "ours", CONFIG)
    assert len(stock) > 10 and any(score for score, *_ in stock.values())
    assert ours == stock
