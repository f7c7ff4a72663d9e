"""Grades for nbgrader's CSV, Canvas and Moodle: what goes in, whose it is, and one sentence for what cannot be."""

from __future__ import annotations

import csv
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from course import cli
from course.grading.export.canvas import write_canvas
from course.grading.export.grades import Grade, Grades, Pupil, read_grades
from course.grading.export.moodle import write_moodle
from course.grading.problem import Problem
from course.syllabus import find_topic
from tests.grading.lesson import NAME, TOPIC, make_course

RNN = find_topic("rnn")
CLASS = Grades(
    (TOPIC, RNN),
    {NAME: 22.0, RNN.folder: 20.0},
    (
        Pupil("ada", "Ada", "Lovelace, Countess", "ada@analytical.org", {NAME: Grade(21.5), RNN.folder: Grade(20.0)}),
        Pupil("b42", "Béa", 'O"Hara', "bea@example.org", {NAME: Grade(1 / 3, waiting=1)}),
        Pupil("cy", "", "", "", {}),
        Pupil("dan", "Dan", "Twin", "dan@example.org", {NAME: Grade(5.0)}),
        Pupil("eve", "Dan", "Twin", "eve@example.org", {NAME: Grade(6.0)}),
    ),
)


def rows(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_canvas(tmp_path):
    notes = write_canvas(CLASS, tmp_path / "canvas.csv")
    assert rows(tmp_path / "canvas.csv") == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", NAME, RNN.folder],
        ["    Points Possible", "", "", "", "", "22", "20"],
        ["Lovelace, Countess, Ada", "", "", "ada", "", "21.5", "20"],
        ['O"Hara, Béa', "", "", "b42", "", "0.333333", ""],
        ["cy", "", "", "cy", "", "", ""],
        ["Twin, Dan", "", "", "dan", "", "5", ""],
        ["Twin, Dan", "", "", "eve", "", "6", ""],
    ]
    assert notes == [f"{NAME}: 1 submission with answers to be graded by hand, counted as nothing"]


FROM_CANVAS = f"""\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,Quiz,{NAME} (1234),Recurrent networks (99),Final
    Points Possible,,,,,10,22,20,(read only)
"Countess, Ada",101,b7,ADA@analytical.org,A,3,,,12
"O""Hara, Béa",102,B42,,A,4,,,13
"Twin, Dan",103,b9,x@example.org,B,5,,,14
"Student, Test",,,,A,,,,
"""


def test_canvas_filled_in(tmp_path):
    """By login or by number, never by a name two share; only our own columns, under Canvas's titles."""
    notes = write_canvas(CLASS, tmp_path / "canvas.csv", written(tmp_path / "from.csv", FROM_CANVAS))
    assert rows(tmp_path / "canvas.csv") == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", f"{NAME} (1234)", "Recurrent networks (99)"],
        ["    Points Possible", "", "", "", "", "22", "20"],
        ["Countess, Ada", "101", "b7", "ADA@analytical.org", "A", "21.5", "20"],
        ['O"Hara, Béa', "102", "B42", "", "A", "0.333333", ""],
        ["Twin, Dan", "103", "b9", "x@example.org", "B", "", ""],
    ]
    assert notes[1] == "not in from.csv, and so left out: dan, eve"


def test_moodle_table(tmp_path):
    write_moodle(CLASS, tmp_path / "moodle.csv")
    head, ada, *_ = rows(tmp_path / "moodle.csv")
    assert head == ["Username", "Email address", "First name", "Last name", NAME, RNN.folder]
    assert ada == ["ada", "ada@analytical.org", "Ada", "Lovelace, Countess", "21.5", "20"]


COLUMNS = "Identifier,Full name,Email address,Status,Grade,Maximum grade,Grade can be changed"
WORKSHEET = f"""{COLUMNS},Last modified (submission),Last modified (grade),Feedback comments
Participant 11,Ada Lovelace,ada@analytical.org,Submitted,,"11,00",Yes,-,-,"well, done"
Participant 12,Béa O"Hara,,Submitted,3,"11,00",Yes,-,-,
Participant 13,Gus Unknown,gus@example.org,No submission,1,"11,00",Yes,-,-,
"""


def test_moodle_worksheet(tmp_path):
    one = Grades((TOPIC,), CLASS.points, CLASS.pupils)
    notes = write_moodle(one, tmp_path / "moodle.csv", written(tmp_path / "worksheet.csv", WORKSHEET))
    head, ada, bea, gus = rows(tmp_path / "moodle.csv")
    assert head == WORKSHEET.partition("\n")[0].split(",")
    assert (ada[0], ada[4], ada[9]) == ("Participant 11", "10.75", "well, done")
    assert (bea[0], bea[4]) == ("Participant 12", "0.166667")
    assert (gus[0], gus[4]) == ("Participant 13", "1"), "whom we do not know keeps what they have"
    assert "scaled from 22 points to Moodle's 11" in notes
    assert "not in worksheet.csv, and so left out: dan, eve" in notes


@pytest.mark.parametrize(
    ("write", "text", "says"),
    [
        (write_canvas, "Name,Points\nada,3\n", "has no column Student and no column ID and no column Section"),
        (
            write_canvas,
            "Student,ID,Section,Quiz (7)\n",
            f"has no column for {NAME}: name the assignment in Canvas {NAME}",
        ),
        (write_canvas, "", "has no column Student"),
        (write_moodle, "Identifier,Full name,Grade\n", "has no column Last modified (grade)"),
    ],
)
def test_a_file_that_is_another_one(write, text, says, tmp_path):
    one = Grades((TOPIC,), CLASS.points, CLASS.pupils)
    with pytest.raises(Problem) as told:
        write(one, tmp_path / "out.csv", written(tmp_path / "in.csv", text))
    assert says in str(told.value) and "in.csv" in str(told.value)
    assert not (tmp_path / "out.csv").exists()


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(Problem, match="cannot be read: No such file"):
        write_canvas(CLASS, tmp_path / "out.csv", tmp_path / "none.csv")
    (tmp_path / "picture.csv").write_bytes(b"\xff\xd8\xff\xe0")
    with pytest.raises(Problem, match="is not a CSV file in UTF-8"):
        write_canvas(CLASS, tmp_path / "out.csv", tmp_path / "picture.csv")
    with pytest.raises(Problem, match="holds one assignment"):
        write_moodle(CLASS, tmp_path / "out.csv", written(tmp_path / "worksheet.csv", WORKSHEET))


def test_grades_are_those_of_the_gradebook(graded_class, tmp_path):
    """Points given by hand count, extra credit too, and the late penalty is taken off."""
    from nbgrader.api import Gradebook

    root = shutil.copytree(graded_class, tmp_path / "course")
    url = f"sqlite:///{root / 'gradebook.db'}"
    with Gradebook(url) as gradebook:
        grade = gradebook.find_grade("self_attention_question", NAME, NAME, "ada")
        grade.manual_score, grade.extra_credit, grade.needs_manual_grade = 1.5, 0.5, False
        gradebook.find_submission_notebook(NAME, NAME, "ada").late_submission_penalty = 1.0
        gradebook.add_student("gus")
        gradebook.db.commit()
    pupils = {pupil.id: pupil.grades for pupil in read_grades(url, [TOPIC]).pupils}
    assert pupils["ada"] == {NAME: Grade(7.0 + 1.5 + 0.5 - 1.0)}
    assert pupils["bea"][NAME].waiting == 1
    assert pupils["gus"] == pupils.get("fay", {}) == {}


def test_the_commands(graded_class, tmp_path, monkeypatch, capsys):
    root = shutil.copytree(graded_class, tmp_path / "course")
    monkeypatch.chdir(root)
    for platform in ("csv", "canvas", "moodle"):
        assert cli.main(["export", platform, "6"]) == 0
        said = capsys.readouterr()
        path = Path(said.out.strip())
        assert path == root / "exports" / f"{platform}.csv"
        assert "5 submissions with answers to be graded by hand" in said.err
        assert [row for row in rows(path) if {"ada", "7" if platform != "csv" else "7.0"} <= set(row)]
    own = tmp_path / "own.csv"
    command = [sys.executable, "-m", "nbgrader", "export", "--to", str(own)]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    assert own.read_text() == (root / "exports/csv.csv").read_text()


def test_bad_input_gets_one_sentence(graded_class, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(make_course(tmp_path / "course"))
    for argv, says in (
        (["csv", "nope"], "no topic is called 'nope'"),
        (["canvas", "6"], f"nothing of {NAME} is graded yet: run `course grade {NAME}` first"),
        (["moodle", "3"], "nothing of 03_rnn is graded yet"),
        (["gradescope", "3"], "03_rnn.py to make an autograder of"),
    ):
        assert cli.main(["export", *argv]) == 2
        told = capsys.readouterr()
        assert says in told.err and told.err.count("\n") == 1 and told.out == ""
    shutil.copy(graded_class / "gradebook.db", "gradebook.db")
    assert cli.main(["export", "csv", "6", "--into", "x.csv"]) == 2
    assert "leave --into out" in capsys.readouterr().err
    assert cli.main(["export", "canvas", "6", "--to", "/proc/none/x.csv"]) == 2
    assert "cannot be written" in capsys.readouterr().err
