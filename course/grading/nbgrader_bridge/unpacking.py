"""Unpack downloaded files for `nbgrader zip_collect`: each student's archive into its own folder.

An archive that cannot be unpacked is copied to `extracted/` unchanged.
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
from course.problem import Problem

DENSEST = 100
"""How many times its own size an archive may unpack to, above `LARGEST` bytes; notebooks reach about ten times."""

DISGUISED = {b"Rar!\x1a\x07": "a RAR archive", b"7z\xbc\xaf\x27\x1c": "a 7z archive"}
"""The first bytes of other archives that students name .zip, and what they are."""

GZIP = b"\x1f\x8b"
"""The first bytes of a gzip file."""

DEEPEST = 3
"""The deepest nesting of archives: a platform's download, a student's own zip, and an archive in that zip."""


class TolerantExtractor(ExtractorPlugin):
    """nbgrader's extractor, except that it continues after an archive that cannot be unpacked."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.left: dict[Path, str] = {}
        """Why archives could not be unpacked, by the path where each lies now."""

    def extract(self, archive_path: str, extracted_path: str) -> None:
        """Unpack or copy everything below `archive_path` to the same place below `extracted_path`.

        A fault of the machine, such as a full disk, exits the program, because it is not the archive's fault.
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
                with contextlib.suppress(PermissionError):  # unreadable, so not unpacked either
                    shutil.copy(path, place)
        _rename_notebooks(target)

    def _unpack(self, archive: Path, there: Path, level: int) -> bool:
        """Unpack an archive and its inner archives beside `there`, its place in `extracted/`; return whether it worked.

        Archives of several files get a folder of their own.
        """
        is_one_file = _is_one_file(archive)
        place = _free(there.with_name(archive.stem.removesuffix(".tar")), is_one_file)
        try:
            if level > DEEPEST:
                raise Problem(f"it is an archive inside {level - 1} others")
            unpack(archive, place)
        except Exception as error:  # zipfile and tarfile raise many types
            if stops_all(error):
                raise
            damaged = f"it is damaged, encrypted, or not a {archive.suffix} file"
            reason = str(error) if isinstance(error, Problem) else damaged
            self.left[there] = f"not unpacked, because {reason}. Ask for it again"
            remove(place)
            return False
        if (place / MANIFEST).is_file():  # archives in a zip of `course submit` are data
            return True
        inside = [place] if is_one_file else [path for path in everything(place) if not _is_of_a_system(path, place)]
        for path in inside:
            is_archive = path.suffix.lower() in self.zip_ext and path.is_file() and not path.is_symlink()
            if is_archive and self._unpack(path, path, level + 1):
                path.unlink()
        return True


def _free(place: Path, is_one_file: bool) -> Path:
    """Return the first of `work`, `work (1)` and so on that does not exist, because archives may share a name."""
    stem, suffix = (place.stem, place.suffix) if is_one_file else (place.name, "")
    number = 0
    while place.exists():
        number += 1
        place = place.with_name(f"{stem} ({number}){suffix}")
    return place


def _rename_notebooks(folder: Path) -> None:
    """Restore the ending of notebooks that browsers and other programs renamed, such as `a.ipynb.txt`."""
    for path in list(everything(folder)):
        if is_misnamed_notebook(path) and not (path.parent / MANIFEST).exists():
            place = path.with_name(notebook_name(path.name))
            if not place.exists():
                path.rename(place)


def _is_of_a_system(path: Path, folder: Path) -> bool:
    return is_of_a_system(path.relative_to(folder))


def unpack(archive: Path, place: Path) -> None:
    """Unpack a zip or a tar into the folder `place`, or a single gzipped file to the file `place`.

    Raises:
        Problem: the archive is empty, would fill the disk, writes outside `place`, or is of another kind.
        Exception: the archive is damaged, for which zipfile and tarfile raise many different types.
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
    """Return whether a file is a single gzipped file, and not a tar, which holds several."""
    try:
        with archive.open("rb") as file:
            if file.read(len(GZIP)) != GZIP or archive.stem.endswith(".tar"):
                return False
        with tarfile.open(archive) as packed:
            return packed.next() is None
    except (tarfile.TarError, OSError, EOFError, zlib.error):  # `unpack` raises these again
        return True


def _decompress(archive: Path, place: Path) -> None:
    """Write the file in a gzip archive to `place`.

    Raises:
        Problem: the file would fill the disk.
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
        Problem: the archive unpacks to far more than its own size.
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
    """Return the most bytes that an archive may unpack to."""
    return max(LARGEST, DENSEST * archive.stat().st_size)
