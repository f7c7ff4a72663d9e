"""Grades for nbgrader's CSV, Canvas and Moodle: what goes in, whose it is, and one sentence for what cannot be."""

from __future__ import annotations

import csv
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from course import cli
from course.grading.export.canvas import write_canvas
from course.grading.export.moodle import most_points, write_moodle
from course.grading.gradebook.grades import Grade, Grades, StudentGrades, read_grades
from course.grading.nbgrader_bridge.quoted_csv import QuotedCsv
from course.problem import Problem
from tests.commands import output_of
from tests.grading.lesson import NAME, TOPIC, make_course
from tests.original import find_topic

RNN = find_topic("rnn")
CLASS = Grades(
    (TOPIC, RNN),
    {NAME: 22.0, RNN.folder: 20.0},
    (
        StudentGrades(
            "ada", "Ada", "Lovelace, Countess", "ada@analytical.org", {NAME: Grade(21.5), RNN.folder: Grade(20.0)}
        ),
        StudentGrades("b42", "Béa", 'O"Hara', "bea@example.org", {NAME: Grade(1 / 3, waiting=1)}),
        StudentGrades("cy", "", "", "", {}),
        StudentGrades("dan", "Dan", "Twin", "dan@example.org", {NAME: Grade(5.0)}),
        StudentGrades("eve", "Dan", "Twin", "eve@example.org", {NAME: Grade(6.0)}),
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
        ["Twin, Dan", "", "", "dan", "", "5", ""],
        ["Twin, Dan", "", "", "eve", "", "6", ""],
    ]
    assert notes == [
        f"{NAME}: 1 submission (b42) with answers that you have not graded yet, which count as 0 points",
        f"{RNN.folder}: b42, dan, eve have no grade, and importing an empty cell deletes the grade that Canvas has. "
        "To keep it, export one topic at a time",
    ]


def test_canvas_is_told_who_is_excused(tmp_path):
    """Also of somebody who handed in nothing, and in place of a grade."""
    excusing = replace(CLASS, excused={NAME: {"cy", "dan"}, RNN.folder: {"dan"}})
    told = write_canvas(excusing, tmp_path / "canvas.csv")
    assert any(f"{RNN.folder}: b42, eve have no grade" in line for line in told), "an excuse is no empty cell"
    assert [row[3:6] for row in rows(tmp_path / "canvas.csv")[4:6]] == [["cy", "", "EX"], ["dan", "", "EX"]]
    lines = "".join(f"Somebody,{id},{id},A,1\n" for id in ("ada", "cy", "dan"))
    text = f"Student,ID,SIS Login ID,Section,{NAME} (7)\n    Points Possible,,,,20\n{lines}"
    one_topic = one(graded("ada", 21.5), StudentGrades("cy"), graded("dan", 5.0))
    write_canvas(
        replace(one_topic, excused=excusing.excused), tmp_path / "canvas.csv", written(tmp_path / "in.csv", text)
    )
    assert [row[-1] for row in rows(tmp_path / "canvas.csv")[2:]] == ["21.5", "EX", "EX"]


def test_moodle_table(tmp_path):
    write_moodle(CLASS, tmp_path / "moodle.csv")
    head, ada, *_ = rows(tmp_path / "moodle.csv")
    assert head == ["Username", "Email address", "First name", "Last name", NAME, RNN.folder]
    assert ada == ["ada", "ada@analytical.org", "Ada", "Lovelace, Countess", "21.5", "20"]
    assert "cy" not in {row[0] for row in rows(tmp_path / "moodle.csv")}, "an empty cell would remove their grade there"


def test_canvas_is_given_its_own_numbers_of_students(tmp_path):
    """Two of one name and with logins that Canvas does not know would get one grade, the last, and one none."""
    twins = (("dan", "104", 5.0), ("eve", "105", 6.0), ("fay", "abc", 7.0))
    pupils = [StudentGrades(name, "Dan", "Twin", "", {NAME: Grade(score)}, number) for name, number, score in twins]
    write_canvas(one(*pupils), tmp_path / "canvas.csv")
    assert [row[1:4] for row in rows(tmp_path / "canvas.csv")[2:]] == [
        ["104", "", "dan"],
        ["105", "", "eve"],
        ["", "", "fay"],
    ]


def test_a_moodle_table_has_no_empty_cell_and_no_capital_in_a_username(tmp_path):
    """A new column of Moodle's takes an empty cell for 0 points, and one unknown username ends its import."""
    fay = StudentGrades("F.Moore", "Fay", "Moore", "F.Moore@example.org", {RNN.folder: Grade(2.0)})
    notes = write_moodle(Grades(CLASS.topics, CLASS.points, (fay,)), tmp_path / "moodle.csv")
    assert rows(tmp_path / "moodle.csv")[1] == ["f.moore", "F.Moore@example.org", "Fay", "Moore", "-", "2"]
    assert notes == [
        f"{NAME}: F.Moore has no grade, and importing a - deletes the grade that Moodle has. To keep it, export one "
        "topic at a time"
    ]


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
    assert "left out, because worksheet.csv does not have them: dan, eve" in notes


COMMENTED = (
    "Identifier,Full name,Email address,Grade,Maximum grade,Grade can be changed,Last modified (grade),"
    "Group,Group,Feedback comments\r\n"
    'Participant 11,Ada Lovelace,ada@x.org,,22.00,Yes,-,A,B,"good,\r\nand more\nlines"\r\n'
    "Participant 12,Bea Boole,bea@x.org,4.00,22.00,No,-,A,,\r\n"
    "Participant 13,Cy Twombly,cy@x.org,3.00,22.00,Yes,-,,\r\n"
    "\r\n"
    "Participant 14,Dan Twin,dan@x.org,-,22.00,Yes,-,C,D,,\r\n"
)


def test_moodle_keeps_all_else_of_a_worksheet(tmp_path):
    """Two columns of one name, the ends of lines in a comment, too few cells or too many, a grade that is a dash.

    Moodle takes a comment that differs in one byte for a new one, and writes to the student.
    """
    class_ = one(graded("ada", 22.5), graded("bea", 9.0), points=22.0)
    (tmp_path / "in.csv").write_bytes(COMMENTED.encode())
    notes = write_moodle(class_, tmp_path / "moodle.csv", tmp_path / "in.csv")
    expected = list(csv.reader(COMMENTED.splitlines(keepends=True)))
    expected[1][3], expected[2][3] = "22.5", "9"
    expected[3].append("")
    assert rows(tmp_path / "moodle.csv") == [line for line in expected if line]
    assert notes == [
        "Moodle skips grades above its maximum: ada. Raise the maximum grade in Moodle",
        "Moodle skips grades that are locked or overridden in its gradebook: bea",
    ]


IN_GERMAN = """\
ID,"Vollständiger Name",E-Mail-Adresse,Status,Bewertung,Bestwertung,"Zuletzt geändert (Bewertung)","Kommentar"
Teilnehmer/in11,"Ada Lovelace",ada@analytical.org,"Zur Bewertung abgegeben",,"11,00",-,"gut, sehr gut"
Teilnehmer/in12,"Gus Unknown",gus@example.org,,"1,50","11,00",-,
"""


@pytest.mark.parametrize(
    ("delimiter", "encoding"), [(",", "utf-8-sig"), (";", "cp1252"), ("\t", "utf-16"), (";", "utf-16-le")]
)
def test_a_worksheet_in_german_comes_back_as_it_was(tmp_path, delimiter, encoding):
    """As Moodle writes it, and as Excel saves it: names, delimiter and decimal comma are the worksheet's own."""
    table = list(csv.reader(IN_GERMAN.splitlines()))
    with (tmp_path / "blatt.csv").open("w", newline="", encoding=encoding) as file:
        csv.writer(file, delimiter=delimiter).writerows(table)
    notes = write_moodle(one(*CLASS.pupils, points=22.0), tmp_path / "moodle.csv", tmp_path / "blatt.csv")
    with (tmp_path / "moodle.csv").open(newline="", encoding="utf-8") as file:
        filled = list(csv.reader(file, delimiter=delimiter))
    table[1][4] = "10,75"
    assert filled == table
    assert "scaled from 22 points to Moodle's 11" in notes


def one(*pupils: StudentGrades, points: float = 20.0) -> Grades:
    return Grades((TOPIC,), {NAME: points}, pupils)


def graded(name: str, score: float, first: str = "", last: str = "", email: str = "") -> StudentGrades:
    return StudentGrades(name, first, last, email, {NAME: Grade(score)})


def from_moodle(tmp_path: Path, grades: Grades, *lines: str) -> tuple[list[str], list[str]]:
    """The grades in a worksheet of these lines, and the notes."""
    columns = "Identifier,Full name,Username,Email address,Grade,Maximum grade,Last modified (grade)"
    text = "".join(f"Participant {n},{line},,20,-\n" for n, line in enumerate(lines, 1))
    notes = write_moodle(grades, tmp_path / "moodle.csv", written(tmp_path / "in.csv", f"{columns}\n{text}"))
    return [row[4] for row in rows(tmp_path / "moodle.csv")[1:]], notes


def from_canvas(tmp_path: Path, grades: Grades, *lines: str) -> tuple[list[str], list[str]]:
    """The grades in a gradebook of these lines, each a name, Canvas's number and a login; and the notes."""
    text = "".join(f"{line},A,\n" for line in lines)
    into = written(tmp_path / "in.csv", f"Student,ID,SIS Login ID,Section,{NAME} (1)\n{text}")
    notes = write_canvas(grades, tmp_path / "canvas.csv", into)
    return [row[4] for row in rows(tmp_path / "canvas.csv")[2:]], notes


def test_a_grade_goes_to_one_row_of_a_worksheet(tmp_path):
    """Whoever shares the part before @, or a name, with somebody known by the id gets nothing of theirs."""
    class_ = one(graded("ada", 20.0, "Ada", "Lovelace"), graded("john1", 7.0, "John", "Smith"))
    lines = [
        "Ada Byron,byron2,ada@gmail.com",
        "Ada Lovelace,ada,ada.lovelace@uni.edu",
        "John Smith,john2,js@gmail.com",
        "John Smith,john1,john.smith@uni.edu",
    ]
    for order in (1, -1):
        assert from_moodle(tmp_path, class_, *lines[::order]) == (["", "20", "", "7"][::order], [])


def test_a_grade_goes_to_one_row_of_canvas(tmp_path):
    class_ = one(graded("ada", 20.0), graded("js", 7.0, "John", "Smith"), graded("cy", 3.0, "Cy", "Twombly"))
    lines = [
        '"Lovelace, Ada",101,ada@uni.edu',
        '"Byron, Ada",102,ada@guest.org',
        '"Smith, John",103,john1@uni.edu',
        '"Smith, John",104,john2@uni.edu',
        '"Twombly, Cy",105,twombly@uni.edu',
    ]
    scores, notes = from_canvas(tmp_path, class_, *lines)
    assert scores == ["", "", "", "", "3"]
    assert notes == [
        "left out, because in.csv does not have them: js",
        "left out, because several rows of in.csv could be theirs: ada",
    ]


def test_canvas_has_numbers_of_its_own(tmp_path):
    """They may be somebody else's here, whose login says so, whole or before its @."""
    class_ = one(graded("101", 5.0), graded("102", 6.0), graded("107", 7.0))
    lines = ['"A, A",101,x1@uni.edu', '"B, B",102,101', '"C, C",103,102@uni.edu', '"D, D",107,x2']
    assert from_canvas(tmp_path, class_, *lines) == (["", "5", "6", "7"], [])


def test_an_id_of_two_rows_is_nobodys(tmp_path):
    """Nothing weaker chooses between them: neither the address of the one nor the name of the other."""
    class_ = one(graded("ada", 20.0, "Ada", "Lovelace"), graded("bea", 9.0, "Bea", "Boole", "boole@uni.edu"))
    lines = ["Ada Lovelace,ada,", "Ada Byron,ada,ada@gmail.com", "Bea Boole,bea,", "Bea Bright,b2,boole@uni.edu"]
    scores, notes = from_moodle(tmp_path, class_, *lines)
    assert scores == ["", "", "", ""]
    assert notes == ["left out, because several rows of in.csv could be theirs: ada, bea"]


def test_an_email_all_share_does_no_harm(tmp_path):
    class_ = one(graded("ada", 20.0, email="office@uni.edu"), graded("bea", 9.0, email="office@uni.edu"))
    lines = ["A,ada,office@uni.edu", "B,bea,office@uni.edu", "C,cy,office@uni.edu"]
    assert from_moodle(tmp_path, class_, *lines) == (["20", "9", ""], [])


def test_an_address_or_a_name_tells_where_nobody_shares_it(tmp_path):
    class_ = one(graded("ada", 20.0, "Augusta", "King"), graded("b42", 9.0, "Bea", "Boole"))
    lines = ["Ada Lovelace,u1,ADA@uni.edu", "Bea  Boole,u2,boole@uni.edu", "Cy Twombly,u3,cy@uni.edu"]
    assert from_moodle(tmp_path, class_, *lines) == (["20", "9", ""], [])
    lines = ['"Lovelace, Ada",1,ADA@uni.edu', '"Boole, Bea",2,boole@uni.edu']
    assert from_canvas(tmp_path, class_, *lines) == (["20", "9"], [])


def test_a_name_shared_in_the_gradebook_tells_nothing(tmp_path):
    """Not even when the one of that name is known by the id: the other row may be somebody else's."""
    class_ = one(graded("john1", 7.0, "John", "Smith"), graded("js", 8.0, "John", "Smith"))
    scores, notes = from_moodle(tmp_path, class_, "John Smith,john1,", "John Smith,john2,")
    assert (scores, notes) == (["7", ""], ["left out, because in.csv does not have them: js"])


def test_a_topic_of_no_points(tmp_path):
    assert from_moodle(tmp_path, one(graded("ada", 0.0), points=0.0), "Ada,ada,") == (["0"], [])


def test_a_name_is_no_formula(tmp_path):
    class_ = one(graded("ada", 1.0, "@Ada", "=1+1"))
    write_canvas(class_, tmp_path / "canvas.csv")
    assert rows(tmp_path / "canvas.csv")[2] == ["'=1+1, @Ada", "", "", "ada", "", "1"]
    write_moodle(class_, tmp_path / "moodle.csv")
    assert rows(tmp_path / "moodle.csv")[1] == ["ada", "", "'@Ada", "'=1+1", "1"]


@pytest.mark.parametrize(
    ("write", "text", "says"),
    [
        (write_canvas, "Name,Points\nada,3\n", "has no column Student and no column ID and no column Section"),
        (
            write_canvas,
            "Student,ID,Section,Quiz (7)\n",
            f"has no column for {NAME}. Name the assignment in Canvas {NAME}",
        ),
        (write_canvas, f"Student,ID,Section,{NAME}\nNo One,1,\n", "has no row of a student"),
        (write_canvas, "", "is empty. Export it again"),
        (write_moodle, "Identifier,Full name,Grade\n", "has no column Last modified (grade)"),
        (write_moodle, f"{COLUMNS},Last modified (grade)\n7,No One\n", "has no row of a student"),
        (write_moodle, "Identifiant,Note\n", "no grading worksheet in English or German"),
        (write_moodle, f"{COLUMNS.replace('Maximum grade', 'Scale')},Last modified (grade)\n", "a scale of words"),
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
    with pytest.raises(Problem, match="is a picture, not a CSV file"):
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
    assert pupils["ada"] == {NAME: Grade(7.0 + 1.5 + 0.5 - 1.0, late=1.0)}
    assert pupils["bea"][NAME].waiting == 1
    assert pupils["gus"] == pupils["fay"] == {}, "fay handed in what cannot be read"


def test_what_the_machine_has_not_judged_is_no_grade_yet(graded_class, tmp_path):
    """However many points somebody has by hand."""
    from nbgrader.api import Gradebook

    root = shutil.copytree(graded_class, tmp_path / "course")
    url = f"sqlite:///{root / 'gradebook.db'}"
    with Gradebook(url) as gradebook:
        gradebook.find_grade("self_attention_question", NAME, NAME, "ada").manual_score = 1.5
        grade = gradebook.find_grade("softmax", NAME, NAME, "ada")
        grade.auto_score, grade.needs_manual_grade = None, True
        gradebook.db.commit()
    pupils = {pupil.id: pupil.grades for pupil in read_grades(url, [TOPIC]).pupils}
    assert pupils["ada"] == {} and pupils["bea"]


def test_the_commands(graded_class, tmp_path, monkeypatch, capsys):
    root = shutil.copytree(graded_class, tmp_path / "course")
    monkeypatch.chdir(root)
    for platform in ("csv", "canvas", "moodle"):
        assert cli.main(["export", platform, "6"]) == 0
        said = capsys.readouterr()
        path = Path(said.out.strip())
        assert path == root / "exports" / f"{platform}.csv"
        assert WAITING in said.err
        assert [row for row in rows(path) if {"ada", "7" if platform != "csv" else "7.0"} <= set(row)]
    own = tmp_path / "own.csv"
    output_of(root, "nbgrader", "export", "--to", str(own))
    assert own.read_text() == (root / "exports/csv.csv").read_text()


WAITING = "5 submissions (ada, bea, cy, dan, eve) with answers that you have not graded yet"
GRADEBOOK = f"""\
Student,ID,SIS Login ID,Section,Self-attention (1),{NAME} (2),Current Score
    Points Possible,,,,22.00,44.00,(read only)
"Lovelace, Ada",101,ada@uni.edu,A,3.00,,12.00
"Boole, Bea",102,bea,A,4.00,EX,13.00
"Unknown, Gus",103,gus,A,5.00,6.00,14.00
"""


def test_the_commands_that_fill_in_what_a_platform_gave(graded_class, tmp_path, monkeypatch, capsys):
    """And the sentences that an instructor reads, with nothing written where something is not to be told."""
    root = shutil.copytree(graded_class, tmp_path / "course")
    monkeypatch.chdir(root)
    into = written(tmp_path / "gradebook.csv", GRADEBOOK)
    most = read_grades(f"sqlite:///{root / 'gradebook.db'}", [TOPIC]).points[NAME]
    assert cli.main(["export", "canvas", "6", "--into", str(into)]) == 0
    assert [row[-1] for row in rows(Path("exports/canvas.csv"))] == [
        f"{NAME} (2)",
        "44.00",
        f"{7 * 44 / most:.6g}",
        "EX",
        "6.00",
    ]
    assert capsys.readouterr().err.splitlines() == [
        f"course export: {NAME}: {WAITING}, which count as 0 points",
        "course export: left out, because gradebook.csv does not have them: cy, dan, eve",
        f"course export: {NAME}: scaled from {most:g} points to Canvas's 44",
        f"course export: {NAME}: EX in Canvas stays for bea",
    ]
    Path("exports/canvas.csv").unlink()
    written(into, GRADEBOOK.replace("Self-attention (1)", f"{NAME} (1)"))
    assert cli.main(["export", "canvas", "6", "--into", str(into)]) == 2
    assert f"has several columns for {NAME}: {NAME} (1), {NAME} (2). Keep the one" in capsys.readouterr().err
    assert not Path("exports/canvas.csv").exists()
    worksheet = WORKSHEET.replace("11,00", "44.00")
    assert cli.main(["export", "moodle", "6", "--into", str(written(tmp_path / "worksheet.csv", worksheet))]) == 0
    ada = rows(Path("exports/moodle.csv"))[1]
    assert (ada[0], ada[4], ada[9]) == ("Participant 11", f"{7 * 44 / most:.6g}", "well, done")
    assert f"course export: scaled from {most:g} points to Moodle's 44" in capsys.readouterr().err


def test_bad_input_gets_one_sentence(graded_class, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(make_course(tmp_path / "course"))
    for argv, says in (
        (["csv", "nope"], "no topic is called 'nope'"),
        (["canvas", "6"], f"nothing of {NAME} is graded yet. Run `course grade {NAME}` first"),
        (["moodle", "3"], "nothing of 03_rnn is graded yet"),
        (["gradescope", "3"], "03_rnn.py, which an autograder is made from"),
    ):
        assert cli.main(["export", *argv]) == 2
        told = capsys.readouterr()
        assert says in told.err and told.err.count("\n") == 1 and told.out == ""
    shutil.copy(graded_class / "gradebook.db", "gradebook.db")
    assert cli.main(["export", "csv", "6", "--into", "x.csv"]) == 2
    assert "Leave --into out" in capsys.readouterr().err
    for argv, says in (
        (["gradescope", "6", "--into", "x.csv"], "only canvas and moodle have files to fill in. Leave --into out"),
        (["moodle", "6", "--visibility", "hidden"], "only Gradescope knows --visibility. Leave it out"),
        (["csv", "6", "--without-sandbox"], "only Gradescope knows --without-sandbox. Leave it out"),
    ):
        assert cli.main(["export", *argv]) == 2
        assert says in capsys.readouterr().err
    assert cli.main(["export", "canvas", "6", "--to", "/proc/none/x.csv"]) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize("told", ["1,000.00", "Satisfactory", "-5", "nan", "inf", "-", "0,00"])
def test_what_is_no_number_of_points_is_not_guessed(told):
    with pytest.raises(Problem, match=r"Write a plain number|has 0 points"):
        most_points({"Maximum grade": told}, 22.0)


@pytest.mark.parametrize(("told", "points"), [("", 22.0), ("50", 50.0), ("12,50", 12.5), (" 12.5 ", 12.5)])
def test_a_number_of_points_is_taken(told, points):
    assert most_points({"Maximum grade": told}, 22.0) == points


def test_a_comma_in_a_name_begins_no_column(tmp_path):
    """nbgrader's own exporter writes it as it is, and every number after it is read from the next column."""
    who = {"id": "o'brien, pat", "last_name": 'King, "Jr."', "first_name": "Ada\nMay", "email": "a@b.c"}
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as gradebook:
        gradebook.add_assignment("03_rnn")
        gradebook.add_student(who["id"], **{name: text for name, text in who.items() if name != "id"})
        gradebook.add_student("bea")
        gradebook.add_submission("03_rnn", who["id"])
        plugin = QuotedCsv(to=str(tmp_path / "grades.csv"))
        plugin.export(gradebook)
    with (tmp_path / "grades.csv").open(newline="", encoding="utf-8") as file:
        pat, bea = sorted(csv.DictReader(file), key=lambda row: -len(row["student_id"]))
    assert {name: pat["student_id" if name == "id" else name] for name in who} == who
    assert pat["max_score"] == bea["max_score"] == "0.0" and bea["last_name"] == "" and bea["student_id"] == "bea"
