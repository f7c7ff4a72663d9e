"""What newer hand-ins replaced: `attempts/<student>/<topic>/<time>/`, the time as in a zip's name, each attempt once.

`attempts/` lies in the course's folder, beside `submitted/`, and belongs into its backup. Where an instructor has one
of them count, a file `.chosen` beside the attempts says up to which time hand-ins are passed over from then on.
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
from course.grading.intake.manifest import read_manifest
from course.grading.intake.needed_files import unfit
from course.grading.intake.submit import MANIFEST, STAMP
from course.grading.intake.untrusted import everything, plain_files, remove

FOLDER = "attempts"
"""Where in the course's folder replaced attempts are kept."""

CHOSEN = ".chosen"
"""The file that says that an instructor has chosen among the attempts, and the time of the newest one there was."""

POINTS = ".points.json"
"""The file with the points that attempts had before another one was graded, by what tells a submission from another."""


@dataclass(frozen=True)
class Attempt:
    """One attempt of a student: where it is, and when it came, in UTC and without a zone, if anything says so.

    Of attempts that nothing dates, `time` is that of their files; it is written as in a zip's name. Two attempts of
    one `digest` are the same.
    """

    place: Path
    time: str
    came: datetime | None
    digest: str
    counts: bool = False


def attempt_in(work: Path) -> Attempt | None:
    """The attempt in the folder of a student's work that counts, if there is any."""
    if not work.is_dir():
        return None
    return Attempt(work, _time(work), arrival(work), digest(_collected(work)), counts=True)


def attempts_of(root: Path, student: str, topic: str, work: Path) -> list[Attempt]:
    """All attempts of a student, oldest first; the one in the folder `work`, if there is any, counts."""
    counts = attempt_in(work)
    found = {counts.digest: counts} if counts else {}
    for place in _places(root / FOLDER / student / topic):
        told = digest(_collected(place))
        found.setdefault(told, Attempt(place, place.name, arrival(place) or _packed(place), told))
    return sorted(found.values(), key=lambda one: (one.time.partition("-")[0], one.counts, one.time))


def put_back(root: Path, student: str, topic: str, attempt: Attempt, work: Path) -> None:
    """Have an attempt lie in `work` from now on, until the student hands in anew; what lay there is kept."""
    attempts = attempts_of(root, student, topic, work)
    known = [time for one in attempts for time in (one.came, _packed(one.place)) if time]
    share(root, student, topic, attempt, work)
    newest = f"{max(known):{STAMP}}" if known else ""
    (_folder(root, student, topic) / CHOSEN).write_text(newest, encoding="utf-8")


def share(root: Path, student: str, topic: str, attempt: Attempt, work: Path) -> None:
    """Copy an attempt, whosever it is, to a student's folder `work`; what lay there is kept."""
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
    """Whether a hand-in that came then was there when an instructor chose another one to count."""
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

    An attempt that is kept already is not copied again. Of a zip, its name says the `time`, whatever lies in it.
    Without a time, its place is called by the time of its files.
    """
    files = {name: path for name, path in files.items() if name != ARRIVAL}
    place = _keep(root, student, topic, time or f"{_changed(files.values()):{STAMP}}", files)
    came = _parsed(time)
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
    """Copy a folder of work that is to be replaced, and return where to."""
    return _keep(root, student, topic, _time(work), dict(plain_files(work)))


def note_points(root: Path, student: str, topic: str, submission: str, points: str) -> None:
    """Keep the points of a submission, of which the gradebook is to forget them."""
    kept = {**noted_points(root, student, topic), submission: points}
    write_atomically(_folder(root, student, topic) / POINTS, json.dumps(kept, indent=1).encode())


def noted_points(root: Path, student: str, topic: str) -> dict[str, str]:
    """Return the points that are kept of a student's submissions."""
    try:
        kept = json.loads((root / FOLDER / student / topic / POINTS).read_text("utf-8"))
        return {str(submission): str(points) for submission, points in kept.items()}
    except (OSError, ValueError, AttributeError):
        return {}


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
    return next((path for path in _places(folder) if digest(dict(plain_files(path))) == wanted), None)


def _copy(files: Mapping[str, Path], target: Path) -> None:
    target.mkdir(parents=True)
    for name, path in files.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target / name)


def _places(folder: Path) -> list[Path]:
    """The attempts in a folder of them."""
    if not folder.is_dir():
        return []
    return [path for path in sorted(folder.iterdir()) if path.is_dir() and not path.name.startswith(".")]


def _collected(place: Path) -> dict[str, Path]:
    """The files of an attempt that collecting takes, by their paths in it; a zip is kept with all that was in it."""
    return {name: path for name, path in plain_files(place) if name in (ARRIVAL, MANIFEST) or not unfit(name)}


def _packed(place: Path) -> datetime | None:
    """When the manifest in a kept zip says that it was packed."""
    about = read_manifest(place / MANIFEST)
    return _parsed(about.time) if about else None


def _parsed(time: str) -> datetime | None:
    """A time as in a zip's name; None where it is none, as that of a manifest from the year 1."""
    try:
        return datetime.strptime(time, STAMP)
    except ValueError:
        return None


def _stamp(place: Path, came: datetime) -> None:
    """Write when an attempt came, as nbgrader does."""
    (place / ARRIVAL).write_text(came.isoformat(" "), encoding="utf-8")


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
