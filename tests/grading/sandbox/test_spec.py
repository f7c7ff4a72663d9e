"""What is not for students is named where it is known: by the grader, as a kernel's supervisor has another course."""

from __future__ import annotations

from pathlib import Path

import pytest

import course
from course.grading.execution.execute import class_paths
from course.grading.sandbox import spec
from course.grading.sandbox.spec import Confines, hidden_paths


def test_the_graders_own_course_is_hidden_though_the_supervisor_has_the_students(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where it lies in /opt, and Python finds it by PYTHONPATH, which supervisors do not inherit."""
    graders, students = tmp_path / "opt" / "course", tmp_path / "edition" / "course"
    for package in (graders, students):
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
    (graders / "hidden").mkdir()
    monkeypatch.setattr(spec, "SYSTEM", (str(tmp_path / "opt"),))
    monkeypatch.setattr(course, "__file__", str(graders / "__init__.py"))
    told = tuple(map(str, class_paths()))
    monkeypatch.setattr(course, "__file__", str(students / "__init__.py"))
    assert hidden_paths(Confines("/private", hidden=told))[-1] == graders
    assert str(students) not in told
