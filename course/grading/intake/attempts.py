"""Keep attempts that newer hand-ins replaced, each once: `attempts/<student>/<topic>/<time>/`, with a zip's time.

`attempts/` lies in the course's folder, beside `submitted/`, and belongs in its backup. If an instructor chooses
which attempt counts, the file `.chosen` beside the attempts holds the time up to which hand-ins are then passed over.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from course.files import write_atomically
from course.grading.intake.arrival_time import ARRIVAL, in_utc, read_stamp
from course.grading.intake.needed_files import unfit
from course.grading.intake.ownership import read_manifest
from course.grading.intake.submit import MANIFEST, STAMP
from course.grading.intake.untrusted import everything, plain_files, remove

FOLDER = "attempts"
"""The folder of replaced attempts within the course's folder."""

CHOSEN = ".chosen"
"""The file that marks an instructor's choice of an attempt, with the time of the newest attempt there was."""

POINTS = ".points.json"
"""The file with the points of earlier graded attempts, by the submission's digest."""


@dataclass(frozen=True)
class Attempt:
    """One attempt of a student: its folder, and when it came (in UTC, naive), if that is known.

    `time` is written as in a zip's name; without an arrival time it is that of the newest file. Attempts with the same
    `digest` are equal.
    """

    place: Path
    time: str
    came: datetime | None
    digest: str
    counts: bool = False


def attempt_in(work: Path) -> Attempt | None:
    """Return the attempt that counts, from the folder of a student's work, or None without one."""
    if not work.is_dir():
        return None
    return Attempt(work, _time(work), arrival(work), digest(_collected(work)), counts=True)


def attempts_of(root: Path, student: str, topic: str, work: Path) -> list[Attempt]:
    """Return all attempts of a student, oldest first; the attempt in the folder `work`, if any, counts."""
    counts = attempt_in(work)
    found = {counts.digest: counts} if counts else {}
    for place in _places(root / FOLDER / student / topic):
        told = digest(_collected(place))
        found.setdefault(told, Attempt(place, place.name, arrival(place) or _packed(place), told))
    return sorted(found.values(), key=lambda one: (one.time.partition("-")[0], one.counts, one.time))


def put_back(root: Path, student: str, topic: str, attempt: Attempt, work: Path) -> None:
    """Copy an attempt to `work`, where it counts until the student hands in again; the replaced work is kept."""
    attempts = attempts_of(root, student, topic, work)
    known = [time for one in attempts for time in (one.came, _packed(one.place)) if time]
    share(root, student, topic, attempt, work)
    newest = f"{max(known):{STAMP}}" if known else ""
    (_folder(root, student, topic) / CHOSEN).write_text(newest, encoding="utf-8")


def share(root: Path, student: str, topic: str, attempt: Attempt, work: Path) -> None:
    """Copy an attempt, of any student, to a student's folder `work`; the replaced work is kept."""
    if work.is_dir():
        keep_folder(root, student, topic, work)
    unfinished = work.with_name(f".{topic}.unfinished")
    if unfinished.exists():
        remove(unfinished)
    _copy(_collected(attempt.place), unfinished)
    if attempt.came and not (unfinished / ARRIVAL).exists():
        _stamp(unfinished, attempt.came)
    if work.is_dir():
        remove(work)
    unfinished.replace(work)


def is_passed_over(root: Path, student: str, topic: str, came: datetime | None, files: Mapping[str, Path]) -> bool:
    """Return whether a hand-in that came at `came` already existed when an instructor chose another one."""
    folder = root / FOLDER / student / topic
    try:
        newest = (folder / CHOSEN).read_text(encoding="utf-8")
    except OSError:
        return False
    if came and newest:
        return f"{came:{STAMP}}" <= newest
    wanted = digest(files)
    kept = (_collected(place) for place in _places(folder))
    return any(digest({name: one[name] for name in set(files) & set(one)}) == wanted for one in kept)


def keep(root: Path, student: str, topic: str, time: str, files: Mapping[str, Path]) -> Path:
    """Copy the attempt that consists of `files`, by their paths in it, and return its folder; the course is in `root`.

    An attempt that is already kept is not copied again. `time` is from the zip's name, not from its contents.
    Without it, the folder is named after the time of the newest file.
    """
    files = {name: path for name, path in files.items() if name != ARRIVAL}
    place = _keep(root, student, topic, time or f"{_changed(files.values()):{STAMP}}", files)
    came = parsed_time(time)
    if came and not (place / ARRIVAL).exists():
        _stamp(place, came)
    return place


def _keep(root: Path, student: str, topic: str, time: str, files: Mapping[str, Path]) -> Path:
    folder = _folder(root, student, topic)
    if kept := _kept(folder, digest(files)):
        return kept
    unfinished = folder / ".unfinished"
    if unfinished.exists():
        remove(unfinished)
    _copy(files, unfinished)
    return unfinished.replace(_free(folder, time))


def keep_folder(root: Path, student: str, topic: str, work: Path) -> Path:
    """Copy a folder of work before it is replaced, and return the copy's folder."""
    return _keep(root, student, topic, _time(work), dict(plain_files(work)))


def note_points(root: Path, student: str, topic: str, submission: str, points: str) -> None:
    """Save the points of a submission before the gradebook forgets them."""
    kept = {**noted_points(root, student, topic), submission: points}
    write_atomically(_folder(root, student, topic) / POINTS, json.dumps(kept, indent=1).encode())


def noted_points(root: Path, student: str, topic: str) -> dict[str, str]:
    """Return the saved points of a student's submissions, by the submission's digest."""
    try:
        kept = json.loads((root / FOLDER / student / topic / POINTS).read_text("utf-8"))
        return {str(submission): str(points) for submission, points in kept.items()}
    except (OSError, ValueError, AttributeError):
        return {}


def arrival(work: Path) -> datetime | None:
    """Return the arrival time from nbgrader's file in a folder of work (in UTC, naive), or None if it is unknown."""
    try:
        return in_utc(read_stamp(work) or None)
    except (OSError, ValueError, OverflowError):
        return None


def digest(files: Mapping[str, Path]) -> str:
    """Return a hash of the names and bytes of an attempt's files, without its arrival time."""
    told = hashlib.sha256()
    for name in sorted(set(files) - {ARRIVAL}):
        with files[name].open("rb") as file:
            told.update(f"{hashlib.file_digest(file, 'sha256').hexdigest()} {name}\n".encode())
    return told.hexdigest()


def _folder(root: Path, student: str, topic: str) -> Path:
    folder = root / FOLDER / student / topic
    folder.mkdir(parents=True, exist_ok=True)
    ignored = root / FOLDER / ".gitignore"
    if not ignored.exists():  # courses made by earlier versions do not ignore it
        ignored.write_text("*\n", encoding="utf-8")
    return folder


def _kept(folder: Path, wanted: str) -> Path | None:
    """Return the kept attempt with the digest `wanted`, or None."""
    return next((path for path in _places(folder) if digest(dict(plain_files(path))) == wanted), None)


def _copy(files: Mapping[str, Path], target: Path) -> None:
    target.mkdir(parents=True)
    for name, path in files.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target / name)


def _places(folder: Path) -> list[Path]:
    """Return the folders of the attempts in `folder`."""
    if not folder.is_dir():
        return []
    return [path for path in sorted(folder.iterdir()) if path.is_dir() and not path.name.startswith(".")]


def _collected(place: Path) -> dict[str, Path]:
    """Return the files of an attempt that collecting takes, by their paths in it, as a kept zip may hold others."""
    return {name: path for name, path in plain_files(place) if name in (ARRIVAL, MANIFEST) or not unfit(name)}


def _packed(place: Path) -> datetime | None:
    """Return when a kept zip was packed, according to its manifest, or None."""
    about = read_manifest(place / MANIFEST)
    return parsed_time(about.time) if about else None


def parsed_time(time: str) -> datetime | None:
    """Return a time written as in a zip's name, or None if it is invalid, such as a manifest's year 1."""
    try:
        return datetime.strptime(time, STAMP)
    except ValueError:
        return None


def _stamp(place: Path, came: datetime) -> None:
    """Write when an attempt came, in nbgrader's format."""
    (place / ARRIVAL).write_text(came.isoformat(" "), encoding="utf-8")


def _free(folder: Path, time: str) -> Path:
    """Return an unused folder for an attempt; attempts of the same time get a number."""
    names = (time if number == 1 else f"{time}-{number}" for number in count(1))
    return next(place for name in names if not (place := folder / name).exists())


def _time(work: Path) -> str:
    """Return when a folder of work came, as in a zip's name: by nbgrader's file, the manifest, or the newest file."""
    if came := arrival(work):
        return f"{came:{STAMP}}"
    if manifest := read_manifest(work / MANIFEST):
        return manifest.time
    return f"{_changed(everything(work)):{STAMP}}"


def _changed(paths: Iterable[Path]) -> datetime:
    times = [about.st_mtime for path in paths if stat.S_ISREG((about := path.lstat()).st_mode)]
    return datetime.fromtimestamp(max(times, default=0), UTC)
