"""Hostile code in a submission costs at most its own exercise, and a question shows it as text."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from nbformat import NotebookNode

import course as package
from course.course import Course, course_in
from course.grading.execution import question_sandbox
from course.grading.execution.own_questions import questions_about
from course.grading.execution.question_sandbox import sandboxed
from course.grading.sandbox.probe import strongest
from course.questions.executing import Run
from tests.grading.lesson import TOPIC, answers, make_course, solved
from tests.questions.hostile import BODY, ENDING, HANGING, LARGE, ODD, Attack

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="code is executed in a sandbox on Linux only")

HONEST = f"def softmax(x, dim):\n{BODY}"


@pytest.fixture(scope="module")
def lesson(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return course_in(make_course(tmp_path_factory.mktemp("lesson")))


def handed_in(lesson: Course, **given: str) -> NotebookNode:
    nb = solved(lesson.root)
    answers(given)(nb)
    return nb


@pytest.fixture(autouse=True)
def patience(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Little for code that never gives a result."""
    if "attack" in request.fixturenames and request.getfixturevalue("attack") in HANGING:
        monkeypatch.setattr(question_sandbox, "SECONDS", 2.0)
        monkeypatch.setattr(question_sandbox, "SILENCE", 0.3)


@pytest.mark.parametrize("attack", [*ODD, *HANGING, *ENDING, *LARGE], ids=lambda attack: attack.name)
def test_nothing_is_gained(lesson: Course, attack: Attack) -> None:
    found = questions_about(lesson, TOPIC, handed_in(lesson, softmax=attack.cell), ["softmax"])["softmax"]
    if attack.why_none:
        assert isinstance(found, str) and attack.why_none in found
    else:
        assert isinstance(found, tuple) or "too short" in found


def test_an_attack_costs_one_exercise(lesson: Course) -> None:
    hostile = next(attack for attack in ENDING if attack.name == "kills all it may")
    other = "def attention_for_one(query, keys, values):\n    scores = keys @ query / len(query) ** 0.5\n"
    other += "    return torch.softmax(scores, dim=0) @ values\n"
    nb = handed_in(lesson, softmax=hostile.cell, attention_for_one=other)
    found = questions_about(lesson, TOPIC, nb, ["softmax", "attention_for_one"])
    assert [type(one) for one in found.values()] == [str, tuple], found


SPIES = """
def f(path):
    try:
        with os.fdopen(os.open(path, os.O_RDONLY)) as file:
            return len(file.read()) > 0
    except OSError:
        return False

def g(path):
    line = socket.socket(socket.AF_UNIX)
    try:
        line.connect(path)
    except OSError:
        return False
    return True
"""


def test_code_reads_no_test_and_calls_nobody(lesson: Course) -> None:
    hidden = Path(package.__file__).with_name("hidden") / "self_attention" / "softmax.py"
    assert hidden.is_file()
    setup = "import os\nimport socket\nimport torch"
    calls = [f"f({str(hidden)!r})", "f(torch.__file__)", "g(os.environ['COURSE_JUDGE'])"]
    with sandboxed(lesson, TOPIC, strongest) as run:
        ran = run([Run(setup, SPIES, call) for call in calls])
    assert strongest().name == "none" or ran[0].outcome.parts == (False,)
    assert [one.outcome.parts for one in ran[1:]] == [(True,), ("acts",)]


def test_markup_and_hidden_signs_are_text(lesson: Course) -> None:
    cell = HONEST.replace("    powers = ", '    note = "</pre><script>\u202e"\n    powers = ', 1)
    found = questions_about(lesson, TOPIC, handed_in(lesson, softmax=cell), ["softmax"])["softmax"]
    assert isinstance(found, tuple)
    assert all(r"</pre><script>\u202e" in question.code for question in found)


def test_a_request_that_was_made_before_executes_nothing(
    lesson: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(seed: int) -> object:
        return questions_about(lesson, TOPIC, nb, ["softmax", "attention_cost"], seed=seed, results=tmp_path)

    nb, executed = handed_in(lesson, softmax=HONEST), list[Run]()
    monkeypatch.setattr(question_sandbox.Sandboxed, "__call__", _counting(executed))
    first = ask(1)
    begun = len(executed)
    assert ask(1) == first and len(executed) == begun > 100
    assert ask(2) != first and len(executed) < 1.7 * begun
    for path in tmp_path.rglob("*.zip"):
        path.write_bytes(b"damaged")
    before = len(executed)
    assert ask(1) == first and len(executed) > before


def _counting(executed: list[Run]) -> Callable[..., object]:
    call = question_sandbox.Sandboxed.__call__

    def counted(self: question_sandbox.Sandboxed, runs: list[Run]) -> object:
        executed.extend(runs)
        return call(self, runs)

    return counted
