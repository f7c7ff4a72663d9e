"""What is odd about a notebook's file is mended on the way in, and costs no points."""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook

from course.course import course_in
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.grade_class import grade_class
from course.grading.course_folder import notebook_path
from course.grading.gradebook.scores import read_scores
from course.grading.intake.mending import read_mended
from course.grading.problem import Problem
from course.grading.release.make_release import register
from course.grading.report import findings
from course.grading.self_study import grade_one
from tests.commands import output_of

from ..lesson import NAME, TOPIC

LESSON = """# %% [markdown]
# # A lesson of one exercise

# %% nbgrader={"grade": false, "grade_id": "double-solution", "locked": false, "schema_version": 3, "solution": true}
double = lambda x: 2 * x

# %% nbgrader={"grade": true, "grade_id": "double", "locked": true, "points": 3, "schema_version": 3, "solution": false}
assert double(4) == 8

# %% [markdown]
# The end.
"""
TEXT, SET_UP, ANSWER, TEST, END = range(5)
"""The cells of the built lesson."""

MENDED = "its file was repaired without changing code or text "
Document = dict[str, Any]
Edit = Callable[[Document], Any]


def fields(index: int, **values: Any) -> Edit:
    """Give a cell these fields."""
    return lambda document: document["cells"][index].update(values)


def without(index: int, *names: str) -> Edit:
    """Take these fields from a cell."""
    return lambda document: [document["cells"][index].pop(name) for name in names]


def of_minor(minor: int) -> Edit:
    return lambda document: document.update(nbformat_minor=minor)


def as_version_3(document: Document) -> None:
    older = nbformat.reads(json.dumps(document), as_version=3)
    document.clear()
    document.update(older)


PNG = {"my drawing ö.png": {"image/png": "iVBORw0KGgo="}}

TAKEN: dict[str, tuple[Edit, str]] = {
    "as it is": (lambda document: None, ""),
    "ids under format 4.2": (of_minor(2), "id of cells 1, 2, 3, 4, 5"),
    "the format of tomorrow": (of_minor(9), ""),
    "two cells with one id": (fields(END, id="double"), ""),
    "text with outputs": (fields(TEXT, outputs=[], execution_count=3), "execution_count of cell 1, outputs of cell 1"),
    "code without outputs": (without(ANSWER, "outputs"), "outputs of cell 3"),
    "code without its count": (without(TEST, "execution_count"), "execution_count of cell 4"),
    "a count that is none": (fields(ANSWER, execution_count="3"), "execution_count of cell 3"),
    "code with attachments": (fields(ANSWER, attachments=PNG), ""),
    "unknown fields": (fields(END, collapsed=True, trusted=1), "collapsed of cell 5, trusted of cell 5"),
    "an unknown field of all": (lambda document: document.update(title="Mine"), "its field title"),
    "format 3": (as_version_3, "its format, which was 3"),
}
"""What nbgrader takes: how it is made, and what is said of it."""

REFUSED: dict[str, tuple[Edit, str]] = {
    "metadata of a cell": (without(ANSWER, "metadata"), "metadata of cell 3"),
    "metadata": (lambda document: document.update(metadata=None), "its metadata"),
    "a language": (lambda document: document["metadata"].update(language=3), "its metadata"),
    "an id that is none": (fields(TEXT, id="my cell!"), "id of cell 1"),
    "ids of anything": (fields(TEXT, id=[{}]), "id of cell 1"),
    "outputs": (fields(ANSWER, outputs=[7]), "outputs of cell 3"),
    "attachments": (fields(END, attachments={"a": 3, **PNG}), "attachments of cell 5"),
    "no minor number": (lambda document: document.pop("nbformat_minor"), "its format's number"),
    "a minor number": (lambda document: document.update(nbformat_minor=[]), "its format's number"),
    "a number with a point": (lambda document: document.update(nbformat=4.0), "its format's number"),
}
"""What nbgrader refuses, and nothing of which was written by the student."""

ENCODED: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "a BOM": (lambda data: b"\xef\xbb\xbf" + data, "a byte order mark"),
    "UTF-16": (lambda data: data.decode().encode("utf-16"), "its encoding, UTF-16"),
    "zero bytes": (lambda data: data + b"\n" + b"\0" * 4000, "zero bytes at its end"),
}

ODD: dict[str, tuple[Any, str]] = {**TAKEN, **REFUSED, **ENCODED}


def odd_files(document: Document) -> dict[str, bytes]:
    """The same work as a file of every odd kind."""
    files = {}
    for name, (edit, _) in {**TAKEN, **REFUSED}.items():
        edited = copy.deepcopy(document)
        edit(edited)
        files[name] = json.dumps(edited).encode()
    return files | {name: change(files["as it is"]) for name, (change, _) in ENCODED.items()}


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    """A course whose class hands in the same right answer, each in an odd file."""
    root = tmp_path_factory.mktemp("odd") / "course"
    (root / "solutions").mkdir(parents=True)
    (root / "solutions" / f"{NAME}.py").write_text(LESSON)
    shutil.copy(Path(__file__).parents[3] / "nbgrader_config.py", root)
    register(course_in(root), TOPIC)
    for student, data in odd_files(json.loads(notebook_path(root, TOPIC).read_bytes())).items():
        folder = root / "submitted" / student / NAME
        folder.mkdir(parents=True)
        (folder / f"{NAME}.ipynb").write_bytes(data)
    return root


@pytest.fixture(scope="module")
def graded(root):
    return {work.student: work for work in grade_class(Classroom(course_in(root), TOPIC), workers=2)}


def test_no_oddity_costs_a_point(graded):
    points = {student: work.reason or work.scores.score for student, work in graded.items()}
    assert points == dict.fromkeys(ODD, 3)


@pytest.mark.parametrize(("student", "said"), {name: said for name, (_, said) in ODD.items()}.items())
def test_what_was_mended_is_noted(graded, student, said):
    mended = [note for note in graded[student].notes if note.startswith(MENDED)]
    assert mended == ([f"{MENDED}({said})"] if said else [])


def test_what_was_handed_in_stays_as_it_was(root, graded):
    files = odd_files(json.loads(notebook_path(root, TOPIC).read_bytes()))
    assert {name: (root / "submitted" / name / NAME / f"{NAME}.ipynb").read_bytes() for name in files} == files


def test_the_graded_notebook_is_a_valid_one(root, graded):
    for path in (root / "autograded").glob(f"*/{NAME}/*.ipynb"):
        nbformat.validate(json.loads(path.read_bytes()))


@pytest.mark.slow
def test_stock_nbgrader_gives_as_many_points_or_refuses(root, graded, tmp_path):
    """The same files, without a line of ours in the configuration."""
    (tmp_path / "nbgrader_config.py").write_text("")
    (tmp_path / "source" / NAME).mkdir(parents=True)
    shutil.copy(notebook_path(root, TOPIC), tmp_path / "source" / NAME)
    shutil.copytree(root / "submitted", tmp_path / "submitted")
    output_of(tmp_path, "nbgrader", "generate_assignment", NAME, "--create")
    output_of(tmp_path, "nbgrader", "autograde", NAME, "--create", status=1)
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as gradebook:
        stock = {work.student.id: work.score for work in gradebook.assignment_submissions(NAME)}
    taken = {path.parents[1].name for path in (tmp_path / "autograded").glob("*/*/*.ipynb")}
    assert taken == set(TAKEN)
    assert {name: stock[name] for name in taken} == {name: graded[name].scores.score for name in taken}


def test_nbgraders_own_command_reads_them_as_well(root, tmp_path):
    course = shutil.copytree(root, tmp_path / "course")
    chosen = ("a BOM", "outputs", "text with outputs")
    for folder in (course / "submitted").iterdir():
        if folder.name not in chosen:
            shutil.rmtree(folder)
    output_of(course, "nbgrader", "autograde", NAME, "--force")
    for name in chosen:
        assert read_scores(f"sqlite:///{course / 'gradebook.db'}", NAME, name, NAME).score == 3


def test_the_report_and_one_notebook_alone_read_them_as_well(root):
    given = nbformat.read(notebook_path(root, TOPIC), as_version=4)
    for path in (root / "submitted").glob(f"*/{NAME}/*.ipynb"):
        for read in (findings.read_or_none, grade_one.read_submission):
            assert [cell.source for cell in read(path).cells] == [cell.source for cell in given.cells]


def test_a_picture_survives_in_a_text_cell_that_was_turned_into_code():
    cell = {"cell_type": "code", "source": "![](attachment:a.png)", "metadata": {}, "attachments": PNG}
    document, _ = read_mended(
        json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [cell]}).encode(), "x"
    )
    assert document["cells"][0]["attachments"] == PNG


@pytest.mark.parametrize("version", [True, "4", None, 4.5, 3, 5])
def test_what_is_in_no_known_format_is_refused(version):
    with pytest.raises(Problem):
        read_mended(json.dumps({"nbformat": version, "worksheets": 5}).encode(), "x.ipynb")


def test_of_many_oddities_some_are_named():
    cells = [{"cell_type": "raw", "source": "", "metadata": {}, f"\x1b[31m{n}": n, "id": ""} for n in range(9)]
    data = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}).encode()
    (note,) = read_mended(data, "x.ipynb")[1]
    assert "id of cells 1, 2, 3, 4, 5 and others" in note and note.endswith(", other fields)")
    assert note.isprintable() and len(note) < 300
