"""`course doctor`: what it looks at, and that a wrong thing is a status of one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from course import cli
from course.grading.execution.kernel_edition import assemble
from course.grading.machine import doctor
from course.grading.machine.doctor import Finding
from course.syllabus import OURS


def test_this_machine_is_fine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    for what in ("Python", "packages", "torch", "GPU", "JupyterLab", "widgets", "kernel", "memory", "disk", "sandbox"):
        assert f" {what} " in said, what
    assert "Everything the course needs is here." in said and str(tmp_path) in said


def test_it_does_not_import_torch_into_its_own_process() -> None:
    code = "import sys; from course.grading.machine.doctor import examine; from pathlib import Path; examine(Path()); "
    code += "assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_the_student_edition_has_a_doctor_too(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(assemble("", OURS))}
    ran = subprocess.run(
        [sys.executable, "-m", "course", "doctor"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "student edition" in ran.stdout and "sandbox" not in ran.stdout and "nbgrader" not in ran.stdout


def test_something_wrong_is_a_status_of_one(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr(doctor, "examine", lambda folder: [Finding("wrong", "torch", "gone", "install it")])
    assert cli.main(["doctor"]) == 1
    assert capsys.readouterr().out == "✗ torch        gone\n               → install it\n\n1 thing to fix.\n"


def test_who_has_no_home_hears_what_to_set(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    def unknown(path: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", unknown)
    monkeypatch.setattr(doctor, "torch_works", list)
    assert cli.main(["doctor"]) == 1
    said = capsys.readouterr().out
    assert "✗ home         HOME is not set" in said and "Set HOME to" in said
    assert " kernel " not in said and "1 thing to fix." in said


def test_what_a_class_on_a_platform_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(doctor.platforms([])) == []
    (found,) = doctor.platforms(["https://school.example.org"])
    assert (found.kind, found.said) == ("fine", "the class is at https://school.example.org")
    monkeypatch.setattr(doctor, "find_spec", lambda name: None if name == "keyring" else object())
    (found,) = doctor.platforms(["https://school.example.org"])
    assert found.kind == "wrong" and "keyring is not installed" in found.said and "[lms]" in found.advice
