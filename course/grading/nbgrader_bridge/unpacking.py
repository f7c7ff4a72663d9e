"""How `nbgrader zip_collect` unpacks what was downloaded: archives that students made, each into its own folder.

What cannot be unpacked lies in `extracted/` as it is.
"""

from __future__ import annotations

import contextlib
import gzip
import shutil
import sys
import tarfile
import zipfile
import zlib
from pathlib import Path, PureWindowsPath
from typing import Any

from nbgrader.plugins import ExtractorPlugin
from nbgrader.utils import unzip

from course.grading.intake.needed_files import MANIFEST
from course.grading.intake.untrusted import (
    LARGEST,
    everything,
    holds_work,
    is_misnamed_notebook,
    is_of_a_system,
    notebook_name,
    printable,
    remove,
)
from course.grading.machine.faults import advice_for, stops_all
from course.grading.problem import Problem

DENSEST = 100
"""How many times larger than itself an archive may become, above `LARGEST` bytes: notebooks become ten times larger."""

DISGUISED = {b"Rar!\x1a\x07": "a RAR archive", b"7z\xbc\xaf\x27\x1c": "a 7z archive"}
"""How archives begin that some call .zip, and what they are."""

GZIP = b"\x1f\x8b"
"""How a file begins that `gzip` made."""

DEEPEST = 3
"""Archives in archives: a platform's download, somebody's own zip, and what they packed into that."""


class TolerantExtractor(ExtractorPlugin):
    """nbgrader's extractor, which stops at the first archive that cannot be unpacked, made to go on."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.left: dict[Path, str] = {}
        """Why an archive could not be unpacked, and where it lies now."""

    def extract(self, archive_path: str, extracted_path: str) -> None:
        """Unpack or copy everything below `archive_path` to the same place below `extracted_path`.

        A machine that cannot, as its disk is full, ends it: no archive is to blame.
        """
        try:
            self._extract(Path(archive_path), Path(extracted_path))
        except OSError as error:
            if not stops_all(error):
                raise
            sys.exit(
                f"nbgrader zip_collect: {advice_for(error)}. Then run it again with --force, which starts "
                "from the beginning"
            )

    def _extract(self, source: Path, target: Path) -> None:
        files = [path for path in everything(source) if path.is_file() and not _is_of_a_system(path, source)]
        if not files:
            self.log.warning("No files found in directory: %s", source)
        for path in files:
            place = target / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix.lower() not in self.zip_ext:
                shutil.copy(path, place)
                continue
            self.log.info("Extracting from: %s", path)
            if not self._unpack(path, place, 1):
                with contextlib.suppress(PermissionError):  # why it is not unpacked
                    shutil.copy(path, place)
        _rename_notebooks(target)

    def _unpack(self, archive: Path, there: Path, level: int) -> bool:
        """Unpack an archive beside `there`, its place in `extracted/`, and those in it; returns whether that went.

        Archives of several files get a folder of their own.
        """
        is_one_file = _is_one_file(archive)
        place = _free(there.with_name(archive.stem.removesuffix(".tar")), is_one_file)
        try:
            if level > DEEPEST:
                raise Problem(f"it is an archive inside {level - 1} others")
            unpack(archive, place)
        except Exception as error:  # zipfile and tarfile have a dozen ways to say it
            if stops_all(error):
                raise
            damaged = f"it is damaged, encrypted, or not a {archive.suffix} file"
            reason = str(error) if isinstance(error, Problem) else damaged
            self.left[there] = f"not unpacked, because {reason}. Ask for it again"
            remove(place)
            return False
        if (place / MANIFEST).is_file():  # an archive in what `course submit` packed is data of its notebook
            return True
        inside = [place] if is_one_file else [path for path in everything(place) if not _is_of_a_system(path, place)]
        for path in inside:
            is_archive = path.suffix.lower() in self.zip_ext and path.is_file() and not path.is_symlink()
            if is_archive and self._unpack(path, path, level + 1):
                path.unlink()
        return True


def _free(place: Path, is_one_file: bool) -> Path:
    """The first of `work`, `work (1)` and so on that does not exist: two archives may have one name."""
    stem, suffix = (place.stem, place.suffix) if is_one_file else (place.name, "")
    number = 0
    while place.exists():
        number += 1
        place = place.with_name(f"{stem} ({number}){suffix}")
    return place


def _rename_notebooks(folder: Path) -> None:
    """Give notebooks that browsers and other programs have renamed, such as `a.ipynb.txt`, their ending back."""
    for path in list(everything(folder)):
        if is_misnamed_notebook(path) and not (path.parent / MANIFEST).exists():
            place = path.with_name(notebook_name(path.name))
            if not place.exists():
                path.rename(place)


def _is_of_a_system(path: Path, folder: Path) -> bool:
    return is_of_a_system(path.relative_to(folder))


def unpack(archive: Path, place: Path) -> None:
    """Unpack a zip or a tar into the folder `place`, or the one file that was compressed by itself to there.

    Raises:
        Problem: it is empty, would fill the disk, write outside `place`, or is an archive of another kind.
        Exception: zipfile and tarfile have a dozen ways to say that it is damaged, or none.
    """
    if not archive.stat().st_size:
        raise Problem("no work is in it")
    if _is_one_file(archive):
        _decompress(archive, place)
        return
    _refuse_disguised(archive)
    _refuse_huge(archive)
    place.mkdir(parents=True, exist_ok=True)
    if zipfile.is_zipfile(archive):
        _unzip(archive, place)
    else:
        unzip(str(archive), str(place), zip_ext=[archive.suffix])
    if not holds_work(place):
        raise Problem("no work is in it")


def _is_one_file(archive: Path) -> bool:
    """Whether a file was compressed by itself, as `gzip` does; a tar would hold several."""
    try:
        with archive.open("rb") as file:
            if file.read(len(GZIP)) != GZIP or archive.stem.endswith(".tar"):
                return False
        with tarfile.open(archive) as packed:
            return packed.next() is None
    except (tarfile.TarError, OSError, EOFError, zlib.error):  # which `unpack` meets again
        return True


def _decompress(archive: Path, place: Path) -> None:
    """Write the one file in an archive to `place`.

    Raises:
        Problem: it would fill the disk.
    """
    most = _most(archive)
    with gzip.open(archive) as source, place.open("xb") as written:
        while block := source.read(2**20):
            if written.tell() + len(block) > most:
                raise Problem(f"it holds more than {most / 2**20:.0f} MB")
            written.write(block)


def _unzip(archive: Path, place: Path) -> None:
    r"""Unpack a zip, in whose names Windows may have written \ between folders; links become plain files."""
    with zipfile.ZipFile(archive) as packed:
        for entry in packed.infolist():
            name = entry.filename.replace("\\", "/")
            target = place / name
            if ".." in target.parts or PureWindowsPath(name).anchor:
                raise Problem(f"it holds {printable(entry.filename)}, which does not stay in the archive's folder")
            if name.endswith("/"):
                target.mkdir(parents=True, exist_ok=True)
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            with packed.open(entry) as source, target.open("wb") as written:
                shutil.copyfileobj(source, written)


def _refuse_disguised(archive: Path) -> None:
    with archive.open("rb") as file:
        beginning = file.read(8)
    for mark, kind in DISGUISED.items():
        if beginning.startswith(mark):
            raise Problem(f"it is {kind}, although its name says otherwise")


def _refuse_huge(archive: Path) -> None:
    """Refuse an archive that would fill the disk.

    Raises:
        Problem: it becomes far larger than itself.
    """
    most = _most(archive)
    size = 0
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            size = sum(entry.file_size for entry in packed.infolist())
    elif tarfile.is_tarfile(archive):
        with tarfile.open(archive) as packed_tar:
            for entry in packed_tar:
                size += entry.size
                if size > most:
                    break
    if size > most:
        raise Problem(f"it holds {size / 2**20:.0f} MB or more")


def _most(archive: Path) -> int:
    """The bytes that an archive may become."""
    return max(LARGEST, DENSEST * archive.stat().st_size)
