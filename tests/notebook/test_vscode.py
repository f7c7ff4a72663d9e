"""In VS Code, where the kernel may start in the folder that is open, a notebook works in its own folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from course.notebook.vscode import NOTEBOOK, notebook_folder

from .test_overwritten import BEGIN, CHECK, run

WHERE = "import os\nprint(os.getcwd())"


def test_checkpoints_and_progress_are_beside_the_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    folder = tmp_path / "assignments" / "06_self_attention"
    folder.mkdir(parents=True)
    told = f"{NOTEBOOK} = {str(folder / '06_self_attention.ipynb')!r}"
    _, imported, checked, where = run(tmp_path, told, BEGIN, CHECK, WHERE)
    now = f"It now works in its own folder, {folder}, so checkpoints go there."
    assert imported == [f"VS Code started this notebook in {tmp_path}. {now}"]
    assert where == [f"{folder}\n"] and "softmax" in checked[0]
    assert (folder / ".course" / "progress.json").is_file() and not (tmp_path / ".course").exists()


def test_a_path_of_another_machine_is_no_folder(tmp_path: Path) -> None:
    assert notebook_folder({NOTEBOOK: str(tmp_path / "mine.ipynb")}) == tmp_path
    assert notebook_folder({NOTEBOOK: str(tmp_path / "away" / "mine.ipynb")}) is None
    assert notebook_folder({}) is None and notebook_folder({NOTEBOOK: None}) is None
