"""`course submit` on Colab, which keeps the notebook somewhere else and deletes its machine after a session."""

from __future__ import annotations

import shlex
import zipfile
from pathlib import Path

import pytest
import torch

from course import cli
from course.notebook.checkpoint import save
from tests.grading.lesson import NAME, TOPIC, release_path

ROOT = Path(__file__).parents[3]
WEIGHTS = f"checkpoints/{TOPIC.name}_task.safetensors"


@pytest.fixture
def content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Colab's `/content` after a training: a checkpoint, its own sample data, and no notebook."""
    folder = tmp_path / "content"
    (folder / "sample_data").mkdir(parents=True)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLAB_RELEASE_TAG", "release-colab")
    monkeypatch.setattr("course.grading.intake.submit.DRIVE", folder / "drive" / "MyDrive" / "Colab Notebooks")
    save(Path(WEIGHTS), torch.nn.Linear(2, 3), {"losses": []})
    return folder


def _place(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(release_path(ROOT, TOPIC).read_bytes())


def _submit(capsys: pytest.CaptureFixture[str], what: str = NAME) -> tuple[int, str]:
    status = cli.main(["submit", what, "--student", "ada", "--blank"])
    said = capsys.readouterr()
    return status, said.err or said.out


def test_where_there_is_no_notebook_it_says_how_it_comes_there(
    content: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, said = _submit(capsys)
    assert status == 2 and said.count("\n") == 1
    assert f"there is no {NAME}.ipynb here, because Colab does not keep your notebook on this machine" in said
    assert "Download it (File > Download), drop it into the Files pane" in said


@pytest.mark.parametrize("place", [f"{NAME}.ipynb", f"drive/MyDrive/Colab Notebooks/{NAME}.ipynb"])
def test_a_downloaded_notebook_or_one_in_the_mounted_drive_is_packed_with_the_checkpoint(
    place: str, content: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _place(content / place)
    status, said = _submit(capsys)
    (archive,) = content.glob("*.zip")
    assert zipfile.ZipFile(archive).namelist() == [f"{NAME}.ipynb", WEIGHTS, "submission.json"]
    assert status == 1 and "there is no checkpoint" not in said
    assert said.endswith(
        f"\n\nColab deletes {archive.name} with this machine. Download it from the Files pane (the folder icon on the "
        "left) before you leave.\n"
    )


@pytest.mark.parametrize("folder", ["", "drive/MyDrive/Colab Notebooks"])
def test_a_notebook_under_another_name_is_named(folder: str, content: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = (content if folder else Path()) / folder / f"Copy of {NAME}.ipynb"
    _place(other)
    status, said = _submit(capsys)
    assert (
        status == 2
        and f"there is no {NAME}.ipynb here. Did you mean `course submit {shlex.quote(str(other))}`?" in said
    )
    assert _submit(capsys, str(other))[0] == 1 and len(list(content.glob("*.zip"))) == 1
