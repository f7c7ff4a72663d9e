"""The released notebook beside the one that holds the work, under the names that Jupyter, Drive and people give it."""

from __future__ import annotations

import json
import zipfile
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from traitlets.config import Config

from course import cli
from course.grading.export.autograder import hand_in
from course.grading.intake.check_submission import examine
from course.grading.nbgrader_bridge.feedback_page import SubmissionNotes
from tests.original import ORIGINAL

from ..lesson import NAME, TOPIC, answers, release_path

ROOT = Path(__file__).parents[3]
SOFTMAX = {"softmax": "def softmax(x, dim):\n    return x - x.logsumexp(dim, keepdim=True)"}
NAMES = (
    f"{NAME}-Copy1.ipynb",
    f"Copy of {NAME}.ipynb",
    f"{NAME} (1).ipynb",
    f"{NAME}_final.ipynb",
    "Untitled.ipynb",
    f"{NAME}/{NAME}.ipynb",
)


@pytest.fixture(scope="module")
def given() -> NotebookNode:
    return nbformat.read(release_path(ROOT, TOPIC), as_version=4)


@pytest.fixture
def folder(tmp_path: Path, given: NotebookNode) -> Path:
    """A folder with the released notebook in it."""
    write(tmp_path / NAME / f"{NAME}.ipynb", given)
    return tmp_path / NAME


def write(path: Path, nb: NotebookNode, answered: dict[str, str] | None = None) -> Path:
    nb = deepcopy(nb)
    answers(answered or {})(nb)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(nb), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", NAMES)
def test_the_notebook_with_the_work_is_named(name: str, folder: Path, given: NotebookNode) -> None:
    write(folder / name, given, SOFTMAX)
    (note,) = examine(ORIGINAL, folder, NAME)
    assert f"none of its answers was changed, but {name} holds changed answers" in note
    assert note.endswith(f"If that is the submission, rename it to {NAME}.ipynb")


def test_other_answers_beside_answered_work_are_told_quietly(folder: Path, given: NotebookNode) -> None:
    write(folder / f"{NAME}.ipynb", given, SOFTMAX)
    write(folder / "backup.ipynb", given, SOFTMAX)
    assert examine(ORIGINAL, folder, NAME) == [], "the same answers"
    write(folder / "older.ipynb", given, {"softmax": "def softmax(x, dim):\n    return x"})
    assert examine(ORIGINAL, folder, NAME) == [f"{NAME}.ipynb is graded, but older.ipynb beside it holds other answers"]


def test_nothing_is_said_of_what_is_no_work(folder: Path, given: NotebookNode) -> None:
    write(folder / "blank.ipynb", given)
    write(folder / ".ipynb_checkpoints" / f"{NAME}-checkpoint.ipynb", given, SOFTMAX)
    write(folder / "__MACOSX" / f"._{NAME}.ipynb", given, SOFTMAX)
    other = nbformat.read(ROOT / "assignments" / "03_rnn" / "03_rnn.ipynb", as_version=4)
    write(folder / "03_rnn.ipynb", other, {"rnn_cell": "def rnn_cell():\n    return 1"})
    for name, text in (("cut.ipynb", '{"cells": ['), ("odd.ipynb", '{"cells": [1, {"metadata": 3}]}')):
        (folder / name).write_text(text)
    (folder / "list.ipynb").write_text(json.dumps({"cells": {}}))
    assert examine(ORIGINAL, folder, NAME) == []


def test_gradescope_and_feedback_name_it_too(folder: Path, given: NotebookNode, tmp_path: Path) -> None:
    write(folder / f"{NAME}_final_*v2*.ipynb", given, SOFTMAX)
    place = tmp_path / "submitted" / "ada" / NAME
    assert hand_in(folder, place, TOPIC) == []
    (note,) = examine(ORIGINAL, place, NAME)
    assert "_final_*v2*.ipynb holds" in note
    page = deepcopy(given)
    about = {"student": "ada", "assignment": NAME, "notebook": NAME}
    step = SubmissionNotes(config=Config({"CourseDirectory": {"root": str(tmp_path)}}))
    step.preprocess(page, {"nbgrader": about})
    assert len(page.cells) == len(given.cells) + 1
    assert page.cells[0].cell_type == "markdown" and r"\_final\_\*v2\*\.ipynb holds" in page.cells[0].source
    nbformat.validate(page)
    step.preprocess(page, {"nbgrader": {**about, "student": "bob"}})
    assert len(page.cells) == len(given.cells) + 1, "his submission is gone"


@pytest.mark.parametrize(("typed", "packed"), [("y", 1), ("", 0), ("n", 0)])
def test_submit_asks_which_one_to_pack(
    typed: str, packed: int, folder: Path, given: NotebookNode, monkeypatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = write(folder / f"{NAME}-Copy1.ipynb", given, SOFTMAX)
    asked: list[str] = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda prompt: asked.append(prompt) or typed)
    path = folder / f"{NAME}.ipynb"
    assert cli.main(["submit", str(path), "--student", "ada"]) == 1
    assert asked == [f"Pack {other.name} instead? [y/N] "]
    (archive,) = folder.parent.glob("*.zip")
    assert zipfile.ZipFile(archive).read(path.name) == (path, other)[packed].read_bytes()
    assert ("Not packed, although" in capsys.readouterr().out) == (not packed)


def test_submit_refuses_where_nobody_can_be_asked(
    folder: Path, given: NotebookNode, capsys: pytest.CaptureFixture[str]
) -> None:
    other = write(folder / f"{NAME} (1).ipynb", given, SOFTMAX)
    assert cli.main(["submit", str(folder / f"{NAME}.ipynb"), "--student", "ada"]) == 2
    said = capsys.readouterr().err
    assert f"{NAME}.ipynb holds no answer, but {other.name} beside it does" in said
    assert f"course submit '{other}'" in said and not list(folder.parent.glob("*.zip"))
    assert cli.main(["submit", str(other), "--student", "ada"]) == 1
    assert len(list(folder.parent.glob("*.zip"))) == 1
