"""What newer hand-ins replaced: `attempts/<student>/<topic>/<time>/`, the time as in a zip's name, each attempt once.

`attempts/` lies in the course's folder, beside `submitted/`, and belongs into its backup.
"""

from __future__ import annotations

import hashlib
import shutil
import stat
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from course.grading.intake.arrival_time import ARRIVAL, in_utc, read_stamp
from course.grading.intake.manifest import read_manifest
from course.grading.intake.submit import MANIFEST, STAMP
from course.grading.intake.untrusted import everything, plain_files, remove

FOLDER = "attempts"
"""Where in the course's folder replaced attempts are kept."""


def keep(root: Path, student: str, topic: str, time: str, files: Mapping[str, Path]) -> Path:
    """Copy the attempt that consists of `files`, by their paths in it, and return its folder; the course is in `root`.

    An attempt that is kept already is not copied again.
    """
    folder = _folder(root, student, topic)
    if kept := _kept(folder, digest(files)):
        return kept
    unfinished = folder / ".unfinished"
    if unfinished.exists():
        remove(unfinished)
    for name, path in files.items():
        (unfinished / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, unfinished / name)
    unfinished.mkdir(exist_ok=True)
    return unfinished.replace(_free(folder, time))


def keep_folder(root: Path, student: str, topic: str, work: Path) -> Path:
    """Copy a folder of work that is to be replaced, and return where to."""
    return keep(root, student, topic, _time(work), dict(plain_files(work)))


def arrival(work: Path) -> datetime | None:
    """When nbgrader's file in a folder of work says that it came, in UTC and without a zone; None where it does not."""
    try:
        return in_utc(read_stamp(work) or None)
    except (OSError, ValueError, OverflowError):
        return None


def digest(files: Mapping[str, Path]) -> str:
    """What tells one attempt from another: the names and bytes of its files, but for when it came."""
    told = hashlib.sha256()
    for name in sorted(set(files) - {ARRIVAL}):
        with files[name].open("rb") as file:
            told.update(f"{hashlib.file_digest(file, 'sha256').hexdigest()} {name}\n".encode())
    return told.hexdigest()


def _folder(root: Path, student: str, topic: str) -> Path:
    folder = root / FOLDER / student / topic
    folder.mkdir(parents=True, exist_ok=True)
    ignored = root / FOLDER / ".gitignore"
    if not ignored.exists():  # a course that an earlier version made ignores it nowhere
        ignored.write_text("*\n", encoding="utf-8")
    return folder


def _kept(folder: Path, wanted: str) -> Path | None:
    """The attempt that is kept there with this digest."""
    places = (path for path in sorted(folder.iterdir()) if path.is_dir() and not path.name.startswith("."))
    return next((path for path in places if digest(dict(plain_files(path))) == wanted), None)


def _free(folder: Path, time: str) -> Path:
    """A place for an attempt of that time: two of one time are told apart by a number."""
    names = (time if number == 1 else f"{time}-{number}" for number in count(1))
    return next(place for name in names if not (place := folder / name).exists())


def _time(work: Path) -> str:
    """When a folder of work came, as in a zip's name: nbgrader's file says it, else the manifest, else the files."""
    if came := arrival(work):
        return f"{came:{STAMP}}"
    if manifest := read_manifest(work / MANIFEST):
        return manifest.time
    return f"{_changed(everything(work)):{STAMP}}"


def _changed(paths: Iterable[Path]) -> datetime:
    times = [about.st_mtime for path in paths if stat.S_ISREG((about := path.lstat()).st_mode)]
    return datetime.fromtimestamp(max(times, default=0), UTC)
