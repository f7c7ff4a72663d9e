"""`course take`: whatever a platform calls a file, it reaches the student whom the instructor names."""

from __future__ import annotations

import json
import zipfile
from datetime import datetime
from pathlib import Path

import pytest
from nbformat import write

from course import cli
from course.grading.gradebook.scores import enrol
from course.grading.intake.attempts import attempts_of
from tests.grading.lesson import NAME, hand_in, make_course, solved


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course that Ada has handed in for, and Kim has not."""
    root = make_course(tmp_path / "course")
    hand_in(root, "ada", solved(root))
    for student in ("ada", "kim"):
        enrol(f"sqlite:///{root / 'gradebook.db'}", student)
    monkeypatch.chdir(root)
    return root


def downloaded(root: Path, kind: str) -> Path:
    """The lesson as Google Forms names it, bare, in a zip, or in a folder of one."""
    place = root.parent / "drive"
    place.mkdir()
    notebook = place / f"{NAME} - Kim Smith.ipynb"
    nb = solved(root)
    nb.cells[0].source += "\n\nMy notes."
    write(nb, notebook)
    if kind == "folder":
        return place
    if kind == "notebook":
        return notebook
    with zipfile.ZipFile(place / "Form responses.zip", "w") as archive:
        archive.write(notebook, f"Responses/{notebook.name}")
    return place / "Form responses.zip"


@pytest.mark.parametrize("kind", ["notebook", "zip", "folder"])
def test_a_file_counts_and_what_it_replaces_is_kept(root: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    file, before = downloaded(root, kind), (root / "submitted" / "ada" / NAME / f"{NAME}.ipynb").read_bytes()
    for student in ("kim", "ada"):
        assert cli.main(["take", student, str(file), "--came", "2027-01-31 23:40+01:00"]) == 0
        work = root / "submitted" / student / NAME
        assert b"My notes." in (work / f"{NAME}.ipynb").read_bytes()
        assert (work / "timestamp.txt").read_text("utf-8") == "2027-01-31 23:40:00+01:00"
    assert f"attempts/ada/{NAME}" in capsys.readouterr().out
    kept, counts = attempts_of(root, "ada", NAME, root / "submitted" / "ada" / NAME)
    assert (kept.place / f"{NAME}.ipynb").read_bytes() == before and counts.counts
    assert cli.main(["take", "ada", str(file)]) == 0 and "nothing changed" in capsys.readouterr().out
    assert len(attempts_of(root, "ada", NAME, root / "submitted" / "ada" / NAME)) == 2


def test_a_zip_of_submit_keeps_its_time(root: Path, tmp_path: Path) -> None:
    """It was packed for a name that nobody has, and the time in its manifest is the student's clock."""
    work = root / "submitted" / "ada" / NAME / f"{NAME}.ipynb"
    cli.main(["submit", str(work), "--student", "kimmy", "--folder", str(tmp_path)])
    (packed,) = tmp_path.glob("*.zip")
    with zipfile.ZipFile(packed) as archive:
        packed_at = json.loads(archive.read("submission.json"))["time"]
    assert cli.main(["take", "kim", str(packed)]) == 0
    stamp = (root / "submitted" / "kim" / NAME / "timestamp.txt").read_text("utf-8")
    assert datetime.fromisoformat(stamp) == datetime.fromisoformat(packed_at)
    assert (root / "submitted" / "kim" / NAME / "submission.json").is_file(), "by which collecting knows it again"


def test_a_manifest_with_an_impossible_time_is_taken_as_on_time(root: Path, tmp_path: Path) -> None:
    packed = tmp_path / "kim.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(root / "submitted" / "ada" / NAME / f"{NAME}.ipynb", f"{NAME}.ipynb")
        archive.writestr("submission.json", json.dumps({"topic": NAME, "student": "kim", "time": "0001-01-02T00:00Z"}))
    assert cli.main(["take", "kim", str(packed)]) == 0
    assert not (root / "submitted" / "kim" / NAME / "timestamp.txt").exists()


@pytest.mark.parametrize(
    ("student", "content", "words", "says"),
    [
        ("adda", None, (), "the gradebook has no student adda. Did you mean ada?"),
        ("ada", None, ("--topic", "rnn"), f"has the exercises of {NAME}, and none of 03_rnn. Correct --topic"),
        ("ada", b'{"cells": [', (), "is not valid JSON"),
        ("ada", b'{"cells": []}', (), "has no exercise of this course. Name its topic with --topic"),
        ("ada", b"", (), "is empty"),
    ],
)
def test_what_cannot_be_taken_gets_one_sentence(
    root: Path,
    student: str,
    content: bytes | None,
    words: tuple[str, ...],
    says: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = downloaded(root, "notebook")
    if content is not None:
        file.write_bytes(content)
    assert cli.main(["take", student, str(file), *words]) == 2
    said = capsys.readouterr().err
    assert says in said and said.count("\n") == 1
    assert not (root / "attempts").exists() and not (root / "submitted" / "kim").exists()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("none.ipynb", "none.ipynb cannot be read: No such file or directory"),
        ("notes.txt", "holds no notebook. Ask for a file that ends in .ipynb"),
        ("broken.zip", "is not unpacked, because it is damaged"),
    ],
)
def test_a_file_without_a_notebook_gets_one_sentence(
    root: Path, name: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if name != "none.ipynb":
        (root.parent / name).write_bytes(b"PK\3\4broken")
    assert cli.main(["take", "ada", str(root.parent / name)]) == 2
    said = capsys.readouterr().err
    assert says in said and said.count("\n") == 1
