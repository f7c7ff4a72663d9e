"""What `course doctor` says of widgets and kernels that do not fit."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from course.grading.machine import doctor
from course.grading.machine.doctor import Finding

MANAGER = "@jupyter-widgets/jupyterlab-manager"


def _one(findings) -> Finding:
    (found,) = findings
    return found


def test_the_widgets_extension(tmp_path: Path) -> None:
    assert doctor.widgets_extension([tmp_path], []).kind == "wrong"
    package = tmp_path / MANAGER / "package.json"
    package.parent.mkdir(parents=True)
    package.write_text(json.dumps({"version": "5.0.1"}))
    assert doctor.widgets_extension([tmp_path], ["something else"]).kind == "fine"
    off = doctor.widgets_extension([tmp_path], [f"{MANAGER}:plugin"])
    assert off.kind == "wrong" and off.advice == f"jupyter labextension enable {MANAGER}"
    package.write_text(json.dumps({"version": "3.1.9"}))
    assert "too old" in doctor.widgets_extension([tmp_path], []).said
    package.write_text("{")
    assert "cannot be read" in doctor.widgets_extension([tmp_path], []).said


def test_a_kernel_that_runs_another_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = tmp_path / "kernels" / "python3" / "kernel.json"
    spec.parent.mkdir(parents=True)
    other = tmp_path / "bin" / "python"
    other.parent.mkdir()
    other.symlink_to(sys.executable)
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    for program, says in ((str(other), "runs another Python"), ("/nowhere/python", "is not there")):
        spec.write_text(json.dumps({"argv": [program], "display_name": "Python 3", "language": "python"}))
        found = _one(doctor.kernel())
        assert found.kind == "wrong" and says in found.said and "ipykernel install" in found.advice


def test_the_kernel_of_an_environment_that_is_not_activated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jupyter starts a kernel called `python` with the Python that it runs on, whatever `PATH` finds first."""
    spec = tmp_path / "kernels" / "python3" / "kernel.json"
    spec.parent.mkdir(parents=True)
    spec.write_text(json.dumps({"argv": ["python"], "display_name": "Python 3", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    found = _one(doctor.kernel())
    assert (found.kind, found.said) == ("fine", f"python3 runs {sys.executable}")
