"""How `nbgrader zip_collect` reads what was downloaded: what it cannot collect is told at the end, all else collected.

A student's zip says by its name whose it is, or by the manifest in it where somebody gave it another name.
"""

from __future__ import annotations

import re
import shutil
import sys
import tarfile
import zipfile
from datetime import UTC, datetime
from itertools import count
from pathlib import Path, PurePath
from typing import Any
from unicodedata import normalize

from nbgrader.plugins import ExtractorPlugin, FileNameCollectorPlugin
from nbgrader.utils import unzip

from course.grading.fault import stops_all, told
from course.grading.needed_files import unfit
from course.grading.problem import Problem
from course.grading.submission import ARCHIVE, MANIFEST, STUDENT, archive_name
from course.grading.untrusted import LARGEST, everything, parse_notebook, printable, remove
from course.syllabus import TOPICS

DENSEST = 100
"""How many times larger than itself an archive may become, above `LARGEST` bytes: notebooks become ten times larger."""

MOST_TOLD = 20
"""Files that were not collected, named in a list: more would scroll away."""

DEEPEST = 3
"""Archives in archives: a platform's download, somebody's own zip, and what they packed into that."""


class EachAlone(ExtractorPlugin):
    """nbgrader's extractor, which stops at the first archive that cannot be unpacked, made to go on."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.left: list[str] = []
        """A sentence for each archive that could not be unpacked."""

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
        name_by_manifests(target)
        leave_newest(target)

    def _unpack(self, archive: Path, folder: Path, level: int) -> None:
        """Unpack an archive into a folder of its own in `folder`, and those in it."""
        place = folder / archive.stem.removesuffix(".tar")
        try:
            _refuse(archive, level)
            unzip(str(archive), str(folder), zip_ext=self.zip_ext, create_own_folder=True)
        except Exception as error:  # zipfile and tarfile have a dozen ways to say it
            if stops_all(error):
                raise
            reason = str(error) if isinstance(error, Problem) else f"it is damaged, encrypted, or no {archive.suffix}"
            self.left.append(f"{printable(archive.name)} cannot be unpacked: {reason}. Ask for it again.")
            remove(place)
            return
        if (place / MANIFEST).is_file():  # an archive in what `course submit` packed is data of its notebook
            return
        for path in list(everything(place)):
            if path.suffix in self.zip_ext and path.is_file() and not path.is_symlink():
                self._unpack(path, path.parent, level + 1)
                path.unlink()


class OfTheTopic(FileNameCollectorPlugin):
    """nbgrader's collector, which keeps what it leaves out, and why: what was packed for another topic, too.

    Files of all kinds are collected, whatever `valid_ext` says. Where an instructor has another `named_regexp` than
    ours, it is nbgrader's and no more.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.left: dict[str, list[Path]] = {}
        """What was not collected, and is no manifest, by the reason."""

    def collect(self, submitted_file: str) -> dict | None:
        """Whose file this is and when it came, or None where it is not to be collected.

        A Mac writes ë as e and a mark: somebody would be two people, with half of the grades each.
        """
        if self.named_regexp != ARCHIVE:
            return super().collect(submitted_file)
        path, topic = Path(submitted_file), self.parent.coursedir.assignment_id
        if path.name.startswith(".") or "__MACOSX" in path.parts:
            return None  # which another system packs along with each file
        packed_for = _packed_for(path)
        if packed_for not in (topic, ""):
            reason = f"packed for {packed_for} and not for {topic}; if that is only a name, change it"
        elif found := self._match(submitted_file):
            if _is_left_behind(found["file_id"]):
                return None
            reason = _uncollectable(path, found["file_id"])
            if not reason:
                return {**found, "student_id": normalize("NFC", found["student_id"])}
        else:
            place = f"submitted/<student>/{topic}/{topic}.ipynb"
            reason = f"nothing says whose it is, neither a zip's name nor a manifest; put it at {place} yourself"
        if path.name != MANIFEST:
            self.left.setdefault(reason, []).append(path)
        return None

    def _match(self, filename: str) -> dict | None:
        """What the expression finds; where it is ours, without a warning that nobody can read."""
        if self.named_regexp != ARCHIVE:
            return super()._match(filename)
        found = re.match(ARCHIVE, filename)
        return found.groupdict() if found else None


def _is_left_behind(name: str) -> bool:
    """Whether a file lies in a folder that Jupyter, Python or the course made beside the work."""
    return any(part.startswith(".") or part == "__pycache__" for part in PurePath(name).parts)


def _uncollectable(path: Path, name: str) -> str:
    """Why the file at `path`, in its zip `name`, is not collected; nothing where it is."""
    if name == MANIFEST:
        return ""
    if path.is_file() and path.stat().st_size > LARGEST:
        return f"larger than {LARGEST // 2**20} MB, which is more than is graded"
    reason = unfit(path.name) or unfit(name)
    return (
        f"not collected, because {reason}; if its notebook needs it, put it into submitted/ yourself" if reason else ""
    )


def _packed_for(path: Path) -> str:
    """The topic that the name of the zip says in which the file at `path` was, or nothing."""
    found = re.match(ARCHIVE, str(path.with_suffix(".ipynb")))
    said = str(path)[: found.start("student_id") - 1] if found else ""
    return next((topic.folder for topic in TOPICS if said.endswith(topic.folder)), "")


def uncollected(extractor: EachAlone, collector: OfTheTopic, extracted: Path) -> str:
    """What was left out and why, in a few lines; nothing where all is collected."""
    lines = list(extractor.left)
    for reason, files in collector.left.items():
        lines += [
            f"{reason}:",
            *(f"  {printable(path.relative_to(extracted).as_posix())}" for path in files[:MOST_TOLD]),
        ]
        lines += [f"  and {len(files) - MOST_TOLD} more"] if len(files) > MOST_TOLD else []
    return "\n".join(lines)


def name_by_manifests(folder: Path) -> None:
    """Give each unpacked zip below `folder` whose name does not say whose it is the name that its manifest says."""
    for path in [path for path in everything(folder) if path.name == MANIFEST and path.is_file()]:
        named = path.parent == folder or re.match(ARCHIVE, str(path))
        if not named and not path.is_symlink() and (name := _name_in(path)):
            places = (path.parent.with_name(f"{name}-{number}") for number in count(1))
            path.parent.rename(next(place for place in places if not place.exists()))


def leave_newest(folder: Path) -> None:
    """Of several zips of one student, remove what older ones held: their checkpoints are not of the newest's code."""
    came: dict[tuple[str, str], dict[Path, str]] = {}
    for path in everything(folder):
        if path.is_file() and (said := re.match(ARCHIVE, str(path.with_suffix(".ipynb")))):
            whose = _packed_for(path), normalize("NFC", said["student_id"])
            came.setdefault(whose, {})[path] = said["timestamp"]
    for files in came.values():
        newest = max(files.values())
        for path in (path for path, when in files.items() if when < newest):
            path.unlink()


def _name_in(manifest: Path) -> str:
    """The name that `course submit` gave the zip with this manifest; nothing of a file that is none."""
    try:
        about = parse_notebook(manifest.read_bytes(), MANIFEST)
        topic, student = str(about.get("topic")), normalize("NFC", str(about.get("student")))
        when = datetime.fromisoformat(str(about.get("time"))).astimezone(UTC)
    except (Problem, OSError, ValueError, OverflowError):
        return ""
    known = any(topic == one.folder for one in TOPICS)
    return archive_name(topic, student, when) if known and re.fullmatch(STUDENT, student) else ""


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
