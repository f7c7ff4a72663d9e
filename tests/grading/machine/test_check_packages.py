"""What `course doctor` says of Python and of packages that are missing or old."""

from __future__ import annotations

from importlib import metadata

import pytest

from course.grading.machine import doctor
from course.grading.machine.doctor import Finding


def _one(findings) -> Finding:
    (found,) = findings
    return found


def test_a_missing_and_an_old_package_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ["einops>=99", "no-such-package>=1", "numpy>=1.26", 'nbgrader>=99; extra == "nobody"']
    monkeypatch.setattr(metadata, "requires", lambda name: asked)
    course, fine, old, missing = doctor.packages()
    assert course.kind == fine.kind == "fine" and fine.said.startswith("numpy ")
    assert old.kind == "wrong" and old.said.startswith("einops>=99: ") and old.advice == 'pip install "einops>=99"'
    assert missing.said == "no-such-package>=1: not installed"


def test_a_python_that_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.python_version", lambda: "3.9.1")
    assert _one(doctor.python()).kind == "wrong"
