"""Each thing that can be wrong with a submission gets one clear sentence."""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path

import pytest
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory

from course.grading.intake.arrival_time import Undated
from course.grading.intake.attempts import arrival
from course.grading.intake.check_submission import ends_kernel, examine
from course.grading.intake.untrusted import MOST_FILES, refuse_name, remove
from course.grading.nbgrader_bridge.patches import read_odd_timestamps
from course.grading.problem import Problem
from tests.original import ORIGINAL

NAME = "03_rnn"


CELL = {"id": "a", "cell_type": "code", "source": "1", "outputs": [], "execution_count": None, "metadata": {}}


def notebook(**changes) -> str:
    marks = {"grade": True, "grade_id": "rnn_cell", "solution": False, "schema_version": 3, "points": 2}
    cells = [{**CELL, "metadata": {"nbgrader": marks}}]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells, **changes})


def hand_in(folder: Path, text: str | bytes, name: str = f"{NAME}.ipynb") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def complaint(folder: Path) -> str:
    with pytest.raises(Problem) as caught:
        examine(ORIGINAL, folder, NAME)
    sentence = str(caught.value)
    assert "\n" not in sentence and len(sentence) < 200
    return sentence


def test_a_sound_notebook_gets_no_complaint(tmp_path):
    assert examine(ORIGINAL, hand_in(tmp_path, notebook()), NAME) == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (notebook()[:-40], "not valid JSON"),
        (
            notebook()[:40] + "\n<<<<<<< HEAD\n 1\n=======\n 2\n>>>>>>> mine\n",
            "two versions, because git left a conflict in it",
        ),
        ("[" * 100_000, "nested more than 100 levels deep"),
        ("[" * 200 + "]" * 200, "nested more than 100 levels deep"),
        ('{"nbformat": ' + "9" * 10_000 + "}", "thousands of digits"),
        ('{"metadata": "\\ud800"}', "half a character"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "is a picture, although its name says otherwise"),
        (
            b"PK\x03\x04\x14\x00\x00\x00",
            "is an archive (or a Word file), although its name says otherwise. The notebook itself is needed",
        ),
        (b"\n<!DOCTYPE html><title>03_rnn</title>", "is a web page"),
        (b"\x00\x01\x80", "it is not text"),
        ("import torch\n", "is not a notebook, although its name says so"),
        ('["a", "list"]', "is not a notebook"),
        ('{"title": "no notebook"}', "is not a notebook"),
        (notebook(nbformat=True), "is not a notebook"),
        (notebook(nbformat=5), "in notebook format 5"),
        ("\n", "is empty"),
        (b"\0" * 512, "is empty"),
        (notebook().encode("utf-16")[:-1], "it is not text"),
        ('{"metadata": "Zoë"}'.encode("cp1252"), "another encoding than UTF-8, perhaps Windows-1252"),
        ('{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}', "it has no list of cells"),
        ('{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [3]}', "cell 1 is neither code nor text"),
        (notebook(cells=[{"id": "a", "cell_type": None, "metadata": {}, "source": ""}]), "neither code nor text"),
        (
            notebook(cells=[{"id": "a", "cell_type": "raw", "metadata": {}}]),
            "(cell 1: 'source' is a required property). Open it in JupyterLab and save it again",
        ),
    ],
)
def test_what_is_no_notebook(tmp_path, content, said):
    assert said in complaint(hand_in(tmp_path, content))


def test_beside_what_is_no_notebook_another_one_is_named(tmp_path):
    hand_in(hand_in(tmp_path, ""), notebook(), "Untitled.ipynb")
    another = f"The folder also contains Untitled.ipynb. If that is the submission, rename it to {NAME}.ipynb"
    assert complaint(tmp_path).endswith(f"It is needed again. {another}")


@pytest.mark.parametrize("name", [f"{NAME}.ipynb.txt", f"{NAME}.json", f"{NAME}.IPYNB", NAME])
def test_a_notebook_with_another_ending_is_to_be_renamed(tmp_path, name):
    """As browsers save it. A text that is no notebook is none."""
    hand_in(tmp_path, notebook(), name)
    told = f"the folder contains {name}. If that is the submission, rename it to {NAME}.ipynb"
    assert complaint(tmp_path) == f"{NAME}.ipynb is missing, but {told}"
    hand_in(tmp_path, '{"nbformat": 4}', name)
    assert complaint(tmp_path).endswith(f"and the folder contains {name}. The notebook is needed")


def test_the_notebook_of_another_topic(tmp_path):
    name = "06_self_attention"
    with pytest.raises(Problem, match=r"06_self_attention\.ipynb is the notebook of 03_rnn"):
        examine(ORIGINAL, hand_in(tmp_path, notebook(), f"{name}.ipynb"), name)


def test_a_missing_notebook(tmp_path):
    assert "03_rnn.ipynb is missing" in complaint(tmp_path)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([], "the folder is empty"),
        (
            ["timestamp.txt", ".ipynb_checkpoints/03_rnn-checkpoint.ipynb", "__MACOSX/03_rnn.ipynb"],
            "the folder is empty",
        ),
        (["Homework.docx"], "and the folder contains Homework.docx. The notebook is needed"),
        (["03_rnn.zip", "notes.txt"], "but the folder contains 03_rnn.zip. Unpack it"),
        (["03_rnn/03_rnn.ipynb"], "but there is 03_rnn/03_rnn.ipynb. If that is the submission, move it up"),
        (["a", "b", "c", "d"], "and the folder contains a, b, c and others. The notebook is needed"),
    ],
)
def test_what_is_there_in_its_place(tmp_path, names, said):
    (tmp_path / "03_rnn.ipynb").mkdir()
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    assert said in complaint(tmp_path)


def test_a_renamed_notebook(tmp_path):
    sentence = complaint(hand_in(tmp_path, notebook(), "rnn (final).ipynb"))
    assert "rnn (final).ipynb" in sentence and "rename it" in sentence


@pytest.mark.parametrize("place", ["data/../03_rnn.ipynb", "notes.txt", "data"])
def test_a_symbolic_link(tmp_path, place):
    secret = tmp_path / "gradebook.db"
    secret.write_text(notebook())
    submission = tmp_path / "submission"
    (submission / "data").mkdir(parents=True)
    if place == "data":
        (submission / "data").rmdir()
    else:
        hand_in(submission, notebook(), "other.ipynb")
    (submission / place).symlink_to(secret if place != "data" else tmp_path, target_is_directory=place == "data")
    assert "symbolic link" in complaint(submission)


def test_a_pipe_is_no_file(tmp_path):
    os.mkfifo(hand_in(tmp_path, notebook()) / "pipe")
    assert "not an ordinary file. The file itself is needed" in complaint(tmp_path)


def test_a_hard_link(tmp_path):
    (tmp_path / "gradebook.db").write_text("scores")
    submission = hand_in(tmp_path / "submission", notebook())
    (submission / "notes.txt").hardlink_to(tmp_path / "gradebook.db")
    assert "notes.txt is a hard link" in complaint(submission)


@pytest.mark.parametrize("name", [b"\xff", b"a\nb", b"..\\up"])
def test_a_name_that_cannot_be_written(tmp_path, name):
    (hand_in(tmp_path, notebook()) / os.fsdecode(name)).touch()
    assert "is a file name with" in complaint(tmp_path)


def test_names_of_every_language(tmp_path):
    (hand_in(tmp_path, notebook()) / "Bildschirmfoto 1\u202f00 –  ää 図.png").touch()
    assert examine(ORIGINAL, tmp_path, NAME) == []


def test_folders_in_folders_and_files_without_end(tmp_path):
    (hand_in(tmp_path, notebook()) / "/".join("d" * 30)).mkdir(parents=True)
    assert "20 levels of folders" in complaint(tmp_path)
    remove(tmp_path / "d")
    for number in range(MOST_FILES):
        (tmp_path / str(number)).touch()
    assert "more than 2000 files" in complaint(tmp_path)


def test_whatever_was_made_in_a_folder_can_be_removed(tmp_path):
    kept = tmp_path / "kept"
    kept.mkdir()
    deep = tmp_path / "deep"
    deep.mkdir()
    (deep / "link").symlink_to(kept)
    held = os.open(deep, os.O_RDONLY)
    for _ in range(1500):  # by descriptors: the path becomes longer than a system call takes
        os.mkdir("d" * 10, dir_fd=held)
        below = os.open("d" * 10, os.O_RDONLY, dir_fd=held)
        os.close(held)
        held = below
    os.close(held)
    remove(deep)
    assert kept.is_dir() and not deep.exists()


def test_a_submission_that_is_too_large(tmp_path):
    hand_in(tmp_path, notebook())
    with (tmp_path / "data.bin").open("wb") as file:
        file.truncate(101 * 2**20)
    assert "has 101 MB" in complaint(tmp_path)


@pytest.mark.parametrize(
    ("stamp", "says"),
    [
        ("05.11.2026 10:00", "takes the first number for the month"),
        ("5/11/26", "takes the first number for the month"),
        ("2026-11-05 10:00:00 CEST", "an unknown time zone, CEST"),
        ("2026-11-05 10:00:00 PM PST", "an unknown time zone, PST"),
        ("Thu Nov  5 10:00:00 CEST 2026", "an unknown time zone"),
        ("2026-11-05T10:00:00 EEST", "an unknown time zone"),
        ("2026-11-05 10:00:00 +0100", "a space before +0100, so nbgrader misreads it"),
        ("2026-11-05 10:00:00 -08:00", "a space before -08:00, so nbgrader misreads it"),
        ("5 Nov 2026", "does not hold a date"),
        ("2027-01-01 10:00 ../../etc/passwd", "an unknown time zone"),
        ("2027-01-01 10:00:00 a/../../../etc/passwd", "an unknown time zone"),
        ("05-11-2026 10:00:00 UTC", "takes the first number for the month"),
        ("23:40:00", "timestamp.txt says 23:40:00, without year, month and day. Write it as 2027-01-31"),
        ("11:40 PM", "timestamp.txt says 11:40PM, without year, month and day"),
        ("Monday 23:40 UTC", "without year, month and day"),
        ("Nov 2026", "without year, month and day"),
    ],
)
def test_a_timestamp_that_would_be_misread(tmp_path, stamp, says):
    hand_in(tmp_path, notebook())
    hand_in(tmp_path, stamp, "timestamp.txt")
    assert says in complaint(tmp_path)


@pytest.mark.parametrize(
    "stamp",
    [
        "2026-11-05 10:00:00.25 UTC",
        "2026-11-05T10:00:00Z",
        "2026-11-05 10:00:00 Europe/Paris",
        "2026-11-05 10:00:00+01:00",
        "2026-11-05 10:00:00 +0000",
        "2026-11-05 10:00:00 +00:00",
        "Thu Nov  5 10:00:00 UTC 2026",
        "Nov 5 2026 10:00",
        " ",
    ],
)
def test_timestamps_as_people_and_platforms_write_them(tmp_path, stamp):
    hand_in(tmp_path, stamp, "timestamp.txt")
    hand_in(tmp_path, notebook())
    assert examine(ORIGINAL, tmp_path, NAME) == []


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("2027-01-31 23:40:00+01:00", "utf-8-sig"),
        ("2027-01-31 23:40:00+01:00\r\n", "utf-16"),
        ("2027-01-31 10:40 PM", "utf-8"),
        ("2027-01-31 10:40:00 p.m. UTC", "utf-8"),
        ("January 31, 2027 10:40\u202fPM", "utf-8-sig"),
    ],
)
def test_a_timestamp_as_editors_and_people_write_it_is_the_right_time(tmp_path, text, encoding):
    """The same for the summary, for nbgrader's own autograding and for formgrader."""
    work = hand_in(tmp_path / "submitted" / "ada" / NAME, notebook())
    (work / "timestamp.txt").write_bytes(text.encode(encoding))
    assert examine(ORIGINAL, work, NAME) == [] and arrival(work) == datetime(2027, 1, 31, 22, 40)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CourseDirectory, "get_existing_timestamp", CourseDirectory.get_existing_timestamp)
        patch.setattr(NbGraderAPI, "get_submitted_timestamp", NbGraderAPI.get_submitted_timestamp)
        read_odd_timestamps()
        coursedir = CourseDirectory(root=str(tmp_path))
        assert coursedir.get_existing_timestamp(str(work)) == datetime(2027, 1, 31, 22, 40)
        api = NbGraderAPI(coursedir)
        assert api.get_submitted_timestamp(NAME, "ada") == datetime(2027, 1, 31, 22, 40)
        (work / "timestamp.txt").write_text("23:40:00")
        with pytest.raises(Undated, match=r"says 23:40:00, without year"):
            coursedir.get_existing_timestamp(str(work))


def test_a_timestamp_that_is_none(tmp_path):
    hand_in(tmp_path, notebook())
    hand_in(tmp_path, "yesterday, I think", "timestamp.txt")
    assert "timestamp.txt" in complaint(tmp_path)


def test_what_the_finder_left_in_a_folder_costs_nobody_their_work(tmp_path):
    for name in ("Icon\r", "._Icon\r", f"._{NAME}.ipynb", "Thumbs.db"):
        hand_in(hand_in(tmp_path, notebook()), "", name)
    assert examine(ORIGINAL, tmp_path, NAME) == []
    (tmp_path / f"{NAME}.ipynb").unlink()
    assert complaint(tmp_path) == f"{NAME}.ipynb is missing, because the folder is empty. The notebook is needed"


def test_a_timestamp_that_is_a_folder(tmp_path):
    (hand_in(tmp_path, notebook()) / "timestamp.txt").mkdir()
    assert "does not hold a date" in complaint(tmp_path)


def test_names_that_would_write_on_the_terminal_are_shown_as_they_are(tmp_path):
    document = json.loads(notebook())
    (cell,) = document["cells"]
    cell["metadata"]["nbgrader"]["grade_id"] = "a\x1b[2J\n300 of 300 graded"
    document["cells"] = [cell, {**cell, "id": "b"}]
    (note,) = examine(ORIGINAL, hand_in(tmp_path, json.dumps(document)), NAME)
    assert note.isprintable() and r"a\x1b[2J\n300 of" in note


def test_cells_without_ids_are_noted_and_graded(tmp_path):
    document = json.loads(notebook())
    del document["cells"][0]["id"]
    assert examine(ORIGINAL, hand_in(tmp_path, json.dumps(document)), NAME) == ["cells had no ids and got new ones"]


def test_an_older_notebook_needs_no_ids(tmp_path):
    document = json.loads(notebook(nbformat_minor=4))
    del document["cells"][0]["id"]
    assert examine(ORIGINAL, hand_in(tmp_path, json.dumps(document)), NAME) == []


def test_copies_and_lost_marks_are_noted(tmp_path):
    cells = json.loads(notebook())["cells"]
    assert (
        "the last copy of each is graded: rnn_cell (cell 2)"
        in examine(ORIGINAL, hand_in(tmp_path, notebook(cells=cells * 2)), NAME)[0]
    )
    del cells[0]["metadata"]["nbgrader"]
    assert "lost nbgrader's metadata" in examine(ORIGINAL, hand_in(tmp_path, notebook(cells=cells)), NAME)[0]


@pytest.mark.parametrize(
    ("source", "called"),
    [
        ("exit()", "exit()"),
        ("x = 1\nif x:\n    quit(0)", "quit()"),
        ("%matplotlib inline\nexit", "exit()"),
        ("[exit() for _ in range(2)]", "exit()"),
        ("def leave():\n    exit()", ""),
        ("# exit()\nexits = 'exit()'", ""),
        ("import sys\nsys.exit()", ""),
        ("exit = 3", ""),
        ("what (ever", ""),
    ],
)
def test_what_ends_a_kernel(source, called):
    assert ends_kernel(source) == called


ODD = [
    "a\nb",
    "a\x1b[31mb",
    "\u202eba",
    "<img src=x>",
    'a"b',
    "a&b",
    "a\\b",
    "*",
    "[b]",
    " a",
    "a ",
    os.fsdecode(b"\xff"),
]


@pytest.mark.parametrize("student", ODD)
def test_a_name_that_is_taken_for_something_else(student):
    with pytest.raises(Problem, match="cannot be a student's"):
        refuse_name(student)


@pytest.mark.parametrize("student", ["ada", "o'hara", "ünï çödé", "-rf", "50%s", "a.b@c", "{x}", "$HOME", "王小明"])
def test_names_as_people_have_them(student):
    refuse_name(student)
