"""How `nbgrader zip_collect` unpacks what was downloaded: one bad archive is told, and the others are collected."""

from __future__ import annotations

import shutil
import sys
import tarfile
import zipfile
from pathlib import Path

from nbgrader.plugins import ExtractorPlugin
from nbgrader.utils import unzip

from course.grading.fault import stops_all, told
from course.grading.problem import Problem
from course.grading.untrusted import LARGEST, everything, printable, remove

DENSEST = 100
"""How many times larger than itself an archive may become, above `LARGEST` bytes: notebooks become ten times larger."""

DEEPEST = 3
"""Archives in archives: a platform's download, somebody's own zip, and what they packed into that."""


class EachAlone(ExtractorPlugin):
    """nbgrader's extractor, which stops at the first archive that cannot be unpacked, made to go on."""

    def extract(self, archive_path: str, extracted_path: str) -> None:
        """Unpack or copy everything below `archive_path` to the same place below `extracted_path`.

        A machine that cannot, as its disk is full, ends it: no archive is to blame.
        """
        try:
            self._extract(Path(archive_path), Path(extracted_path))
        except OSError as error:
            if not stops_all(error):
                raise
            sys.exit(f"nbgrader zip_collect: {told(error)}; then run it again with --force, which begins anew")

    def _extract(self, source: Path, target: Path) -> None:
        self.failed = 0
        files = [path for path in everything(source) if path.is_file()]
        if not files:
            self.log.warning("No files found in directory: %s", source)
        for path in files:
            place = target / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix in self.zip_ext:
                self.log.info("Extracting from: %s", path)
                self._unpack(path, place.parent, 1)
            else:
                shutil.copy(path, place)
        if self.failed:
            count = f"{self.failed} archive{'s were' if self.failed > 1 else ' was'}"
            self.log.error("%s left out, as said above; all others are collected", count)

    def _unpack(self, archive: Path, folder: Path, level: int) -> None:
        """Unpack an archive into a folder of its own in `folder`, and those in it."""
        place = folder / archive.stem.removesuffix(".tar")
        try:
            _refuse(archive, level)
            unzip(str(archive), str(folder), zip_ext=self.zip_ext, create_own_folder=True)
        except Exception as error:  # zipfile and tarfile have a dozen ways to say it
            if stops_all(error):
                raise
            self.failed += 1
            reason = str(error) if isinstance(error, Problem) else f"it is damaged, encrypted, or no {archive.suffix}"
            self.log.error("%s cannot be unpacked: %s. Ask for it again.", printable(archive.name), reason)
            remove(place)
            return
        for path in list(everything(place)):
            if path.suffix in self.zip_ext and path.is_file() and not path.is_symlink():
                self._unpack(path, path.parent, level + 1)


def _refuse(archive: Path, level: int) -> None:
    """Refuse an archive that would fill the disk.

    Raises:
        Problem: it becomes far larger than itself, or is an archive in an archive in an archive, and so on.
    """
    if level > DEEPEST:
        raise Problem(f"it is packed {level} times over")
    size = 0
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as packed:
            size = sum(entry.file_size for entry in packed.infolist())
    elif tarfile.is_tarfile(archive):
        with tarfile.open(archive) as packed_tar:
            for entry in packed_tar:
                size += entry.size
                if size > max(LARGEST, DENSEST * archive.stat().st_size):
                    break
    if size > max(LARGEST, DENSEST * archive.stat().st_size):
        raise Problem(f"it holds {size / 2**20:.0f} MB or more")
