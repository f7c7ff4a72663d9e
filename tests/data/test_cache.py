"""The cache on disk costs only time, wherever it is and whoever may read it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from datasets import Dataset

from course.data import cache


@pytest.fixture
def homeless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """No HOME, and no entry in the list of users; returns the folder for temporary files."""

    def unknown(path: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("COURSE_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "expanduser", unknown)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    cache.temporary_cache.cache_clear()
    yield tmp_path
    cache.temporary_cache.cache_clear()


def test_a_cache_that_may_not_be_read_costs_only_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a folder is there cannot be seen in one that may not be looked into: Pythons before 3.14 raise then."""

    def refuse(path: Path, **_: object) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    monkeypatch.setattr(Path, "is_dir", refuse)
    assert cache.kept("numbers", lambda: Dataset.from_dict({"n": [1, 2, 3]}))["n"][:] == [1, 2, 3]


def test_who_has_no_home_has_a_cache_of_their_own_among_the_temporary_files(homeless: Path) -> None:
    folder = cache.cache_folder()
    assert folder.parent == homeless and folder.stat().st_mode & 0o777 == 0o700
    cache.temporary_cache.cache_clear()
    assert cache.cache_folder() == folder, "the next process finds it again"


def test_a_folder_that_somebody_else_may_write_to_is_no_cache(homeless: Path) -> None:
    folder = cache.cache_folder()
    folder.rmdir()
    (homeless / "theirs").mkdir()
    folder.symlink_to(homeless / "theirs")
    cache.temporary_cache.cache_clear()
    assert cache.cache_folder().resolve() not in (folder, homeless / "theirs")
