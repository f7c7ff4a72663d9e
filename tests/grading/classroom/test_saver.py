"""Saving several submissions at once leaves what nbgrader's own autograding leaves: row by row, and byte by byte."""

from __future__ import annotations

import json
import platform
import random
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell

from course import cli
from course.course import course_in
from course.files import write_atomically
from course.grading.cells import read_notebook
from course.grading.classroom import saver
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.finish import notebook_file
from course.grading.classroom.grade_class import grade_class
from course.grading.classroom.write_feedback import write_all
from course.grading.intake.untrusted import read_files
from course.grading.nbgrader_bridge.converter_bypass import can_bypass_converter
from tests.few import few

from ..classes import question
from ..lesson import NAME, TOPIC, answers, before, copied, deleted, find, first, hand_in, make_course, solved

SETTINGS = {"timeout": 20, "secret": "the same for all"}
QUESTION = "self_attention_question"


def odd_metadata(nb) -> None:
    """What editors and other programs leave in a notebook."""
    nb.metadata.update({"colab": {"provenance": [{"ratio": float("nan")}]}, "orig_nbformat": 4, "count": 2**70})
    nb.cells[0].metadata["tags"] = ["ünïcode", "\N{SNOWMAN}\n"]


def other_cells(nb) -> None:
    """Cells of all kinds, with what they printed when the student ran them."""
    output = nbformat.v4.new_output("stream", text="one\ntwo\r\nthree")
    nb.cells += [new_raw_cell("raw"), new_markdown_cell("# Own\n\nwords"), new_code_cell("1 / 0", outputs=[output])]


def changed_points(nb) -> None:
    """Points and locks that a student has edited."""
    find(nb, "softmax").metadata["nbgrader"].update(points=400, locked=False)
    find(nb, "softmax").source += "\npass"


def old_format(nb) -> None:
    """A notebook of a format that has no ids of cells."""
    nb.nbformat_minor = 4
    for cell in nb.cells:
        del cell["id"]


EDITS = (
    answers({"softmax": "def softmax(x, dim):\n    return x * 0"}),
    answers({"softmax": "def softmax(x, dim):\n    return x.exp() / x.exp().sum(dim, keepdim=True)"}),
    answers({"attention_for_one": "raise RuntimeError('\\x1b[31mred')"}),
    answers({"crossover_length": "def crossover_length(d:\n"}),
    question("Because it has no order.\n\n$x^2$ <b>bold</b>"),
    question(""),
    copied("softmax"),
    copied(QUESTION),
    first("for i in range(1500):\n    print(i)"),
    first("open('written.txt', 'w').write('by the student')"),
    before("softmax", "import sys; print('careful', file=sys.stderr)"),
    odd_metadata,
    other_cells,
    changed_points,
    old_format,
    deleted("softmax"),
    deleted("softmax-solution", QUESTION),
)
STAMPS = (None, "2026-11-01 12:00:00 UTC", "2026-11-28 11:40 PM UTC", "2027-01-31 23:40:00+01:00")


def hand_in_messy(root: Path, number: int) -> None:
    """A submission with one to three edits, a time stamp or none, and files beside it."""
    chance = random.Random(number)
    student = f"s{number:03}" if number % 7 else f"ż {number:03}'s"
    edits = sorted(chance.sample(range(len(EDITS)), 1 + number % 3))  # what is deleted, is deleted last
    path = hand_in(root, student, solved(root), *(EDITS[index] for index in edits))
    if stamp := STAMPS[number % len(STAMPS)]:
        (path.parent / "timestamp.txt").write_text(stamp)
    for name in chance.sample(("notes.txt", "data/words.csv", "data/.hidden", "Thumbs.db"), number % 4):
        write_atomically(path.parent / name, f"of {student}".encode())


def rows(root: Path) -> dict[str, object]:
    """All that the gradebook has of each student, by the names of things and not by their random ids."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        found: dict[str, object] = {"students": sorted(student.id for student in book.students)}
        for work in book.assignment_submissions(NAME):
            (notebook,) = work.notebooks
            grades = [
                (one.cell.name, one.auto_score, one.manual_score, one.extra_credit, one.needs_manual_grade)
                for one in notebook.grades
            ]
            comments = [(one.cell.name, one.auto_comment, one.manual_comment) for one in notebook.comments]
            about = work.timestamp, work.extension, work.score, notebook.late_submission_penalty, notebook.flagged
            found[work.student_id] = about, sorted(grades), sorted(comments)
        return found


def files(root: Path) -> dict[str, tuple[int, bytes]]:
    """Everything in `autograded/`: its rights and its bytes."""
    paths = (path for path in (root / "autograded").rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): (path.stat().st_mode, path.read_bytes()) for path in paths}


def pages(root: Path) -> dict[str, bytes]:
    """The feedback for all."""
    made, failed = write_all(root, NAME)
    assert not failed
    return {student: page.read_bytes().replace(str(root).encode(), b"") for student, page in made.items()}


def grade_by_nbgrader(root: Path, monkeypatch) -> None:
    """Grade as a course with steps of its own is graded."""
    with monkeypatch.context() as patch:
        patch.setattr(saver, "can_bypass_converter", lambda config: False)
        grade_class(Classroom(course_in(root), TOPIC, SETTINGS), workers=2)


def an_evening_in_formgrader(root: Path) -> None:
    """Points and comments by hand, for some whose work stays and for some whose work changes."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        for number, work in enumerate(sorted(book.assignment_submissions(NAME), key=lambda work: work.student_id)):
            for cell, points in ((QUESTION, 1.5), ("softmax", 0.25))[: number % 3]:
                grade = book.find_grade(cell, NAME, NAME, work.student_id)
                grade.manual_score, grade.needs_manual_grade = points, False
            book.find_comment(QUESTION, NAME, NAME, work.student_id).manual_comment = "Say why." if number % 2 else None
        book.db.commit()


def change_some(root: Path) -> None:
    """Every other student hands in again: the same with a comment, or another answer, or at another time."""
    for number, path in enumerate(sorted((root / "submitted").glob(f"*/{NAME}/{NAME}.ipynb"))[::2]):
        document = json.loads(path.read_text())
        solutions = [one for one in document["cells"] if "softmax-solution" in str(one["metadata"].get("nbgrader", ""))]
        if number % 2 and solutions:
            solutions[0]["source"] = "def softmax(x, dim):\n    return x + 1"
        document["cells"].append({"cell_type": "raw", "metadata": {}, "source": "handed in again", "id": "again"})
        path.write_text(json.dumps(document))
        (path.parent / "timestamp.txt").write_text(STAMPS[3])


@pytest.mark.parametrize("size", few((100, 8), 8))
def test_the_gradebook_the_files_and_the_feedback_are_nbgraders(size, tmp_path, monkeypatch):
    mine = make_course(tmp_path / "mine")
    (mine / ".course-secret").write_text("the same for all")
    for number in range(size):
        hand_in_messy(mine, number)
    saved_by_nbgrader: list[str] = []
    save = saver.save

    def noted(classroom, student, *others):
        saved_by_nbgrader.append(student)
        return save(classroom, student, *others)

    for turn in range(2):
        with monkeypatch.context() as patch:
            patch.setattr(saver, "save", noted)
            graded = grade_class(Classroom(course_in(mine), TOPIC, SETTINGS), workers=2)
        assert not saved_by_nbgrader and [work.reason for work in graded] == [""] * size
        theirs = tmp_path / f"theirs{turn}"
        if turn == 0:
            shutil.copytree(mine, theirs, ignore=shutil.ignore_patterns("autograded", "gradebook.db"))
            make_course(theirs)
        else:
            shutil.copytree(tmp_path / "between", theirs)
            shutil.copytree(mine / ".course" / "results", theirs / ".course" / "results", dirs_exist_ok=True)
        grade_by_nbgrader(theirs, monkeypatch)
        assert rows(theirs) == rows(mine)
        assert files(theirs) == files(mine)
        if size > 8:  # made of the rows and files that are the same
            assert pages(theirs) == pages(mine)
        an_evening_in_formgrader(mine)
        change_some(mine)
        shutil.copytree(mine, tmp_path / "between", dirs_exist_ok=True)


def test_a_notebooks_file_is_nbformats():
    nb = nbformat.v4.new_notebook(cells=[new_markdown_cell("a\nb"), new_code_cell("x = 'ü'\n", outputs=[])])
    for edit in (lambda nb: None, other_cells, odd_metadata):
        edit(nb)
        written = f"{nbformat.writes(nb, version=4)}\n".encode()
        assert notebook_file(read_notebook(written)) == written


@pytest.mark.parametrize(
    "line",
    [
        "c.Autograde.autograde_preprocessors = []",
        "c.Autograde.create_student = False",
        "c.BaseConverter.post_convert_hook = print",
        "c.NbGraderPreprocessor.enabled = False",
        "c.SaveAutoGrades.enabled = False",
        "c.AssignLatePenalties.plugin_class = 'nbgrader.plugins.latesubmission.LateSubmissionPlugin'",
        "c.CourseDirectory.groupshared = True",
    ],
)
def test_a_course_with_ways_of_its_own_is_saved_by_nbgrader(line, tmp_path):
    room = Classroom(course_in(make_course(tmp_path)), TOPIC, SETTINGS)
    assert can_bypass_converter(room.config)
    exec(line, {"c": room.config})
    assert not can_bypass_converter(room.config)


def test_what_fails_in_a_group_fails_alone_and_is_logged(tmp_path, monkeypatch):
    root = make_course(tmp_path)
    for number in range(4):
        hand_in(root, f"s{number}", solved(root))
    write = saver.TopicBook.write

    def fail(self, student, *others):
        if student == "s2":
            raise KeyError("nobody thought of this")
        return write(self, student, *others)

    monkeypatch.setattr(saver.TopicBook, "write", fail)
    monkeypatch.chdir(root)
    assert cli.main(["grade", NAME, "--workers", "2", "--log", "grader.log"]) == 0
    graded = grade_class(Classroom(course_in(root), TOPIC, SETTINGS), workers=2)
    assert [work.scores.score for work in graded] == [graded[0].scores.score] * 4
    log = (root / "grader.log").read_text("utf-8")
    assert "KeyError: 'nobody thought of this'" in log and "course.grading.classroom.saver: a transaction for" in log
    for student in ("s0", "s2"):
        assert re.search(rf"grade_class: {student}: executed by {re.escape(platform.node())}:\d+ in \d", log)
    assert "saver: s2: saved by nbgrader's converter" in log
    assert not [path for path in (root / "autograded").glob("*/.*") if path.is_dir()]


@pytest.mark.parametrize("moment", ["committed", "set aside"])
def test_a_grader_that_stops_between_gradebook_and_files_saves_anew(moment, tmp_path, monkeypatch):
    root = make_course(tmp_path)
    path = hand_in(root, "ada", solved(root))
    grade_class(Classroom(course_in(root), TOPIC, SETTINGS), workers=1)
    hand_in(root, "ada", read_notebook(path.read_bytes()), answers({"softmax": "def softmax(x, dim):\n    return x"}))
    rename = Path.rename

    def stop(self, target):
        if moment == "set aside" and ".before." in str(target):
            return rename(self, target)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "rename", stop)
        grade_class(Classroom(course_in(root), TOPIC, SETTINGS), workers=1)
    (again,) = grade_class(Classroom(course_in(root), TOPIC, SETTINGS), workers=1)
    assert again.scores.cells["softmax"] == 0
    work = root / "autograded" / "ada" / NAME
    assert "return x" in (work / f"{NAME}.ipynb").read_text() and list(work.parent.iterdir()) == [work]
    assert read_files(work) == {}
