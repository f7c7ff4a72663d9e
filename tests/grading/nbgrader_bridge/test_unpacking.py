"""Archives as students make them, unpacked where they belong and nowhere else."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from course.grading.nbgrader_bridge.unpacking import TolerantExtractor, unpack
from course.problem import Problem


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
    ((place, reason),) = extractor.left.items()
    assert reason.startswith("not unpacked, because it holds ") and reason.endswith(". Ask for it again")
    assert place == tmp_path / "all" / "work.zip" and files(tmp_path / "all") == ["work.zip"], "where it is said to be"


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
    told = f"not unpacked, because it is a {kind} archive, although its name says otherwise. Ask for it again"
    assert extractor.left == {tmp_path / "out" / "work.zip": told}


def test_capitals_end_a_zip_too(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    made(tmp_path, "a.ipynb").rename(tmp_path / "in" / "WORK.ZIP")
    TolerantExtractor().extract(str(tmp_path / "in"), str(tmp_path / "out"))
    assert files(tmp_path / "out") == ["WORK/a.ipynb"]


def extracted(folder: Path, **archives: bytes) -> TolerantExtractor:
    """What becomes of archives in `in/`, by their names with `_` for dots: it lies in `out/`."""
    (folder / "in").mkdir()
    for name, data in archives.items():
        (folder / "in" / name.replace("_", ".")).write_bytes(data)
    extractor = TolerantExtractor()
    extractor.extract(str(folder / "in"), str(folder / "out"))
    return extractor


def test_a_file_that_was_compressed_by_itself(tmp_path: Path) -> None:
    """A notebook, a zip, and one that shares its name with a file that is there; a damaged one is told to be."""
    data = gzip.compress(b"mine")
    archives = {"a_ipynb_gz": data, "b_zip_gz": gzip.compress(made(tmp_path, "b.ipynb").read_bytes())}
    extractor = extracted(tmp_path, **archives, c_ipynb_gz=data, c_ipynb=b"other", d_ipynb_gz=data[:-6])
    names = ["a.ipynb", "b/b.ipynb", "c (1).ipynb", "c.ipynb", "d.ipynb.gz"]
    assert files(tmp_path / "out") == names and (tmp_path / "out" / "c (1).ipynb").read_text() == "mine"
    told = "not unpacked, because it is damaged, encrypted, or not a .gz file. Ask for it again"
    assert extractor.left == {tmp_path / "out" / "d.ipynb.gz": told}


def test_a_compressed_file_fills_no_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("course.grading.nbgrader_bridge.unpacking.LARGEST", 2**20)
    extractor = extracted(tmp_path, a_ipynb_gz=gzip.compress(bytes(2**22)))
    assert [*extractor.left.values()] == ["not unpacked, because it holds more than 1 MB. Ask for it again"]
    assert files(tmp_path / "out") == ["a.ipynb.gz"]


def test_two_archives_of_one_name_stay_apart(tmp_path: Path) -> None:
    """A damaged one removes nothing of the other, and what cannot be unpacked in a zip lies where it is said to."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as archive:
        archive.add(made(tmp_path, "x"), "a.ipynb")
    with zipfile.ZipFile(tmp_path / "both.zip", "w") as packed:
        packed.writestr("inner.zip", b"no zip")
    data = {"work_tar_gz": written.getvalue(), "work_zip": (tmp_path / "both.zip").read_bytes(), "work_gz": b"none"}
    extractor = extracted(tmp_path, **data)
    assert files(tmp_path / "out") == ["work (1)/inner.zip", "work.gz", "work/a.ipynb"]
    assert sorted(extractor.left) == [tmp_path / "out" / "work (1)" / "inner.zip", tmp_path / "out" / "work.gz"]


NOTEBOOK = b'{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'


@pytest.mark.parametrize(
    ("name", "found"),
    [
        *(("a.ipynb.txt", "a.ipynb"), ("a.ipynb.json", "a.ipynb"), ("a.ipynb-1.json", "a-1.ipynb")),
        *(("a.ipynb (2).txt", "a (2).ipynb"), ("a.json", "a.ipynb"), ("a.IPYNB", "a.ipynb"), ("a", "a.ipynb")),
    ],
)
def test_a_notebook_gets_its_ending_back(name: str, found: str, tmp_path: Path) -> None:
    """What a browser or a phone has made of it; inside a zip, too. What is no notebook stays."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / name).write_bytes(NOTEBOOK)
    with zipfile.ZipFile(tmp_path / "in" / "work.zip", "w") as packed:
        packed.writestr(name, NOTEBOOK)
        packed.writestr("data.json", b'{"nbformat": "none"}')
        packed.writestr("notes.txt", b"nbformat and cells")
    TolerantExtractor().extract(str(tmp_path / "in"), str(tmp_path / "out"))
    assert files(tmp_path / "out") == sorted([found, "work/data.json", "work/notes.txt", f"work/{found}"])


def test_what_the_submit_command_packed_keeps_its_name(tmp_path: Path) -> None:
    """The notebook reads it. A name that is there already is not taken either."""
    (tmp_path / "in").mkdir()
    with zipfile.ZipFile(tmp_path / "in" / "work.zip", "w") as packed:
        packed.writestr("data.json", NOTEBOOK)
        packed.writestr("submission.json", b"{}")
    for name in ("a.ipynb", "a.ipynb.txt"):
        (tmp_path / "in" / name).write_bytes(NOTEBOOK)
    TolerantExtractor().extract(str(tmp_path / "in"), str(tmp_path / "out"))
    assert files(tmp_path / "out") == ["a.ipynb", "a.ipynb.txt", "work/data.json", "work/submission.json"]
