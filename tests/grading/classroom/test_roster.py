"""`course roster`: who is in the class, told to nbgrader's gradebook, and a sentence for what cannot be."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.auth.jupyterhub import JupyterhubApiError

from course import cli
from course.grading.classroom.roster import Table, read_people
from course.problem import Problem
from tests.grading.lesson import make_course

PLAIN = "id,first_name,last_name,email\nada,Ada,Lovelace,ada@x.org\nbob,Béla,Núñez,bob@x.org\n"

CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,06_self_attention (1234),Homework Current Score
,,,,,Manual Posting,
    Points Possible,,,,,22.00,(read only)
"Lovelace, Ada",101,s1,ada@uni.edu,A,,3.00
"Núñez de la Vega, José María",102,s2,JM@uni.edu,"A and B",,
"Student, Test",199,,d3f0,A,,
"""

CANVAS_SPLIT = """\
LastName,FirstName,ID,SIS User ID,SIS Login ID,Section,Quiz (1)
    Points Possible,,,,,,10
Lovelace,Ada,101,s1,ada,A,
Student,Test,199,,d3f0,A,
"""

PARTICIPANTS = """\
First name,Last name,Email address,Groups
Ada,Lovelace,ada@uni.edu,
Béla,Núñez,bob@uni.edu,Group 1
"""

WORKSHEET = """\
Identifier,Full name,Username,Email address,Status,Grade,Last modified (grade)
Participant 11,Ada Augusta Lovelace,al1,ada@uni.edu,,,-
"""

IN_GERMAN = """\
ID;Vollständiger Name;Anmeldename;ID-Nummer;E-Mail-Adresse;Bewertung
Teilnehmer/in11;Ada Lovelace;al1;;ada@uni.edu;
"""

BLACKBOARD = "Last Name\tFirst Name\tUsername\tStudent ID\nLovelace\tAda\tal1\t778\n"


def people(tmp_path: Path, text: str, id_column: str | None = None) -> dict[str, dict[str, str]]:
    (tmp_path / "list.csv").write_text(text, encoding="utf-8")
    return {one.id: one.about for one in read_people(Table.read(tmp_path / "list.csv"), id_column).people}


ADA = {"first_name": "Ada", "last_name": "Lovelace"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (PLAIN, {"ada": {**ADA, "email": "ada@x.org"}, "bob": {"first_name": "Béla", "last_name": "Núñez"}}),
        (
            CANVAS,
            {
                "ada": {**ADA, "lms_user_id": "101"},
                "JM": {"first_name": "José María", "last_name": "Núñez de la Vega", "lms_user_id": "102"},
            },
        ),
        (CANVAS_SPLIT, {"ada": {**ADA, "lms_user_id": "101"}}),
        (PARTICIPANTS, {"ada": {**ADA, "email": "ada@uni.edu"}, "bob": {"first_name": "Béla"}}),
        (WORKSHEET, {"al1": {"first_name": "Ada Augusta", "last_name": "Lovelace", "email": "ada@uni.edu"}}),
        (IN_GERMAN, {"al1": {**ADA, "email": "ada@uni.edu"}}),
        (BLACKBOARD, {"al1": ADA}),
        ("username,firstname,lastname,email\nada,Ada,Lovelace,\n", {"ada": ADA}),
        ("Name,E-Mail\n Ada\u00a0 Lovelace ,ada@uni.edu\n", {"ada": {**ADA, "email": "ada@uni.edu"}}),
        ("id\nada@uni.edu\n", {"ada@uni.edu": {}}),
        ("Login\na@one.org\na@two.org\nb@one.org\n", {"a@one.org": {}, "a@two.org": {}, "b": {}}),
    ],
)
def test_who_is_in_a_table(tmp_path, text, found):
    """Canvas's and Moodle's own numbers are no ids, and neither the points possible nor the test student a student."""
    listed = people(tmp_path, text)
    assert listed.keys() == found.keys()
    for student, about in found.items():
        assert about.items() <= listed[student].items()
    assert "" not in {value for about in listed.values() for value in about.values()}


def test_another_column_may_hold_the_ids(tmp_path):
    assert [*people(tmp_path, CANVAS, "SIS User ID")] == ["s1", "s2"]
    assert [*people(tmp_path, BLACKBOARD, "student id")] == ["778"]


@pytest.mark.parametrize(
    ("text", "id_column", "says"),
    [
        ("id,name\n", None, "list.csv has no student below its first line. Check that it is the right file"),
        (
            "Points,Section\n3,A\n",
            None,
            "has no known column with ids. Choose one with --id from its first line, which has Points",
        ),
        ("Student,ID,Section\nAda,1,A\n", None, "has no known column with ids. Choose one with --id"),
        ("id,name\nada,A\n", "Login", "list.csv has no column Login. Its columns are id, name"),
        (
            "id,name\nada,A\n\n,B\n",
            None,
            "list.csv, line 4 has no id, because its id is empty. Fill it in, or choose",
        ),
        ("id\na/b\n", None, "line 2 has a/b for an id, which cannot name a student's folder. Correct it, or choose"),
        ("id\n../x\n", None, "cannot name a student's folder"),
        ("id\n.ada\n", None, "cannot name a student's folder"),
        ("id\na*\n", None, "has a* for an id, which cannot name a student's folder"),
        (
            "id,name\nkim,Kim A\nada,A\nKim,Kim B\n",
            None,
            "list.csv has Kim twice with different entries, in lines 2 and 4. Delete one of them",
        ),
    ],
)
def test_a_table_that_does_not_say_who_is_in_the_class(tmp_path, text, id_column, says):
    with pytest.raises(Problem) as told:
        people(tmp_path, text, id_column)
    assert says in str(told.value)


def test_a_student_in_two_groups_is_one(tmp_path):
    assert [*people(tmp_path, "id,group\nada,1\nada,2\n")] == ["ada"]


def test_the_command_updates_the_gradebook(tmp_path, monkeypatch, capsys):
    """A student who handed in by other capitals or a whole address is the same one. An empty cell changes nothing."""
    root = make_course(tmp_path / "course")
    monkeypatch.chdir(root)
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        book.add_student("Ada", email="old@x.org", last_name="Lovelace")
        book.add_student("jm@uni.edu")
        book.add_student("root")
    (root / "list.csv").write_bytes(CANVAS.replace("ada@uni.edu", "ada").encode("cp1252"))
    (root / "emails.csv").write_text("id;email;last_name\nADA;ada@uni.edu;\nJM@uni.edu;\nnew;n@x.org;N\n", "utf-16")
    assert cli.main(["roster", "list.csv"]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        "list.csv: 0 added, 2 updated, 0 unchanged. Students hand in by the ids in its column SIS Login ID, without "
        "the @ and what follows",
        "  updated: Ada, first_name Ada, lms_user_id 101",
        "  updated: jm@uni.edu, first_name José María, last_name Núñez de la Vega, lms_user_id 102",
    ]
    assert said.err.splitlines() == [
        "course roster: list.csv is not in UTF-8 and was read as Windows-1252. Check that this looks right: "
        "Núñez de la Vega, José María",
        "course roster: Canvas's test student is left out",
        "course roster: these are in the gradebook but not in list.csv, and stay unchanged: root",
    ]
    assert cli.main(["roster", "emails.csv"]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        "emails.csv: 1 added, 1 updated, 1 unchanged. Students hand in by the ids in its column id",
        "  added: new",
        "  updated: Ada, email ada@uni.edu (was old@x.org)",
    ]
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        known = {one.id: (one.first_name, one.last_name, one.email, one.lms_user_id) for one in book.students}
    assert known == {
        "Ada": ("Ada", "Lovelace", "ada@uni.edu", "101"),
        "jm@uni.edu": ("José María", "Núñez de la Vega", None, "102"),
        "new": (None, "N", "n@x.org", None),
        "root": (None, None, None, None),
    }


def test_a_list_that_fails_halfway_changes_nothing(tmp_path, monkeypatch, capsys):
    """nbgrader's authenticator may refuse somebody, whose hub has its own errors."""
    root = make_course(tmp_path / "course")
    monkeypatch.chdir(root)
    (root / "list.csv").write_text(PLAIN, encoding="utf-8")
    asked: list[str] = []

    def refuse_bob(self: object, student_id: str, course_id: str) -> None:
        asked.append(f"{student_id} {course_id}")
        if student_id == "bob":
            raise JupyterhubApiError("no group")

    monkeypatch.setattr("nbgrader.auth.base.NoAuthPlugin.add_student_to_course", refuse_bob)
    assert cli.main(["roster", "list.csv"]) == 2
    told = "nbgrader's authenticator did not let bob into the course: no group"
    assert capsys.readouterr().err == f"course roster: {told}\n"
    assert asked == ["ada default_course", "bob default_course"]
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        assert book.students == []


def test_it_writes_what_nbgraders_own_import_writes(tmp_path):
    """The plain table in UTF-8, which nbgrader reads as well."""
    known = []
    for program in (["course", "roster"], ["nbgrader", "db", "student", "import"]):
        root = make_course(tmp_path / program[0])
        (root / "list.csv").write_text(PLAIN, encoding="utf-8")
        subprocess.run([sys.executable, "-m", *program, "list.csv"], cwd=root, check=True, capture_output=True)
        with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
            known.append([one.to_dict() for one in book.students])
    assert known[0] == known[1] and len(known[0]) == 2


def ids(root: Path) -> list[str]:
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        return sorted(one.id for one in book.students)


KEEP = "They keep those of the gradebook, so have them hand in by these"
OTHER_CANVAS = CANVAS.replace("ada@uni.edu", "al1").replace("JM@uni.edu", "jm2")


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        (PARTICIPANTS, WORKSHEET, "al1 (in the gradebook ada)"),
        (WORKSHEET, PARTICIPANTS, "ada (in the gradebook al1)"),
        (PARTICIPANTS, WORKSHEET.replace("ada@uni.edu", "ADA@Uni.edu"), "al1 (in the gradebook ada)"),
        (CANVAS, OTHER_CANVAS, "al1 (in the gradebook ada), jm2 (in the gradebook JM)"),
        ("id,name\n00123,Ada L\nb7,B M\n", "id,name\n123,Ada L\nB7,B M\n", "123 (in the gradebook 00123)"),
        ("id,name\n123,Ada L\n", "id,name\n00123,Ada L\n", "00123 (in the gradebook 123)"),
    ],
)
def test_the_class_is_not_added_twice(tmp_path, monkeypatch, capsys, first, second, told):
    """By another column, or after a spreadsheet program dropped zeros: the first list's ids stay, and it is told."""
    root = make_course(tmp_path / "course")
    monkeypatch.chdir(root)
    (root / "first.csv").write_text(first, encoding="utf-8")
    (root / "second.csv").write_text(second, encoding="utf-8")
    assert cli.main(["roster", "first.csv"]) == 0
    known = ids(root)
    capsys.readouterr()
    for _ in range(2):
        assert cli.main(["roster", "second.csv"]) == 0
        said = capsys.readouterr()
        assert set(ids(root)) - set(known) <= {"bob"} and set(known) <= set(ids(root))
        assert f"has other ids for students whom the gradebook knows already: {told}. {KEEP}\n" in said.err
        assert f", but for {told.count('(')} who keep those of the gradebook\n" in said.out


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ("id,email\nada,home@x.org\n", "id,email\nada,home@x.org\nbob,home@x.org\n", ["ada", "bob"]),
        ("id,email\nada,home@x.org\n", "id,email\nbo,home@x.org\ncy,home@x.org\n", ["ada", "bo", "cy"]),
        ("id,email\nada,home@x.org\nbo,home@x.org\n", "id,email\ncy,home@x.org\n", ["ada", "bo", "cy"]),
        ("id\n123\n0123\n", "id\n00123\n", ["00123", "0123", "123"]),
        ("id\n0123\n", "id\n123\n00123\n0123\n", ["00123", "0123", "123"]),
        ("id,email\n7,ada@x.org\n", "id,email\n07,bob@x.org\nada,ada@x.org\n", ["07", "7"]),
    ],
    ids=["siblings", "two new", "two known", "two known ids", "its own id", "an email before zeros"],
)
def test_two_students_stay_two(tmp_path, monkeypatch, first, second, found):
    """Where an email or a number is not one student's alone, or a surer sign says who somebody is."""
    root = make_course(tmp_path / "course")
    monkeypatch.chdir(root)
    for text in (first, second):
        (root / "list.csv").write_text(text, encoding="utf-8")
        assert cli.main(["roster", "list.csv"]) == 0
    assert ids(root) == found
