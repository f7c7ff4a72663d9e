"""An ordinary nbgrader course, the one in its own wheel, is under our steps what it is under nbgrader's."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbgrader.api import Gradebook

from tests.commands import output_of

from .test_conformance import CONFIG

COURSE = Path(next(iter(find_spec("nbgrader").submodule_search_locations)), "docs", "source", "user_guide")
STUDENTS = ("bitdiddle", "hacker")
pytestmark = pytest.mark.skipif(not (COURSE / "submitted").is_dir(), reason="this nbgrader comes without its course")


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> dict[str, Path]:
    """The course graded, with feedback, by nbgrader as it comes (`stock`), and with our configuration (`ours`)."""
    return {name: _graded(tmp_path_factory.mktemp(name), text) for name, text in (("stock", ""), ("ours", CONFIG))}


def _graded(folder: Path, configuration: str) -> Path:
    shutil.copytree(COURSE / "source" / "ps1", folder / "source" / "ps1")
    for student in STUDENTS:
        shutil.copytree(COURSE / "submitted" / student / "ps1", folder / "submitted" / student / "ps1")
    (folder / "nbgrader_config.py").write_text(configuration)
    output_of(folder, "nbgrader", "generate_assignment", "ps1", "--create")
    output_of(folder, "nbgrader", "autograde", "ps1", "--create")
    output_of(folder, "nbgrader", "generate_feedback", "ps1")
    return folder


def rows(folder: Path) -> dict[tuple[str, ...], tuple[object, ...]]:
    """What the gradebook says of every submission, every graded cell and every comment."""
    found: dict[tuple[str, ...], tuple[object, ...]] = {}
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as gradebook:
        for work in gradebook.assignment_submissions("ps1"):
            student = work.student.id
            found[student,] = (work.score, work.max_score, work.extension, work.late_submission_penalty)
            for notebook in work.notebooks:
                for grade in notebook.grades:
                    found[student, notebook.name, "grade", grade.name] = (
                        *(grade.auto_score, grade.manual_score, grade.extra_credit),
                        *(grade.max_score, grade.needs_manual_grade),
                    )
                for comment in notebook.comments:
                    found[student, notebook.name, "comment", comment.name] = (
                        comment.auto_comment,
                        comment.manual_comment,
                    )
    return found


def cells(folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    """The cells of each autograded notebook, with what they printed, and the points that nbgrader wrote into them."""
    found = {}
    for path in sorted((folder / "autograded").rglob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        found[str(path.relative_to(folder))] = [
            (cell.cell_type, cell.source, cell.get("outputs"), cell.metadata.get("nbgrader", {}).get("points"))
            for cell in notebook.cells
        ]
    return found


def pages(folder: Path) -> dict[str, str]:
    """What a student reads on each page of feedback: its text and tables, and its formulas as TeX."""
    return {
        str(path.relative_to(folder)): _read(path.read_text("utf-8"))
        for path in sorted((folder / "feedback").rglob("*.html"))
    }


def _read(page: str) -> str:
    soup = BeautifulSoup(page, "html.parser")
    for formula in soup.find_all("math"):
        mark = "$$" if formula.get("display") == "block" else "$"
        formula.replace_with(f"{mark}{formula['alttext']}{mark}")
    for error in soup.select(".output_error pre"):  # ours has one line, for a traceback quotes hidden tests
        last = error.get_text().strip().splitlines()[-1]
        error.string = last.partition(":")[0]
    for unread in soup(["script", "style", "head"]):
        unread.decompose()
    return "".join(soup.get_text().split())


def test_an_ordinary_course_earns_the_same(graded):
    stock = rows(graded["stock"])
    assert len(stock) > 10 and any(row[0] for name, row in stock.items() if name[2:3] == ("grade",))
    assert rows(graded["ours"]) == stock


def test_its_autograded_notebooks_have_the_same_cells_and_outputs(graded):
    stock = cells(graded["stock"])
    assert len(stock) == 2 * len(STUDENTS) and any(outputs for one in stock.values() for _, _, outputs, _ in one)
    assert cells(graded["ours"]) == stock


def test_its_students_read_the_same_feedback(graded):
    """Our pages need no network and run no script, so the markup is another: no word is."""
    stock = pages(graded["stock"])
    assert len(stock) == 2 * len(STUDENTS)
    assert pages(graded["ours"]) == stock
