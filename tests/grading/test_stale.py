"""After a test is corrected, what it touches is judged again, and nothing else changes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from course import cli
from course.grading.classroom import grade_class as classrooms
from course.grading.execution.task import Outcome

from .classes import grade
from .lesson import NAME
from .test_resume import counted


def graded_notebook(root: Path, student: str) -> Path:
    return root / "autograded" / student / NAME / f"{NAME}.ipynb"


def judged_with_another_test(root: Path, student: str, name: str) -> None:
    """Make it so that `student` was judged while the tests of `name` were other ones, which gave no points."""
    from nbgrader.api import Gradebook

    path = graded_notebook(root, student)
    nb = json.loads(path.read_text())
    kept = nb["metadata"]["course"]
    kept["task"], kept["tests"][name] = "judged long ago", "judged long ago"
    kept["verdicts"][name].update(kind="wrong", score=0.0, message="judged by a faulty test")
    other = next(one for one in kept["verdicts"] if one != name)
    kept["verdicts"][other]["message"] = "untouched"
    path.chmod(0o644)
    path.write_text(json.dumps(nb))
    shutil.rmtree(root / ".course" / "results")
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        gradebook.find_grade(name, NAME, NAME, student).auto_score = 0.0
        question = gradebook.find_grade("self_attention_question", NAME, NAME, student)
        question.manual_score, question.extra_credit, question.needs_manual_grade = 1.5, 0.5, False
        gradebook.find_comment("self_attention_question", NAME, NAME, student).manual_comment = "Nicely put."
        gradebook.db.commit()


def test_only_what_is_stale_is_judged_again(graded_class, tmp_path, monkeypatch, capsys):
    from nbgrader.api import Gradebook

    root = shutil.copytree(graded_class, tmp_path / "course")
    monkeypatch.chdir(root)
    before = {student: graded_notebook(root, student).read_bytes() for student in ("bea", "cy")}
    assert grade(root, stale=True) == [], "nothing is stale"
    judged_with_another_test(root, "ada", "attention_cost")
    with counted(monkeypatch) as sent:
        (again,) = grade(root, stale=True)
        assert sent == ["ada"]
    assert again.verdicts["attention_cost"].kind == "passed" and again.verdicts["attention_cost"].message == ""
    assert [one.message for one in again.verdicts.values()].count("untouched") == 1, "not touched, so not judged again"
    assert again.scores is not None
    assert again.scores.cells["attention_cost"] == again.scores.maxima["attention_cost"]
    assert again.scores.cells["self_attention_question"] == 2.0, "by hand, with extra credit"
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as gradebook:
        assert gradebook.find_comment("self_attention_question", NAME, NAME, "ada").manual_comment == "Nicely put."
    assert before == {student: graded_notebook(root, student).read_bytes() for student in before}
    assert cli.main(["grade", "--stale"]) == 0
    assert "nothing is stale" in capsys.readouterr().out
    with counted(monkeypatch) as sent:
        grade(root, students=["ada"])
        assert sent == [], "and the next grading finds it done"


def test_a_fault_of_the_machine_leaves_what_is_stale_as_it_is(graded_class, tmp_path, monkeypatch):
    root = shutil.copytree(graded_class, tmp_path / "course")
    judged_with_another_test(root, "ada", "attention_cost")

    def fail(jobs, pool):
        for student, task in jobs:
            yield student, task, Outcome(task.notebook, fault="no memory").to_bytes()

    with monkeypatch.context() as patch:
        patch.setattr(classrooms, "execute_all", fail)
        (work,) = grade(root, stale=True)
    assert "no memory" in work.reason and "Its earlier grading stays" in work.reason
    (again,) = grade(root, stale=True)
    assert again.verdicts["attention_cost"].kind == "passed"


def test_an_exercise_that_is_no_more_is_not_stale(graded_class, tmp_path):
    root = shutil.copytree(graded_class, tmp_path / "course")
    path = graded_notebook(root, "ada")
    nb = json.loads(path.read_text())
    kept = nb["metadata"]["course"]
    kept["verdicts"]["of_last_year"] = kept["verdicts"]["softmax"]
    path.chmod(0o644)
    path.write_text(json.dumps(nb))
    assert grade(root, stale=True) == []


def test_bad_input_gets_one_sentence(tmp_path, monkeypatch, capsys):
    from .lesson import make_course

    monkeypatch.chdir(make_course(tmp_path / "course"))
    assert cli.main(["grade", "--stale"]) == 2
    assert "nothing is graded yet, so nothing can be stale" in capsys.readouterr().err
    assert cli.main(["grade"]) == 2
    assert "nothing was named to grade" in capsys.readouterr().err
