"""`course viva` on a graded class: sheets, marks, points, and the section of the report."""

from __future__ import annotations

import csv
import html
import re
import shutil
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from course import cli
from course.course import course_in
from course.grading.execution.cell_end import KernelFault
from course.grading.report import write_report
from course.grading.viva import asking
from course.grading.viva.round import Round
from course.problem import Problem
from tests.grading.classes import grade
from tests.grading.lesson import NAME, TOPIC, answers, hand_in, solved
from tests.shared import once

SOFTMAX = {
    "softmax": "def softmax(x, dim):\n    e = torch.exp(x - x.amax(dim, keepdim=True))\n    return e / e.sum(dim, True)"
}


@pytest.fixture(scope="module")
def asked(graded_class: Path, tmp_path_factory) -> Path:
    """The graded class with its sheets, and points in course.toml."""

    def make(folder: Path) -> None:
        shutil.copytree(graded_class, folder)
        (folder / "course.toml").write_text(f"[topics.{NAME}]\n[viva]\n{NAME} = 2\n")
        run(folder, "viva", "06")

    return once(tmp_path_factory, "asked", make)


def run(root: Path, *words: str) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        return cli.main(words)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def answered(root: Path, **how: str) -> Path:
    """A table in which a student answers `r`ight, `w`rong or not (`-`), such as `ada="rrw-"`; others were not there."""
    key = rows(root / "viva" / "06" / "key.csv")
    table = []
    for student in sorted({row["student"] for row in key}):
        right = [row["right"] for row in key if row["student"] == student]
        given = {"r": lambda letter: letter, "w": lambda letter: "ABCD"["ABCD".index(letter) - 1], "-": lambda _: ""}
        letters = [given[sign](letter) for sign, letter in zip(how.get(student, "----"), right, strict=True)]
        table.append(",".join([student, *letters]))
    path = root / "answered.csv"
    path.write_text("\n".join(["student,1,2,3,4", *table]) + "\n")
    return path


def test_each_student_with_passing_code_has_a_sheet_about_that_code(asked):
    key = rows(asked / "viva" / "06" / "key.csv")
    assert {row["student"] for row in key} == {"ada", "dan", "eve"}
    assert {row["exercise"] for row in key} == {"softmax", "attention_for_one"} and len(key) == 12
    sheet = html.unescape((asked / "viva" / "06" / "sheets" / "eve.html").read_text("utf-8"))
    assert "m = a.max(dim=-1, keepdim=True).values" in sheet and "every line my own" not in sheet
    assert "powers" not in sheet


def test_who_has_no_sheet_is_named_with_the_reason(asked, capsys):
    assert run(asked, "viva", "06", "--only", "bea", "--only", "fay") == 0
    said = capsys.readouterr().out
    assert "0 sheets" in said
    assert "bea, whose passing code leaves nothing to ask about (attention_cost, crossover_length)" in said
    assert "fay, whose work is not graded. Run `course grade 06_self_attention` first" in said
    assert run(asked, "viva", "06", "--only", "nobody") == 2
    assert "nobody handed in nothing for 06_self_attention. Check the name" in capsys.readouterr().err


def test_sheets_stay_and_another_seed_asks_something_else(asked, tmp_path):
    root = shutil.copytree(asked, tmp_path / "course")
    first = Round(root, TOPIC)
    before = (first.folder / "key.csv").read_bytes()
    shutil.rmtree(first.folder)
    assert run(root, "viva", "06") == 0
    assert (first.folder / "key.csv").read_bytes() == before, "made anew, the sheets are the same"
    assert run(root, "viva", "06", "--seed", "2", "--only", "ada") == 0
    (again,), ada = Round(root, TOPIC, 2).sheets(), first.sheets()[0]
    assert (again.student, ada.student) == ("ada", "ada")
    assert not {one.identity for one in again.asked} & {one.identity for one in ada.asked}
    assert (first.folder / "key.csv").read_bytes() == before


def test_marks_points_and_report(asked, tmp_path, capsys):
    root = shutil.copytree(asked, tmp_path / "course")
    assert run(root, "viva", "06", "--answers", str(answered(root, ada="rrrr", eve="rw-w"))) == 0  # the wrong line
    capsys.readouterr()
    assert run(root, "viva", "06", "--answers", str(answered(root, ada="rrrr", dan="rw-w"))) == 0
    said = capsys.readouterr().out
    assert "2 sheets marked, in viva/06/results.csv" in said and "right of 4: 4 by 1 student, 1 by 1 student" in said
    assert "not there, so neither marked nor given points: eve" in said
    assert f"points in the gradebook as {NAME}_viva, at most 2" in said
    assert [(row["student"], row["right"], row["of"]) for row in rows(root / "viva" / "06" / "results.csv")] == [
        ("ada", "4", "4"), ("dan", "1", "4")
    ]  # fmt: skip
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        works = gradebook.assignment_submissions(f"{NAME}_viva")
        assert {work.student_id: (work.score, work.max_score) for work in works} == {"ada": (2, 2), "dan": (0.5, 2)}
        before = {work.student_id: work.score for work in gradebook.assignment_submissions(NAME)}
    page = write_report(course_in(root), TOPIC).read_text("utf-8")
    section = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", re.search(r'<section id="viva".*?</section>', page, re.S)[0]))
    assert "2 students answered" in section and "all kinds" in section and "5 of 8" in section and "62 %" in section
    assert "Guessing gets at most 1 of 4 right in 74 of 100 cases, and 3 or more in 5." in section
    assert "Right code, weak answers" in section and " dan , 1 of 4" in section and " ada ," not in section
    nameless = write_report(course_in(root), TOPIC, names=False).read_text("utf-8")
    found = re.search(r'<section id="viva".*?</section>', nameless, re.S)[0]
    assert "5 of 8" in found and "weak answers" not in found and "dan" not in found
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        assert {work.student_id: work.score for work in gradebook.assignment_submissions(NAME)} == before


def test_without_a_word_in_course_toml_answers_earn_nothing(asked, tmp_path, capsys):
    root = shutil.copytree(asked, tmp_path / "course")
    (root / "course.toml").unlink()
    assert run(root, "viva", "06", "--answers", str(answered(root, ada="rrrr"))) == 0
    assert f"no points, because course.toml has no line {NAME} in [viva]" in capsys.readouterr().out
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        assert [one.name for one in gradebook.assignments] == [NAME]


def test_code_that_changed_gets_a_new_sheet_and_the_printed_one_keeps_its_key(asked, tmp_path, capsys):
    root = shutil.copytree(asked, tmp_path / "course")
    hand_in(root, "ada", solved(root), answers(SOFTMAX))
    assert run(root, "viva", "06", "--only", "ada") == 0
    assert "ada, whose work has changed since it was graded. Run `course grade" in capsys.readouterr().out
    grade(root)
    assert run(root, "viva", "06") == 0
    old, new = (sheet for sheet in Round(root, TOPIC).sheets() if sheet.student == "ada")
    assert old.number != new.number and "torch.exp" in new.asked[0].question.code
    page = (root / "viva" / "06" / "sheets" / "ada.html").read_text("utf-8")
    assert new.number in page and old.number not in page
    assert f"{old.number} (of earlier code)" in (root / "viva" / "06" / "key.html").read_text("utf-8")
    rows_ = {row["student"]: row["sheet"] for row in rows(root / "viva" / "06" / "answers.csv")}
    assert rows_["ada"] == new.number


def test_points_of_the_viva_are_checked_like_others(tmp_path):
    from course.outline import Faulty, parse_outline

    assert parse_outline(f"[topics.{NAME}]\n[viva]\n{NAME} = 1.5", tmp_path).viva == {NAME: 1.5}
    for said, why in (
        (f"{NAME} = -1", "number of 0 or more"),
        ("03_rnn = 1", "no topic here"),
        ("points = 2", "no topic"),
    ):
        with pytest.raises(Faulty, match=why):
            parse_outline(f"[topics.{NAME}]\n[viva]\n{said}", tmp_path)


def test_answers_need_no_options_for_making_sheets(asked, capsys):
    assert run(asked, "viva", "06", "--answers", "a.csv", "--questions", "3") == 2
    assert "Leave --questions and --only out" in capsys.readouterr().err


def test_the_page_for_instructors_gives_points_as_course_toml_takes_them(tmp_path):
    from course.outline import parse_outline

    page = (Path(__file__).parents[3] / "docs" / "viva.md").read_text("utf-8")
    (block,) = re.findall(r"```toml viva\n(.*?)```", page, re.S)
    assert parse_outline(f"[topics.{NAME}]\n{block}", tmp_path).viva == {NAME: 2}


def test_a_machine_that_executes_nothing_is_named_and_no_file_changes(asked, monkeypatch, capsys):
    def fault(*_: object, **__: object) -> None:
        raise KernelFault("its supervisor ended")

    monkeypatch.setattr(asking, "questions_about", fault)
    before = (asked / "viva" / "06" / "key.csv").read_bytes()
    assert run(asked, "viva", "06", "--seed", "5") == 2
    assert "because its supervisor ended. Run `course doctor`" in capsys.readouterr().err
    assert (
        not (asked / "viva" / "06" / "seed-5").exists() and (asked / "viva" / "06" / "key.csv").read_bytes() == before
    )


def test_nothing_handed_in_is_a_problem(tmp_path):
    from course.grading.viva.viva_command import make_sheets
    from tests.grading.lesson import make_course

    with pytest.raises(Problem, match="nothing was handed in"):
        make_sheets(course_in(make_course(tmp_path / "course")), TOPIC)
