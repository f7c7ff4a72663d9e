"""`hint` on a written question: where to begin, in every edition."""

from __future__ import annotations

from pathlib import Path

import pytest

from course import hint
from course.grading.execution.kernel_edition import assemble
from course.hidden import question_hints
from course.notebook import find_key, hints
from course.syllabus import OURS
from tests.original import find_topic

NAME = "self_attention_question"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_question_has_hints_that_climb_and_begin_again(capsys: pytest.CaptureFixture[str]) -> None:
    declared = question_hints(find_topic("06"))[NAME]
    for number, text in [*enumerate(declared, 1), (1, declared[0])]:
        hint(NAME)
        assert f"Hint {number} of {len(declared)} for {NAME}: {text}" in capsys.readouterr().out


def test_the_student_edition_has_the_hints_of_all_questions(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(find_key, "KEYS", assemble("", OURS) / "course" / "keys")
    monkeypatch.setattr(hints, "find_spec", lambda module: None)
    for topic in OURS:
        held = find_key.answer_key(topic.name).question_hints
        assert held == question_hints(topic)
        for name, (first, *_) in held.items():
            hint(name)
            assert first in capsys.readouterr().out
