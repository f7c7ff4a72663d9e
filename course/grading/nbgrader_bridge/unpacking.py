"""How `nbgrader zip_collect` unpacks what was downloaded: archives that students made, each into its own folder."""

from __future__ import annotations

import shutil
import sys
import tarfile
import zipfile
from pathlib import Path, PureWindowsPath
from typing import Any

from nbgrader.plugins import ExtractorPlugin
from nbgrader.utils import unzip

from course.grading.intake.needed_files import MANIFEST
from course.grading.intake.untrusted import LARGEST, everything, is_of_a_system, printable, remove
from course.grading.machine.faults import advice_for, stops_all
from course.grading.problem import Problem

DENSEST = 100
"""How many times larger than itself an archive may become, above `LARGEST` bytes: notebooks become ten times larger."""

DISGUISED = {b"Rar!\x1a\x07": "a RAR archive", b"7z\xbc\xaf\x27\x1c": "a 7z archive"}
"""How archives begin that some call .zip, and what they are."""

DEEPEST = 3
"""Archives in archives: a platform's download, somebody's own zip, and what they packed into that."""


class TolerantExtractor(ExtractorPlugin):
    """nbgrader's extractor, which stops at the first archive that cannot be unpacked, made to go on."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.left: list[str] = []
        """A sentence for each archive that could not be unpacked."""
        self._roots: tuple[Path, ...] = ()

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
        self._roots = source, target
        files = [path for path in everything(source) if path.is_file() and not _is_of_a_system(path, source)]
        if not files:
            self.log.warning("No files found in directory: %s", source)
        for path in files:
            place = target / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix.lower() in self.zip_ext:
                self.log.info("Extracting from: %s", path)
                self._unpack(path, place.parent, 1)
            else:
                shutil.copy(path, place)

    def _unpack(self, archive: Path, folder: Path, level: int) -> None:
        """Unpack an archive into a folder of its own in `folder`, and those in it."""
        place = folder / archive.stem.removesuffix(".tar")
        try:
            if level > DEEPEST:
                raise Problem(f"it is an archive inside {level - 1} others")
            unpack(archive, place)
        except Exception as error:  # zipfile and tarfile have a dozen ways to say it
            if stops_all(error):
                raise
            reason = (
                str(error)
                if isinstance(error, Problem)
                else f"it is damaged, encrypted, or not a {archive.suffix} file"
            )
            path = next(archive.relative_to(root) for root in self._roots if archive.is_relative_to(root))
            self.left.append(f"{printable(str(path))} cannot be unpacked: {reason}. Ask for it again.")
            remove(place)
            return
        if (place / MANIFEST).is_file():  # an archive in what `course submit` packed is data of its notebook
            return
        for path in [path for path in everything(place) if not _is_of_a_system(path, place)]:
            if path.suffix.lower() in self.zip_ext and path.is_file() and not path.is_symlink():
                self._unpack(path, path.parent, level + 1)
                path.unlink()


def _is_of_a_system(path: Path, folder: Path) -> bool:
    return is_of_a_system(path.relative_to(folder))


def unpack(archive: Path, place: Path) -> None:
    """Unpack a zip or a tar into the folder `place`.

    Raises:
        Problem: it would fill the disk, write outside `place`, or is an archive of another kind.
        Exception: zipfile and tarfile have a dozen ways to say that it is damaged, or none.
    """
    _refuse_disguised(archive)
    _refuse_huge(archive)
    place.mkdir(parents=True, exist_ok=True)
    if zipfile.is_zipfile(archive):
        _unzip(archive, place)
    else:
        unzip(str(archive), str(place), zip_ext=[archive.suffix])


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
    most = max(LARGEST, DENSEST * archive.stat().st_size)
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
