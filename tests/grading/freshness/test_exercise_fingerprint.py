"""After a test is corrected, what it touches is judged again, and nothing else changes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import course
from course import cli
from course.grading.classroom import grade_class as classrooms
from course.grading.execution.task import Outcome
from course.grading.freshness import exercise_fingerprint
from course.grading.freshness.exercise_fingerprint import tests_of as state_of
from course.syllabus import Item, Topic

from ..classes import grade
from ..lesson import NAME
from ..test_resume import counted

PARTS = ("hidden", "reference", "exercise", "judge", "data")
NAMES = ("softmax", "attention_for_one", "attention_cost", "crossover_length", "ElmanClassifier", "rnn_cell")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for part in PARTS:
        shutil.copytree(Path(course.__file__).parent / part, tmp_path / part)
    shutil.copy(Path(course.__file__).parent / "source.py", tmp_path)
    return tmp_path


def touched(package: Path, file: str, before: str, after: str, names: tuple[str, ...] = NAMES) -> set[str]:
    """Those of the exercises whose state changes with one change to a file, made and judged in a folder of its own."""
    changed = shutil.copytree(package, package.with_name(f"{package.name}-{len(list(package.parent.iterdir()))}"))
    text = (changed / file).read_text(encoding="utf-8")
    assert before in text
    (changed / file).write_text(text.replace(before, after, 1), encoding="utf-8")
    return {name for name in names if state_of(name, package) != state_of(name, changed)}


OWN = "from course.exercise import call, exercise\n\n\n@exercise(sum)\ndef smooth(rng):\n    yield call(3)\n"

OVERFLOWS = "def overflows(x, dim):"


@pytest.mark.parametrize(
    ("file", "before", "after", "who"),
    [
        (
            "hidden/self_attention/softmax.py",
            "What is exp(1000) on a computer?",
            "How large is exp(1000)?",
            {"softmax"},
        ),
        ("hidden/self_attention/softmax.py", OVERFLOWS, f"{OVERFLOWS}\n    # a comment and a line\n", set()),
        ("hidden/rnn/rnn_cell.py", "What comes out of your cell", "What leaves your cell", {"rnn_cell"}),
        ("hidden/cbow/nearest.py", "def nearest(rng):", "def nearest(random):", set()),
        ("hidden/reading.py", "Print the last column", "Look at the last column", {"ElmanClassifier"}),
        ("hidden/reading.py", "another first token changes", "a first token changes", {"ElmanClassifier"}),
        ("judge/report.py", "not right yet", "wrong", set()),
        ("judge/points.py", "All checks weigh the same", "All weigh the same", set()),
        ("judge/compare.py", '"""', '"""Another docstring. ', set(NAMES)),
        ("source.py", r"[%!](?:.*\\\n)*.*", r"[%](?:.*\\\n)*.*", set(NAMES)),
    ],
)
def test_what_a_change_touches(package, file, before, after, who):
    assert touched(package, file, before, after) == who


def test_what_a_reference_is_used_by_is_touched_with_it(package):
    """Scaled dot-product attention rests on softmax, and its tests with it; the cost of a layer does not."""
    who = touched(package, "reference/self_attention.py", "def softmax(", "SCALE = 1\n\n\ndef softmax(")
    assert who == set(), "a constant nobody uses touches nobody"
    text = (package / "reference/self_attention.py").read_text()
    line = next(line for line in text.partition("def softmax(")[2].splitlines() if line.strip().startswith("return "))
    who = touched(package, "reference/self_attention.py", line, line + " + 0")
    assert "softmax" in who and "attention_cost" not in who


def test_new_weights_of_a_trained_network_touch_what_is_judged_by_them(package):
    file = Path("data", "pretrained.safetensors")
    changed = shutil.copytree(package, package.with_name("with-new-weights"))
    (changed / file).write_bytes((package / file).read_bytes()[:-1] + b"!")
    assert state_of("lora_task", package) != state_of("lora_task", changed)


def test_what_a_machine_leaves_among_the_data_touches_nothing(package):
    changed = shutil.copytree(package, package.with_name("used"))
    for name in (".DS_Store", "__pycache__/dates.cpython-311.pyc"):
        (changed / "data" / name).parent.mkdir(exist_ok=True)
        (changed / "data" / name).write_bytes(b"left behind")
    assert state_of("lora_task", package) == state_of("lora_task", changed)


@pytest.mark.parametrize(
    ("file", "part", "other"),
    [
        ("reference/multi_head_attention.py", "class MultiHeadAttention(", "decode_beam"),
        ("reference/positional_encoding.py", "def sinusoidal(", "label_smoothing_loss"),
    ],
)
def test_a_transformer_is_touched_with_what_it_is_built_of(package, file, part, other):
    text = (package / file).read_text(encoding="utf-8")
    line = next(line for line in text.partition(part)[2].splitlines() if line.strip().startswith("return "))
    assert touched(package, file, line, f"{line} + 0", ("Transformer", other)) == {"Transformer"}


def test_an_instructors_own_tests_are_read_where_they_are(package, tmp_path, monkeypatch):
    """`exercises/13_smoothing/hidden.py` in their course's folder, which may use our references."""
    topic = Topic(13, "smoothing", "Smoothing", "", (Item("smooth", 2, 10),), own=True)
    monkeypatch.setattr(exercise_fingerprint, "find_item", lambda name: (topic, topic.items[0]))
    path, states = tmp_path / "own.py", []
    monkeypatch.setattr("course.hidden.own_tests", lambda topic: path)
    for source in (OWN, OWN + "\n# a comment\n", OWN.replace("call(3)", "call(4)")):
        path.write_text(source)
        state_of.cache_clear()
        exercise_fingerprint.module_of.cache_clear()
        states.append(state_of("smooth", package))
    state_of.cache_clear()
    assert states[0] == states[1] != states[2]


def test_an_unknown_name_has_no_tests():
    with pytest.raises(KeyError):
        state_of("nothing")


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

    def fail(jobs, crew):
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
    from ..lesson import make_course

    monkeypatch.chdir(make_course(tmp_path / "course"))
    assert cli.main(["grade", "--stale"]) == 2
    assert "nothing is graded yet, so nothing can be stale" in capsys.readouterr().err
    assert cli.main(["grade"]) == 2
    assert "nothing was named to grade" in capsys.readouterr().err
