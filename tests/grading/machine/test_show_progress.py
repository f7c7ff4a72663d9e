"""`course progress`: what `progress()` says, at the shell, from wherever the notebooks are near."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from course.cli import main
from course.grading.machine import show_progress
from course.notebook.folder import chosen_path, keep_grade
from course.notebook.progress import progress
from course.study_paths import PATHS
from course.syllabus import OURS
from tests.original import find_topic

ROOT = Path(__file__).parents[3]


def with_notebooks(home: Path) -> Path:
    for topic in OURS:
        (home / topic.folder).mkdir(parents=True)
        (home / topic.folder / f"{topic.folder}.ipynb").write_text("{}")
    return home


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of notebooks in the working folder, one of them graded."""
    monkeypatch.chdir(tmp_path)
    home = with_notebooks(tmp_path / "sequence-models")
    keep_grade(home / "01_markov_ngrams", "01_markov_ngrams", score=18.25, points=19.0, earned={})
    return home


def printed(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(["progress", *argv]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("where", [".", "..", "06_self_attention"])
def test_it_says_what_progress_says_in_the_notebooks_folder(
    where: str, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(home)
    progress()
    said = capsys.readouterr().out
    assert "18.25 of 19 points" in said and "Begin with 1 Markov n-grams." in said
    monkeypatch.chdir(home / where)
    assert printed(capsys) == f"{said}Four paths go through the course in six weeks. {HOW}\n"


HOW = "`course progress --path language` chooses one."


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_a_path_is_chosen_and_remembered_for_the_map(
    path: object, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name, folders = path.name, path.folders  # type: ignore[attr-defined]
    chosen = printed(capsys, "--path", name, "sequence-models")
    assert [int(line.split()[1]) for line in chosen.splitlines()[:-2]] == [find_topic(one).number for one in folders]
    assert chosen_path(home) == name and printed(capsys) == chosen
    monkeypatch.chdir(home)
    progress()
    assert capsys.readouterr().out == chosen
    assert HOW in printed(capsys, "--path", "") and chosen_path(home) == ""


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(["progress", *argv]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


def test_bad_input_gets_one_sentence(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "no path 'chess'. Its paths are 'language', 'vision', 'efficiency'" in refused(capsys, "--path", "chess")
    assert chosen_path(home) == ""
    assert "nowhere is no folder. Name the one with your notebooks" in refused(capsys, "nowhere")
    (tmp_path / "a file").touch()
    assert "a file is no folder" in refused(capsys, "a file")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert "empty has no notebooks of the course" in refused(capsys)
    with_notebooks(tmp_path / "mine")
    monkeypatch.chdir(tmp_path)
    assert "(mine, sequence-models). Name one: course progress mine" in refused(capsys)
    monkeypatch.setattr(show_progress, "choose_path", lambda name, home: False)
    assert "cannot remember the path. Check that you may write in" in refused(capsys, "mine", "--path", "vision")


def test_it_does_not_wait_for_torch(home: Path) -> None:
    code = "import sys; from course.cli import main; main(['progress']); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, env={"PYTHONPATH": str(ROOT)})
