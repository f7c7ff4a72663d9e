"""`course doctor`: what it says of machines that lack something, and that it says it without a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from course import cli
from course.grading.machine import doctor
from course.grading.machine.doctor import GIB, Finding
from course.grading.student_edition import assemble

MANAGER = "@jupyter-widgets/jupyterlab-manager"


def _one(findings) -> Finding:
    (found,) = findings
    return found


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
    environment = {**os.environ, "PYTHONPATH": str(assemble())}
    ran = subprocess.run(
        [sys.executable, "-m", "course", "doctor"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "student edition" in ran.stdout and "sandbox" not in ran.stdout and "nbgrader" not in ran.stdout


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


def test_a_broken_torch_is_told_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch.py").write_text("raise OSError('libtorch.so: cannot open shared object file')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = _one(doctor.torch_works())
    assert found.kind == "wrong" and "libtorch.so" in found.said and "install torch" in found.advice


@pytest.mark.parametrize(
    ("answer", "kinds", "says"),
    [
        ({"gpus": [["H100", 80 * GIB, True]]}, ["fine", "fine"], "H100, 80 GiB"),
        ({"gpus": [["old", GIB, False]]}, ["fine", "wrong"], "old multiplies wrongly"),
        ({"mps": True}, ["fine", "note"], "COURSE_DEVICE=mps"),
        ({"fault": "driver too old"}, ["fine", "note"], "driver too old"),
        ({"right": False}, ["wrong", "fine"], "multiplies wrongly"),
    ],
)
def test_what_it_says_of_accelerators(answer: dict, kinds: list[str], says: str) -> None:
    found = list(doctor.about_torch({"version": "2", "threads": 1, "right": True, "gpus": [], "mps": False, **answer}))
    assert [finding.kind for finding in found] == kinds
    assert says in "\n".join(map(str, found))


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


@pytest.mark.parametrize(("gib", "kind"), [(0, "note"), (0.5, "wrong"), (1.5, "note"), (1.95, "fine"), (16, "fine")])
def test_memory(gib: float, kind: str) -> None:
    assert doctor.memory(gib * GIB).kind == kind


def test_a_hubs_limit_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEM_LIMIT", str(GIB // 2))
    assert doctor.memory(doctor.memory_at_hand()).kind == "wrong"


@pytest.mark.parametrize(("gib", "kind"), [(0.1, "wrong"), (1.0, "note"), (20, "fine")])
def test_disk(gib: float, kind: str) -> None:
    assert doctor.disk(Path("here"), gib * GIB).kind == kind


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.NamedTemporaryFile", refuse)
    folder, cache = doctor.writable(tmp_path)
    assert (folder.kind, cache.kind) == ("wrong", "note") and "Permission denied" in folder.said


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "a file").touch()
    for place in (tmp_path / "nowhere", tmp_path / "a file"):
        (found,) = doctor.writable(place)
        assert found.kind == "wrong" and found.said == f"there is no folder {place}"


def test_something_wrong_is_a_status_of_one(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr(doctor, "examine", lambda folder: [Finding("wrong", "torch", "gone", "install it")])
    assert cli.main(["doctor"]) == 1
    assert capsys.readouterr().out == "✗ torch        gone\n               → install it\n\n1 thing to mend.\n"


@pytest.mark.parametrize(
    ("text", "kind", "says"),
    [
        ("[topics.03_rnn]\n", "fine", "1 topic"),
        ("[topics.03_rnn]\ndue = 31.01.2027\n", "wrong", "line 2 is 'due = 31.01.2027'"),
        ("[topics.03_rnnn]\n", "wrong", "did you mean '03_rnn'?"),
    ],
)
def test_a_course_of_somebodys_own_is_read(tmp_path: Path, text: str, kind: str, says: str) -> None:
    assert list(doctor.own_course(tmp_path)) == []
    (tmp_path / "nbgrader_config.py").touch()
    (tmp_path / "course.toml").write_text(text, "utf-8")
    (finding,) = doctor.own_course(tmp_path)
    assert finding.kind == kind and says in finding.said
