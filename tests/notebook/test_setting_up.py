"""What is missing is installed, and what is there stays as it is."""

from __future__ import annotations

import os
import subprocess
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

import course
from course.notebook import setting_up

REQUIRED = ["torch>=2.4", "einops>=0.7", "babel>=2.14", 'rich>=13; extra == "grading"']
HERE = {"torch": "2.9.0+cu126", "einops": "0.6.1", "fsspec": "2025.3.0", "Send2Trash": "1.8"}


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment that brings its own torch, an old einops, and no babel."""

    def version(name: str) -> str:
        if name not in HERE:
            raise setting_up.PackageNotFoundError(name)
        return HERE[name]

    found = [SimpleNamespace(metadata={"Name": name}, version=number) for name, number in HERE.items()]
    monkeypatch.setattr(setting_up, "version", version)
    monkeypatch.setattr(setting_up, "requires", lambda _: REQUIRED)
    monkeypatch.setattr(setting_up, "distributions", lambda: found)


def _pip(monkeypatch: pytest.MonkeyPatch, status: int = 0, said: str = "") -> list[tuple[list[str], str]]:
    """Stands in for pip; what it was asked, and what it was told to leave as it is."""
    asked: list[tuple[list[str], str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        held = Path(command[command.index("--constraint") + 1])
        asked.append((command[command.index("--constraint") + 2 :], held.read_text()))
        return subprocess.CompletedProcess(command, status, "", said)

    monkeypatch.setattr(setting_up.subprocess, "run", run)
    return asked


def test_nothing_is_missing_here() -> None:
    assert setting_up.missing() == []


def test_only_the_base_counts_and_a_local_version_is_a_version(elsewhere: None) -> None:
    assert setting_up.missing() == ["einops>=0.7", "babel>=2.14"]


def test_all_that_is_there_stays_as_it_is(
    elsewhere: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = _pip(monkeypatch)
    course.set_up()
    assert asked == [(["einops>=0.7", "babel>=2.14"], "fsspec==2025.3.0\nsend2trash==1.8\ntorch==2.9.0+cu126")]
    said = capsys.readouterr().out
    assert said.startswith("The course is installed, and with it einops, babel. It computes on the ")
    assert said.count("\n") == 1


def test_numpy_1_gets_a_pyarrow_that_it_can_import(elsewhere: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """pyarrow 26 refuses numpy 1 when it is imported, and pip does not know that."""
    for version, held in (("1.26.4", True), ("2.1.0", False)):
        monkeypatch.setitem(HERE, "numpy", version)
        found = [SimpleNamespace(metadata={"Name": name}, version=number) for name, number in HERE.items()]
        monkeypatch.setattr(setting_up, "distributions", lambda found=found: found)
        assert ("pyarrow<26" in setting_up.held_versions([])) == held


def test_what_pip_cannot_do_is_told_in_a_sentence(elsewhere: None, monkeypatch: pytest.MonkeyPatch) -> None:
    _pip(monkeypatch, 1, "WARNING: slow\nERROR: No matching distribution found for babel\n")
    with pytest.raises(RuntimeError, match=r"install einops, babel: No matching .* babel\. Fix that, and then run"):
        course.set_up()
    _pip(monkeypatch, 1, "/usr/bin/python3: No module named pip\n")
    with pytest.raises(RuntimeError, match=r"babel: /usr/bin/python3: No module named pip\. Fix that"):
        course.set_up()


def test_without_a_network_it_says_what_is_missing_and_what_to_do(
    elsewhere: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    _pip(monkeypatch, 1, "WARNING: Retrying (Retry(total=0, connect=None)) after\nERROR: No matching distribution\n")
    with pytest.raises(RuntimeError, match=r"^The course needs einops, babel, and this machine cannot download") as met:
        course.set_up()
    assert "Turn the internet on, or put their .whl files beside this notebook" in str(met.value)
    assert "Traceback" not in "\n".join(met.value._render_traceback_())


def test_wheels_beside_the_notebook_and_among_kaggles_inputs_need_no_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With pip itself, and an index that does not answer."""
    place = tmp_path / "input" / "for-class" / "tiny_part-1.0-py3-none-any.whl"
    place.parent.mkdir(parents=True)
    with zipfile.ZipFile(place, "w") as wheel:
        wheel.writestr("tiny_part.py", "")
        wheel.writestr("tiny_part-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny-part\nVersion: 1.0\n")
        wheel.writestr(
            "tiny_part-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr("tiny_part-1.0.dist-info/RECORD", "")
    offline = {"CONFIG_FILE": os.devnull, "INDEX_URL": "https://127.0.0.1:9/simple", "TARGET": str(tmp_path / "into")}
    for name, value in offline.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.setattr(setting_up, "KAGGLE_INPUTS", tmp_path / "input")
    setting_up.install(["tiny-part>=1"])
    assert (tmp_path / "into" / "tiny_part.py").is_file()


def test_where_nothing_is_missing_pip_is_not_called(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = _pip(monkeypatch)
    course.set_up()
    assert asked == [] and capsys.readouterr().out.startswith("The course is installed. It computes on")
