"""Graded cells that an instructor added with nbgrader's own marks: corrected, listed, and graded again."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.utils import compute_checksum

from course import cli
from course.course import course_in
from course.grading.authoring.index_notebook import write_home
from course.grading.catalogue import describe
from course.grading.cells import METADATA
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.graded import Graded
from course.grading.classroom.summary import regraded, table
from course.grading.course_folder import release_path
from course.grading.execution.judged_outputs import record
from course.grading.execution.same_written_answer import same_answer
from course.grading.execution.task import Outcome
from course.grading.gradebook.scores import Scores
from course.grading.intake.submit import gaps
from course.grading.own_cells import OwnCell, own_cells, own_tests_in
from course.grading.release.make_release import register
from course.grading.report.findings import Findings
from tests.original import ORIGINAL

from .classes import SETTINGS, given_out, grade, question
from .lesson import NAME, TOPIC, answers, hand_in
from .test_by_hand import QUESTION, gradebook
from .test_stale import judged_with_another_test

OLD, NEW = 'assert attention_cost(2, 3)["recurrent"] == 18', 'assert attention_cost(2, 3)["recurrent"] == 19'


def marked(source: str, name: str, **marks: object) -> NotebookNode:
    new = new_code_cell if marks.pop("code", True) else new_markdown_cell
    return new(source, metadata={"nbgrader": {"grade_id": name, **marks}})


def test_own_cells_are_those_that_are_no_items():
    cells = [
        new_markdown_cell("plain"),
        marked("check('softmax', softmax)", "softmax", grade=True, points=2),
        marked("def mine(): ...", "mine-solution", solution=True),
        marked("assert mine()", "mine", grade=True, points=3),
        marked("assert mine()", "mine", grade=True, points=3),
        marked("Why?", "why", grade=True, solution=True, points=1.5, code=False),
        marked("Build it.", "build", task=True, points="4", code=False),
        new_code_cell("x", metadata={"nbgrader": "nonsense"}),
    ]
    found = [OwnCell("mine", "test", 3), OwnCell("why", "question", 1.5), OwnCell("build", "question", 0)]
    assert list(own_cells(cells, TOPIC)) == found
    assert list(own_tests_in(ORIGINAL, new_notebook(cells=cells[:-1]))) == ["mine"]


def test_a_table_has_a_column_for_each_own_cell():
    """The score table, and the report's."""
    works = [Graded("ada", Scores(3, 6, {"mine": 1.0, "why": None}, {"mine": 2.0, "softmax": 2.0, "why": 2.0}))]
    header, (row,) = table(TOPIC, works)
    assert header[2:-1] == ["softmax", "mine", "why"] and row[3:5] == ["1", "–"]
    assert [item.name for item in Findings(TOPIC, tuple(works)).items()] == header[2:-1]


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """A course with a release that holds a test of 3 points and a question of 1.5, both an instructor's own."""
    cells = [
        marked("def mine():\n    raise NotImplementedError()", "mine-solution", solution=True, grade=False),
        marked("assert mine()", "mine", grade=True, points=3),
        marked("Why?\n\nYOUR ANSWER HERE", "why", grade=True, solution=True, points=1.5, code=False),
    ]
    for cell in cells:
        cell.metadata.nbgrader["checksum"] = compute_checksum(cell)
    path = release_path(tmp_path, TOPIC)
    path.parent.mkdir(parents=True)
    nbformat.write(new_notebook(cells=cells), path)
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions" / f"{NAME}.py").touch()
    return tmp_path


def test_own_cells_are_listed_and_count(released):
    lines = describe(TOPIC, released).splitlines()
    assert f"{len(TOPIC.items) + 2} graded cells  {TOPIC.points + 4.5} points" in lines[0]
    assert [line.split()[:3] for line in lines[-2:]] == [["mine", "test", "3"], ["why", "question", "1.5"]]
    notebook = write_home(course_in(released))
    exercises = len(TOPIC.judged)
    assert f"| {exercises + 1} | {TOPIC.points + 4.5} |" in nbformat.read(notebook, as_version=4).cells[-1].source
    release_path(released, TOPIC).write_text("{")
    assert f" {TOPIC.points} points" in describe(TOPIC, released)


def test_own_questions_that_are_untouched_are_missing(released):
    path = release_path(released, TOPIC)
    nb = nbformat.read(path, as_version=4)

    def missing() -> list[str]:
        named = [gap.partition(": ")[::2] for gap in gaps(nb.cells, TOPIC, path.parent)]
        return [name for name, gap in named if gap == "not answered yet"]

    assert missing() == ["mine-solution", "why"]
    nb.cells[0].source = "def mine():\n    return 1"
    nb.cells[2].source = "Why?\n\nBecause."
    assert missing() == []


@pytest.fixture
def corrected(graded_class: Path, tmp_path: Path) -> Path:
    """A graded class, whose written answers are read, and an own test that was corrected in the source since."""
    root = shutil.copytree(graded_class, tmp_path / "course")
    source = root / "solutions" / f"{NAME}.py"
    assert OLD in source.read_text()
    source.write_text(source.read_text().replace(OLD, NEW))
    with gradebook(root) as book:
        for student in ("ada", "bea"):
            found = book.find_grade(QUESTION, NAME, NAME, student)
            found.manual_score, found.needs_manual_grade = 1.0, False
        book.db.commit()
    return root


def test_a_corrected_own_test_that_is_not_released_is_told(corrected, monkeypatch, capsys):
    monkeypatch.chdir(corrected)
    told = f"usual in solutions/ is not as released. Run `course release {NAME}`, then `course grade {NAME}`"
    cli.main(["grade", NAME, "--student", "ada"])
    assert told in capsys.readouterr().out
    assert cli.main(["grade", NAME, "--stale"]) == 0
    said = capsys.readouterr().out
    assert told in said and "nothing is stale, because every verdict comes from the release's tests" in said


def test_a_corrected_own_test_is_stale_once_it_is_released(corrected):
    register(course_in(corrected), TOPIC)
    assert Classroom(course_in(corrected), TOPIC, SETTINGS).unreleased() == []
    graded = grade(corrected, stale=True, students=["ada", "bea"])
    assert [work.retested for work in graded] == [{"usual"}] * 2
    assert [work.scores.cells["usual"] for work in graded if work.scores] == [0.0, 0.0]
    assert regraded(graded) == [
        "usual: graded again with changed tests (2 submissions), and points changed: ada 1 → 0, bea 1 → 0"
    ]
    assert not any(work.scores.again for work in graded if work.scores), "nothing that they wrote has changed"
    assert grade(corrected, stale=True, students=["ada", "bea"]) == []


def test_another_stale_exercise_changes_no_own_test_in_silence(corrected):
    judged_with_another_test(corrected, "ada", "attention_cost")
    register(course_in(corrected), TOPIC)
    (work,) = grade(corrected, stale=True, students=["ada"])
    assert work.retested == {"attention_cost", "usual"}
    assert {line.split(":")[0] for line in regraded([work])} == {"attention_cost", "usual"}
    assert [one.message for one in work.verdicts.values()].count("untouched") == 1, "which is not stale"


def test_an_own_test_that_was_not_corrected_keeps_what_it_gave(graded_class, tmp_path):
    root = shutil.copytree(graded_class, tmp_path / "course")
    judged_with_another_test(root, "ada", "attention_cost")
    path = root / "autograded" / "ada" / NAME / f"{NAME}.ipynb"
    nb = nbformat.read(path, as_version=4)
    (cell,) = (cell for cell in nb.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "usual")
    cell.outputs = [nbformat.v4.new_output("error", ename="AssertionError", evalue="by chance", traceback=[])]
    nbformat.write(nb, path)
    (work,) = grade(root, stale=True, students=["ada"])
    assert work.scores is not None and work.scores.cells["usual"] == 0.0


def test_only_the_written_answer_that_changed_goes_back(corrected):
    hand_in(corrected, "ada", given_out(corrected), answers({"softmax": "def softmax(x, dim):\n    return x"}))
    hand_in(corrected, "bea", given_out(corrected), question("Another answer."))
    graded = grade(corrected, students=["ada", "bea"])
    assert not any(work.reason for work in graded)
    assert [work.scores.again for work in graded if work.scores] == [(), (QUESTION,)]


def written(answer: str, beside: str = "", marks: str = QUESTION) -> NotebookNode:
    cell = marked(answer, marks, grade=True, solution=True, code=False)
    return new_notebook(cells=[new_code_cell("anything"), cell, new_markdown_cell(beside)])


@pytest.mark.parametrize(
    ("before", "now", "same"),
    [
        (written("As it is."), written("As it is."), True),
        (written("As it is."), written("As it was."), False),
        (written("See below.", "Here."), written("See below.", "There."), False),
        (written("![](figs/a%20b.png)"), written("![](figs/a%20b.png)"), False),
        (written("As it is.", marks="another"), written("As it is."), False),
    ],
)
def test_an_answer_is_the_same_with_its_text_and_its_pictures(tmp_path, before, now, same):
    (tmp_path / "figs").mkdir()
    (tmp_path / "figs" / "a b.png").write_bytes(b"before")
    assert same_answer(QUESTION, before, now, tmp_path, {"figs/a b.png": b"now"}) is same


def test_a_topic_with_nothing_but_own_cells_is_known_as_graded():
    """And an ordinary notebook of nbgrader's keeps no metadata of ours."""
    nb = new_notebook(cells=[marked("assert 1", "mine", grade=True, points=1)])
    record(ORIGINAL, nb, {}, Outcome(b"", seconds=2.0), of_the_course=True)
    assert nb.metadata[METADATA]["verdicts"] == {} and nb.metadata[METADATA]["seconds"] == 2.0
    record(ORIGINAL, nb, {}, Outcome(b""))
    assert METADATA not in nb.metadata


def test_points_that_change_are_told_whatever_changed_them():
    def work(student: str, before: float | None, now: float, retested: str = "") -> Graded:
        cells: dict[str, float | None] = {"softmax": now}
        return Graded(
            student, Scores(now, 2.0, cells), before={"softmax": before}, retested=frozenset(retested.split())
        )

    assert regraded([work("ada", 2, 1.5), work("bea", 1, 1), work("cy", None, 1)]) == [
        "softmax: graded again, and points changed: ada 2 → 1.5"
    ]
    assert regraded([work("ada", 1, 1, "softmax")]) == [
        "softmax: graded again with changed tests, and no points changed"
    ]
