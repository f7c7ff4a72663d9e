"""What a person gave in formgrader stays, however often the machine grades again."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest

from course import cli
from course.grading.classroom.summary import AGAIN, notes, table
from tests.commands import output_of

from .classes import given_out, grade, question
from .lesson import NAME, TOPIC, deleted, hand_in, make_course, solved

QUESTION = "self_attention_question"


def gradebook(root: Path):
    from nbgrader.api import Gradebook

    return Gradebook(f"sqlite:///{root / 'gradebook.db'}")


def by_hand(root: Path, student: str) -> dict[str, object]:
    with gradebook(root) as book:
        question = book.find_grade(QUESTION, NAME, NAME, student)
        softmax = book.find_grade("softmax", NAME, NAME, student)
        usual = book.find_grade("usual", NAME, NAME, student)
        return {
            "question": question.manual_score,
            "extra": question.extra_credit,
            "extra for softmax": softmax.extra_credit,
            "over the machine": usual.manual_score,
            "comment": book.find_comment(QUESTION, NAME, NAME, student).manual_comment,
            "comment on softmax": book.find_comment("softmax-solution", NAME, NAME, student).manual_comment,
            "late": book.find_submission(NAME, student).late_submission_penalty,
            "score": book.find_submission(NAME, student).score,
        }


GIVEN = {
    "question": 1.5,
    "extra": 0.25,
    "extra for softmax": 1.0,
    "over the machine": 0.5,
    "comment": "Say why, too.",
    "comment on softmax": "<b>Good</b> names.",
    "late": 2.0,
    "score": 7.0 + 1.5 + 0.25 + 1.0 - 0.5,
}


@pytest.fixture
def marked(graded_class: Path, tmp_path: Path) -> Path:
    """The class after an evening in formgrader."""
    root = shutil.copytree(graded_class, tmp_path / "course")
    with gradebook(root) as book:
        question = book.find_grade(QUESTION, NAME, NAME, "ada")
        question.manual_score, question.extra_credit, question.needs_manual_grade = 1.5, 0.25, False
        book.find_grade("softmax", NAME, NAME, "ada").extra_credit = 1.0
        book.find_grade("usual", NAME, NAME, "ada").manual_score = 0.5
        book.find_comment(QUESTION, NAME, NAME, "ada").manual_comment = GIVEN["comment"]
        book.find_comment("softmax-solution", NAME, NAME, "ada").manual_comment = GIVEN["comment on softmax"]
        book.find_submission_notebook(NAME, NAME, "ada").late_submission_penalty = 2.0
        book.db.commit()
    assert by_hand(root, "ada") == GIVEN
    return root


def test_it_survives_grading_again(marked):
    """The same work need not be looked at again, whatever became of the tests; work handed in anew has to be."""
    grade(marked, students=["ada"])
    assert by_hand(marked, "ada") == GIVEN
    (again,) = grade(marked, students=["ada"], force=True)
    assert by_hand(marked, "ada") == GIVEN
    assert again.scores is not None and again.scores.cells[QUESTION] == 1.75 and not again.scores.again
    hand_in(marked, "ada", given_out(marked), question("Something else."))
    (anew,) = grade(marked, students=["ada"])
    assert by_hand(marked, "ada") == GIVEN
    assert anew.scores is not None and anew.scores.again == (QUESTION, "usual")
    assert f"{AGAIN}: ada ({QUESTION}, usual)" in notes([anew])
    (row,) = table(TOPIC, [anew])[1]
    assert "1.75 –" in row
    (still,) = grade(marked, students=["ada"], force=True)
    assert still.scores is not None and still.scores.again == (QUESTION, "usual"), "nobody has looked yet"
    with gradebook(marked) as book:
        for name in (QUESTION, "usual"):
            book.find_grade(name, NAME, NAME, "ada").needs_manual_grade = False  # as formgrader does when somebody has
        book.db.commit()
    (looked_at,) = grade(marked, students=["ada"])
    assert looked_at.scores is not None and not looked_at.scores.again


def test_points_over_the_machines_are_looked_at_again_when_the_machine_gives_others(marked):
    with gradebook(marked) as book:
        book.find_grade("usual", NAME, NAME, "ada").auto_score = 0.25
        book.db.commit()
    (again,) = grade(marked, students=["ada"], force=True)
    assert again.scores is not None and again.scores.again == ("usual",)


def test_it_survives_a_submission_that_can_no_longer_be_graded(marked):
    path = marked / "submitted" / "ada" / NAME / f"{NAME}.ipynb"
    good = path.read_text()
    path.write_text("{")
    (refused,) = grade(marked, students=["ada"])
    assert refused.reason
    now = by_hand(marked, "ada")
    assert {name: now[name] for name in now if name != "score"} == {n: GIVEN[n] for n in GIVEN if n != "score"}
    path.write_text(good)
    grade(marked, students=["ada"])
    assert by_hand(marked, "ada") == GIVEN


def test_it_survives_a_time_stamp_that_is_none(marked):
    stamp = marked / "submitted" / "ada" / NAME / "timestamp.txt"
    stamp.write_text("gestern")
    (work,) = grade(marked, students=["ada"])
    assert "does not hold a date" in work.reason and "Its earlier grading stays" in work.reason
    assert by_hand(marked, "ada") == GIVEN
    stamp.unlink()
    grade(marked, students=["ada"])
    assert by_hand(marked, "ada") == GIVEN


@pytest.mark.parametrize("late", [True, False])
def test_a_rule_for_penalties_decides_where_there_is_one(marked, late):
    """`c.LateSubmissionPlugin.penalty_method = "zero"`: everything is taken off after the date, nothing before."""
    config = marked / "nbgrader_config.py"
    config.write_text(config.read_text() + '\nc.LateSubmissionPlugin.penalty_method = "zero"\n')
    submission = marked / "submitted" / "ada" / NAME
    (submission / "timestamp.txt").write_text(f"2026-03-{'20' if late else '01'} 12:00:00 UTC")
    with gradebook(marked) as book:
        book.update_or_create_assignment(NAME, duedate="2026-03-10 12:00:00 UTC")
    grade(marked, students=["ada"])
    assert by_hand(marked, "ada") == {**GIVEN, "late": GIVEN["score"] if late else 0.0}
    with gradebook(marked) as book:  # everybody gets a month more
        book.update_or_create_assignment(NAME, duedate="2026-04-10 12:00:00 UTC")
    grade(marked, students=["ada"])
    assert by_hand(marked, "ada") == {**GIVEN, "late": 0.0}


def test_late_work_loses_its_share_of_what_is_given_by_hand_afterwards(marked):
    """The first grading knew nothing of it; no rule stood in the configuration then, either."""
    config = marked / "nbgrader_config.py"
    submission = marked / "submitted" / "ada" / NAME
    (submission / "timestamp.txt").write_text("2026-03-20 12:00:00 UTC")
    with gradebook(marked) as book:
        book.update_or_create_assignment(NAME, duedate="2026-03-10 12:00:00 UTC")
    grade(marked, students=["ada"])
    assert by_hand(marked, "ada") == GIVEN
    config.write_text(config.read_text() + '\nc.LateSubmissionPlugin.penalty_method = "zero"\n')
    grade(marked, students=["ada"])
    assert by_hand(marked, "ada") == {**GIVEN, "late": GIVEN["score"]}
    with gradebook(marked) as book:
        book.find_grade(QUESTION, NAME, NAME, "ada").manual_score = 0.5
        book.db.commit()
    graded = grade(marked, students=["ada"])
    assert notes(graded) == [
        f"ada: loses {GIVEN['score'] - 1:g} of the points above, because it came late",
    ]
    assert by_hand(marked, "ada") == {**GIVEN, "question": 0.5, "late": GIVEN["score"] - 1, "score": GIVEN["score"] - 1}


@pytest.fixture
def more_by_hand(marked: Path, monkeypatch) -> Path:
    """Ada came late, which takes everything, and got half a point more by hand after she was graded."""
    config = marked / "nbgrader_config.py"
    config.write_text(config.read_text() + '\nc.LateSubmissionPlugin.penalty_method = "zero"\n')
    (marked / "submitted" / "ada" / NAME / "timestamp.txt").write_text("2026-03-20 12:00:00 UTC")
    with gradebook(marked) as book:
        book.update_or_create_assignment(NAME, duedate="2026-03-10 12:00:00 UTC")
    grade(marked, students=["ada"])
    assert by_hand(marked, "ada")["late"] == GIVEN["score"]
    with gradebook(marked) as book:
        book.find_grade(QUESTION, NAME, NAME, "ada").manual_score = 2.0
        book.db.commit()
    monkeypatch.chdir(marked)
    return marked


@pytest.mark.parametrize("platform", ["canvas", "moodle", "csv"])
def test_an_export_counts_late_penalties_anew(more_by_hand, platform, capsys):
    """They are a share of the score, of which a person gave some after they were counted."""
    for says in (f"course export: {NAME}: late penalties were recomputed for ada\n", ""):
        assert cli.main(["export", platform, NAME]) == 0
        said = capsys.readouterr().err
        assert says in said and ("penalties" in said) == bool(says), "what is right is not told a second time"
        (ada,) = [row for row in Path("exports", f"{platform}.csv").read_text().splitlines() if ",ada," in f",{row}"]
        assert f"{ada},".split(",")[-2 if platform != "csv" else -3] == ("0" if platform != "csv" else "0.0")
        assert by_hand(more_by_hand, "ada")["late"] == GIVEN["score"] + 0.5


def test_nbgraders_own_commands_count_late_penalties_anew(more_by_hand):
    output_of(more_by_hand, "nbgrader", "generate_feedback", NAME, "--student", "ada")
    page = (more_by_hand / "feedback" / "ada" / NAME / f"{NAME}.html").read_text()
    assert f"Late submission penalty (Score: -{GIVEN['score'] + 0.5:g})" in page
    with gradebook(more_by_hand) as book:
        book.find_grade(QUESTION, NAME, NAME, "ada").manual_score = 1.0
        book.db.commit()
    assert f"{NAME}: late penalties were recomputed for ada" in output_of(more_by_hand, "nbgrader", "export")
    assert by_hand(more_by_hand, "ada")["late"] == GIVEN["score"] - 0.5


def test_a_time_stamp_that_was_removed_is_forgotten(marked):
    """nbgrader keeps a time once it has one: work would stay late for ever."""
    config = marked / "nbgrader_config.py"
    config.write_text(config.read_text() + '\nc.LateSubmissionPlugin.penalty_method = "zero"\n')
    stamp = marked / "submitted" / "ada" / NAME / "timestamp.txt"
    stamp.write_text("2026-03-20 12:00:00 UTC")
    with gradebook(marked) as book:
        book.update_or_create_assignment(NAME, duedate="2026-03-10 12:00:00 UTC")
    grade(marked, students=["ada"])
    assert by_hand(marked, "ada")["late"] == GIVEN["score"]
    stamp.unlink()
    grade(marked, students=["ada"])
    assert by_hand(marked, "ada") == {**GIVEN, "late": 0.0}
    with gradebook(marked) as book:
        assert book.find_submission(NAME, "ada").timestamp is None


def test_nothing_runs_under_a_configuration_that_fails(tmp_path, monkeypatch, capsys):
    """nbgrader would go on with settings of its own, which know no sandbox, and say that all is well."""
    root = make_course(tmp_path / "course")
    hand_in(root, "ada", solved(root))
    config = root / "nbgrader_config.py"
    whole = config.read_text()
    config.write_text(f"{whole}\nc.JudgedExecute.demonstrations = true\n")
    line = len(whole.splitlines()) + 2
    said = output_of(root, "nbgrader", "autograde", NAME, "--create", status=1)
    assert f"course: nbgrader_config.py, line {line}: NameError: name 'true' is not defined" in said
    monkeypatch.chdir(root)
    assert cli.main(["grade", NAME]) == 2
    assert f"line {line}: NameError" in capsys.readouterr().err
    config.write_text(f"{whole}\nif x\n")
    assert cli.main(["grade", NAME]) == 2
    assert f"line {line}: " in capsys.readouterr().err
    for setting, says in (
        ("JudgedExecute.tiemout = 5", "JudgedExecute has no setting tiemout. Did you mean timeout?"),
        ("JudgedExecute.patience = 5", "JudgedExecute has no setting patience. Leave it out"),
        ("Execute.memroy = 5", "Execute has no setting memroy. Did you mean memory?"),
        ("JudgedExcute.timeout = 5", "there is no class JudgedExcute. Did you mean JudgedExecute?"),
    ):
        config.write_text(f"{whole}\nc.{setting}\n")
        assert cli.main(["grade", NAME]) == 2
        assert f"nbgrader_config.py, line {line}: {says}" in capsys.readouterr().err
    config.write_text(whole)
    (root / "course.toml").write_text("[late]\npercent_a_day = 3\n")
    assert "percent_a_day" in output_of(root, "nbgrader", "autograde", NAME, "--create", status=1)
    assert not (root / "autograded").exists()


def test_what_was_not_executed_has_no_points(tmp_path):
    root = make_course(tmp_path / "course")
    hand_in(root, "ada", solved(root))
    output_of(root, "nbgrader", "autograde", NAME, "--create", "--no-execute")
    with gradebook(root) as book:
        question = book.find_grade("softmax", NAME, NAME, "ada")
        assert question.auto_score is None and question.needs_manual_grade


def test_a_question_that_was_deleted_is_left_to_a_person(graded_class, tmp_path):
    root = shutil.copytree(graded_class, tmp_path / "course")
    path = root / "submitted" / "ada" / NAME / f"{NAME}.ipynb"
    nb = nbformat.read(path, as_version=4)
    deleted(QUESTION)(nb)
    nbformat.write(nb, path)
    (work,) = grade(root, students=["ada"])
    assert work.scores is not None and work.scores.cells[QUESTION] is None
