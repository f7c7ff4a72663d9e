"""What `course doctor` says of memory, disk and folders."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from course.data.language_model import fetch
from course.grading.machine import doctor
from course.grading.machine.doctor import GIB
from course.grading.machine.resources import memory_at_hand


@pytest.mark.parametrize(("gib", "kind"), [(0, "note"), (0.5, "wrong"), (1.5, "note"), (1.95, "fine"), (16, "fine")])
def test_memory(gib: float, kind: str) -> None:
    assert doctor.memory(gib * GIB).kind == kind


def test_a_hubs_limit_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEM_LIMIT", str(GIB // 2))
    assert doctor.memory(memory_at_hand()).kind == "wrong"


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


def test_a_folder_that_may_not_be_looked_into(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen = Path.is_dir

    def refuse(path: Path, **options: bool) -> bool:
        if path.parent == tmp_path:
            raise PermissionError(13, "Permission denied", str(path))
        return seen(path, **options)

    monkeypatch.setattr(Path, "is_dir", refuse)
    assert doctor.existing(tmp_path / "theirs") == tmp_path
    (found,) = doctor.writable(tmp_path / "theirs")
    assert found.kind == "wrong" and found.what == "folder"


def test_weights_are_downloaded_or_not_or_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    (found,) = doctor.language_model()
    assert found.kind == "fine" and "not here, and no notebook needs it" in found.said
    fetch.kept().write_bytes(b"GGUF and no more")
    (found,) = doctor.language_model()
    assert found.kind == "note" and "damaged" in found.said and "download=True" in found.advice
    monkeypatch.setattr(fetch, "SIZE", 16)
    monkeypatch.setattr(fetch, "SHA256", hashlib.sha256(b"GGUF and no more").hexdigest())
    (found,) = doctor.language_model()
    assert found.kind == "fine" and found.said == f"SmolLM2-135M-Instruct is in {tmp_path}"
