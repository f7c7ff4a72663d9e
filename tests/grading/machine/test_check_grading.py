"""What `course doctor` says of an instructor's own course."""

from __future__ import annotations

from pathlib import Path

import pytest

from course.grading.machine.doctor import own_course


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ("[topics.03_rnn]\n", "fine", "1 topic"),
        ("[topics.03_rnn]\ndue = 31.01.2027\n", "wrong", "line 2 is 'due = 31.01.2027'"),
        ("[topics.03_rnnn]\n", "wrong", "Did you mean '03_rnn'?"),
    ],
)
def test_a_course_of_somebodys_own_is_read(tmp_path: Path, text: str, kind: str, says: str) -> None:
    assert list(own_course(tmp_path)) == []
    (tmp_path / "nbgrader_config.py").touch()
    (tmp_path / "course.toml").write_text(text, "utf-8")
    (finding,) = own_course(tmp_path)
    assert finding.kind == kind and says in finding.said
