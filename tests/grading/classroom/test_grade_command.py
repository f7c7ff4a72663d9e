"""What `course grade --stale` looks at: the topics in which somebody is graded, and those of the named who are.

Also what `course grade` does without: torch, in the process that reads and saves.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from course.course import Course, course_in
from course.grading.classroom import grade_command
from course.grading.problem import Problem
from course.syllabus import Topic
from tests.original import find_topic

RNN, GATES, MASKS = map(find_topic, ("rnn", "lstm_gru", "masking"))


@pytest.fixture
def looked_at(monkeypatch) -> list[tuple[str, tuple[str, ...]]]:
    """The topics and students that were judged again."""
    found: list[tuple[str, tuple[str, ...]]] = []

    def grade_topic(course: Course, topic: Topic, *, students: Any = (), stale: bool, **options: Any) -> int:
        assert stale and options == {"workers": 2}
        found.append((topic.name, tuple(students)))
        return int(topic is GATES)

    monkeypatch.setattr(grade_command, "grade_topic", grade_topic)
    return found


def grade(root: Path, student: str, topic: Topic) -> None:
    path = root / "autograded" / student / topic.folder / f"{topic.folder}.ipynb"
    path.parent.mkdir(parents=True)
    path.touch()


def test_every_topic_with_graded_work_is_looked_at(tmp_path, looked_at):
    with pytest.raises(Problem, match="nothing is graded yet"):
        grade_command.grade_stale(course_in(tmp_path), [RNN, GATES])
    grade(tmp_path, "ada", RNN)
    grade(tmp_path, "bea", GATES)
    assert grade_command.grade_stale(course_in(tmp_path), [RNN, GATES, MASKS], workers=2) == 1
    assert looked_at == [("rnn", ()), ("lstm_gru", ())]


def test_who_is_named_need_not_have_handed_in_everything(tmp_path, looked_at):
    for student, topic in (("ada", RNN), ("bea", RNN), ("bea", GATES), ("cleo", MASKS)):
        grade(tmp_path, student, topic)
    assert grade_command.grade_stale(course_in(tmp_path), [RNN, GATES, MASKS], students=["ada", "bea"], workers=2) == 1
    assert looked_at == [("rnn", ("ada", "bea")), ("lstm_gru", ("bea",))]
    with pytest.raises(Problem, match="nothing of dan is graded yet"):
        grade_command.grade_stale(course_in(tmp_path), [RNN, GATES], students=["ada", "dan"], workers=2)


LOADED = """
import sys
from pathlib import Path
from course.grading.classroom import absent, classroom, grade_class, groups, progress_bars, save, summary
from course.grading.nbgrader_bridge.config_file import load_config
load_config(Path.cwd())
sys.exit("torch" in sys.modules)
"""


def test_the_process_that_reads_and_saves_does_not_import_torch(tmp_path):
    shutil.copy(Path(__file__).parents[3] / "nbgrader_config.py", tmp_path)
    subprocess.run([sys.executable, "-c", LOADED], cwd=tmp_path, check=True)
