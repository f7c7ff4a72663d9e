"""Archives as students make them, unpacked where they belong and nowhere else."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from course.grading.nbgrader_bridge.unpacking import TolerantExtractor, unpack
from course.grading.problem import Problem


def made(folder: Path, *names: str) -> Path:
    """A zip whose entries are called as they are: `ZipInfo` changes no letter of a name that it is given later."""
    path = folder / "work.zip"
    with zipfile.ZipFile(path, "w") as packed:
        for name in names:
            entry = zipfile.ZipInfo("x")
            entry.filename = name
            packed.writestr(entry, "" if name.endswith(("/", "\\")) else name)
    return path


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_windows_powershell_writes_backslashes(tmp_path: Path) -> None:
    """`Compress-Archive` of Windows PowerShell 5, which parts folders by them and lists folders so, too."""
    unpack(made(tmp_path, "checkpoints\\", "checkpoints\\a.safetensors", "a.ipynb", "figs\\b\\c.png"), tmp_path / "out")
    assert files(tmp_path / "out") == ["a.ipynb", "checkpoints/a.safetensors", "figs/b/c.png"]
    assert (tmp_path / "out" / "figs" / "b" / "c.png").read_text() == "figs\\b\\c.png"


@pytest.mark.parametrize(
    "name",
    [
        *("../out.txt", "a/../../out.txt", "..\\out.txt", "a\\..\\..\\out.txt", "..\\"),
        *("/tmp/out.txt", "\\out.txt", "C:\\out.txt", "C:out.txt", "\\\\server\\share\\out.txt"),
    ],
)
def test_nothing_is_written_outside(name: str, tmp_path: Path) -> None:
    (tmp_path / "inbox").mkdir()
    archive = made(tmp_path / "inbox", "a.ipynb", name)
    with pytest.raises(Problem, match=r"^it holds .*, which does not stay in the archive's folder$"):
        unpack(archive, tmp_path / "out" / "work")
    assert not list(tmp_path.rglob("out.txt"))
    extractor = TolerantExtractor()
    extractor.extract(str(tmp_path / "inbox"), str(tmp_path / "all"))
    (left,) = extractor.left
    assert left.startswith("work.zip cannot be unpacked: it holds ") and left.endswith(". Ask for it again.")
    assert files(tmp_path / "all") == []


def test_a_link_becomes_a_file_and_rights_are_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "work.zip"
    with zipfile.ZipFile(path, "w") as packed:
        for name, mode in (("link.ipynb", 0o120777), ("locked.ipynb", 0o100000)):
            entry = zipfile.ZipInfo(name)
            entry.external_attr = mode << 16
            packed.writestr(entry, "/etc/passwd")
    unpack(path, tmp_path / "out")
    for name in ("link.ipynb", "locked.ipynb"):
        place = tmp_path / "out" / name
        assert not place.is_symlink() and place.stat().st_mode & 0o600 == 0o600
        assert place.read_text() == "/etc/passwd"


@pytest.mark.parametrize(("mark", "kind"), [(b"Rar!\x1a\x07\x01\x00", "RAR"), (b"7z\xbc\xaf\x27\x1c\x00", "7z")])
def test_a_rar_or_7z_that_is_called_zip_is_told_to_be_one(mark: bytes, kind: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "work.zip").write_bytes(mark)
    extractor = TolerantExtractor()
    extractor.extract(str(tmp_path / "in"), str(tmp_path / "out"))
    told = f"work.zip cannot be unpacked: it is a {kind} archive, although its name says otherwise. Ask for it again."
    assert extractor.left == [told]


def test_capitals_end_a_zip_too(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    made(tmp_path, "a.ipynb").rename(tmp_path / "in" / "WORK.ZIP")
    TolerantExtractor().extract(str(tmp_path / "in"), str(tmp_path / "out"))
    assert files(tmp_path / "out") == ["WORK/a.ipynb"]
