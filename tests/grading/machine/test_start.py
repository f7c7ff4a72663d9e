"""`course start`: notebooks in a folder of one's own, never over somebody's work, and JupyterLab on their map."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from course import cli
from course.grading.machine import start
from course.syllabus import OURS
from tests.original import ORIGINAL

ROOT = Path(__file__).parents[3]
NOTEBOOKS = {f"{topic.folder}/{topic.folder}.ipynb" for topic in OURS}


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], Path]]:
    """What was started in place of JupyterLab, and where."""
    started: list[tuple[list[str], Path]] = []

    def run(command: list[str], cwd: Path, **_: Any) -> subprocess.CompletedProcess[str]:
        started.append((command, cwd))
        return subprocess.CompletedProcess(command, 3)

    monkeypatch.setattr(start.subprocess, "run", run)
    return started


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_it_copies_every_notebook_and_opens_the_map(
    tmp_path: Path, lab: list[tuple[list[str], Path]], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "a new one" / "mine"
    assert cli.main(["start", str(folder)]) == 3, "JupyterLab's own status"
    assert files(folder) == {*NOTEBOOKS, "index.ipynb", "AGENTS.md", "CLAUDE.md", "GEMINI.md"}
    assert (folder / "index.ipynb").read_bytes() == (ROOT / "assignments" / "index.ipynb").read_bytes()
    assert f"{len(OURS)} new notebooks in {folder}" in capsys.readouterr().out
    (command, where), *others = lab
    assert not others and where == folder
    assert command == [sys.executable, "-m", "jupyterlab", "--LabApp.default_url=/lab/tree/index.ipynb"]


def test_a_second_time_it_keeps_what_was_done_and_adds_what_is_missing(
    tmp_path: Path, lab: list[tuple[list[str], Path]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["start", str(tmp_path), "--copy-only"]) == 0
    done, missing = (tmp_path / topic.folder / f"{topic.folder}.ipynb" for topic in OURS[:2])
    done.write_text("my work")
    missing.unlink()
    capsys.readouterr()
    assert cli.main(["start", str(tmp_path), "--no-browser"]) == 3
    assert done.read_text() == "my work" and missing.is_file()
    assert f"1 new notebook, and {len(OURS) - 1} notebooks that you had" in capsys.readouterr().out
    assert [command[-1] for command, _ in lab] == ["--no-browser"]


def test_from_inside_it_opens_the_same_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for place in (".", "sequence-models", OURS[2].folder):
        monkeypatch.chdir(place if place != "." else tmp_path)
        assert cli.main(["start", "--copy-only"]) == 0
        assert f"in {tmp_path / 'sequence-models'}\n" in capsys.readouterr().out


def test_what_lies_beside_the_notebooks_is_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "course"
    for name in ("index.ipynb", "03_rnn/03_rnn.ipynb", "03_rnn/solved.ipynb", "03_rnn/.course/progress.json"):
        (package / "notebooks" / name).parent.mkdir(parents=True, exist_ok=True)
        (package / "notebooks" / name).touch()
    monkeypatch.setattr(start.course, "__file__", str(package / "__init__.py"))
    assert start.copy_notebooks(ORIGINAL, tmp_path / "mine") == (1, 0)
    assert files(tmp_path / "mine") == {"index.ipynb", "03_rnn/03_rnn.ipynb"}


def test_ctrl_c_is_left_to_jupyterlab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        signal.raise_signal(signal.SIGINT)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(start.subprocess, "run", interrupted)
    before = signal.getsignal(signal.SIGINT)
    assert start.open_map(tmp_path, []) == 0
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize(("user", "status", "ends"), [(0, 1, 2), (0, 3, 3), (1000, 1, 1)])
def test_root_hears_how_to_start_it(
    user: int,
    status: int,
    ends: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(start.os, "geteuid", lambda: user, raising=False)
    monkeypatch.setattr(start.subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], status))
    assert cli.main(["start", str(tmp_path)]) == ends
    assert ("jupyter lab --allow-root` in" in capsys.readouterr().err) == (ends == 2)


def refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert cli.main(["start", str(folder)]) == 2
    return capsys.readouterr().err


def test_a_file_is_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").touch()
    assert "mine is a file. Name a folder" in refused(tmp_path / "mine", capsys)


def test_a_class_has_notebooks_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in (("course.toml", "[topics.03_rnn]\n"), ("nbgrader_config.py", "")):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    assert "belongs to a class. Open the notebooks that you were given" in refused(tmp_path / "mine", capsys)
    assert not (tmp_path / "mine").exists()


def test_a_package_without_notebooks_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(start.course, "__file__", str(tmp_path / "course" / "__init__.py"))
    assert "Open the notebooks that you were given" in refused(tmp_path / "mine", capsys)


def test_without_jupyterlab_the_notebooks_are_there_and_the_next_step_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(start, "find_spec", lambda name: None)
    assert 'Run pip install "sequence-course[lab]"' in refused(tmp_path, capsys)
    assert files(tmp_path) >= NOTEBOOKS
