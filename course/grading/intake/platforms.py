"""Read the sender of a downloaded file from the folder and name that a platform gave it.

Sources of the patterns:

- Moodle: `mod/assign/classes/downloader.php`, and `mod/assign/locallib.php` before 4.1, in github.com/moodle/moodle.
  For a team it has a copy of the work for each member. Since 4.1 it has one, with the team's name and number.
- Canvas: `lib/content_zipper.rb` (`get_filename`, `add_upload_submission`) in github.com/instructure/canvas-lms.
- Blackboard: `README.md` of github.com/kwurst/bb-file-cleanup, which undoes it.
- Brightspace: `bsunzip.sh` of github.com/squell/bb-scripts, which reads it.
- Gradescope: `submission_metadata.yml`, whose keys are the folders, as github.com/ucbds-infra/otter-grader reads it.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from course.grading.intake.untrusted import everything, is_of_a_system

MOODLE = re.compile(r"(?P<who>.+?)(?:_(?P<id>\d+))?_assignsubmission_[a-z]+(?:_|$)")
"""`Ada Lovelace_101_assignsubmission_file_`, as a folder or a prefix; since 4.1 the folder ends without `_`.

A team is `Owls-Ada Lovelace_101_…` before 4.1, and later `Owls_44_…`. Students without a team are `Default group`,
which has no number.
"""

MOODLE_USER = re.compile(r"(?P<who>.+?)_user(?P<id>\d+)_assignsubmission_file_")
"""`Ada Lovelace_user2041_assignsubmission_file_`, as `course fetch moodle` writes it with the number of the user.

Moodle's own download has the number of the participant in one assignment there, which may be another user's number.
"""

BY_USER = "Moodle's web service"
"""The platform of senders known by the number of their user in Moodle."""

CANVAS = re.compile(r"(?:(?P<who>\w+?)_)??(?P<late>LATE_)?(?P<id>\d+|anon_[0-9A-Za-z]+)_(?P<file>\d+)_")
"""The prefix `lovelaceada_LATE_123_456_`: the student's number, then the file's; anonymous is `anon_f3xY9_456_`."""

BLACKBOARD = re.compile(r"(?P<who>.+)_attempt_\d{4}(?:-\d\d){5}(?:_|$)")
"""The prefix `Title_jd1234_attempt_2027-01-31-23-59-01_`; all files have the same title."""

BRIGHTSPACE = re.compile(r"(?P<id>\d+)-\d+ - (?P<who>.+?) - (?=[^-]*\b\d{4}\b)[^-]+?(?: - |$)")
"""`12345-67890 - Ada Lovelace - Jan 31, 2027 1159 PM`, as a folder or a prefix."""

GRADESCOPE = re.compile(r"submission_(?P<id>\d{4,})$")
"""The folder `submission_123456`: each attempt has its own number, and only the last attempt is exported."""

COMPANIONS = re.compile(r"index\.html|submission_metadata\.(?:yml|csv)")
"""Lists that platforms themselves put beside the work."""

MOODLE_TYPED = re.compile(r".+_assignsubmission_(?!file(?:_|$))[a-z]+(?:_|$)")
"""`Ada_101_assignsubmission_onlinetext_`: the output of all of Moodle's plugins except `file`."""

CANVAS_TYPED = re.compile(r"(?:(?P<who>\w+?)_)??(?:LATE_)?(?P<id>\d+|anon_[0-9A-Za-z]+)_(?:text|link)\.html")
"""`lovelaceada_123_text.html`: the page that Canvas makes of a typed text (`add_submission` in its zipper)."""

BLACKBOARD_TYPED = re.compile(r".+_attempt_\d{4}(?:-\d\d){5}\.txt")
"""`Title_jd1234_attempt_2027-01-31-23-59-01.txt`: the typed text and the list of files of each attempt."""


@dataclass(frozen=True)
class Sender:
    """A sender, as a platform identifies one.

    Args:
        platform: where different keys mean different people; two exports of Gradescope are two platforms.
        key: the same for all hand-ins of one sender.
        label: the sender's name for people to read; it belongs to one key.
        lasting: whether a later download has the same key.
    """

    platform: str
    key: str
    label: str = field(compare=False)
    lasting: bool = field(default=True, compare=False)

    @property
    def name(self) -> str:
        """The name in the label, of a person or a team, without the platform's number."""
        return self.label.removesuffix(f"_{self.key}")

    @property
    def is_many(self) -> bool:
        """Whether this is Moodle's default group of all students without a team."""
        return self.platform == "Moodle" and self.key == self.label

    @property
    def ends(self) -> list[str]:
        """The possible names of a person, the longest first, because Moodle may put a team's name before it."""
        parts = self.name.split("-") if self.platform == "Moodle" else [self.name]
        return ["-".join(parts[number:]) for number in range(len(parts))]


def sender_of(folder: PurePosixPath, before: str) -> Sender | None:
    """Return the sender of the zip that was unpacked to `folder`, a path below the download, or None.

    The outermost folder that names a sender counts, because the platform made it, and inner ones may be a student's.

    Args:
        before: the part of the zip's name before the name by `course submit`, or else the whole name.
    """
    for depth, part in enumerate(folder.parts):
        name = before if depth == len(folder.parts) - 1 else part
        if sender := _named(name, folder.parents[len(folder.parts) - 1 - depth]):
            return sender
    if found := CANVAS.match(before):
        label = "_".join(filter(None, (found["who"], found["id"])))
        return Sender("Canvas", found["id"], label)
    return None


def typed_by(path: PurePosixPath) -> Sender | None:
    """Return the sender of a page that a platform made of a typed text, or None for other files.

    Args:
        path: the file's path below the download.
    """
    if found := CANVAS_TYPED.fullmatch(path.name):
        return Sender("Canvas", found["id"], "_".join(filter(None, (found["who"], found["id"]))))
    if BLACKBOARD_TYPED.fullmatch(path.name):
        return sender_of(PurePosixPath(path.stem), path.stem)
    return sender_of(path, path.name) if any(map(MOODLE_TYPED.match, path.parts)) else None


def senders_of(path: PurePosixPath) -> set[Sender]:
    """Return the senders in the names of a file and of its folders below the download."""
    places = [place for place in (path, *path.parents) if place.name]
    return {sender for place in places if (sender := sender_of(place, place.name))}


def own_name(path: PurePosixPath) -> str:
    """Return the student's name for a file, without the platform's prefix."""
    if any(sender_of(place, place.name) for place in path.parents if place.name):
        return path.name
    found = MOODLE.match(path.name) or CANVAS.match(path.name)
    return path.name[found.end() :] if found and found.end() < len(path.name) else path.name


def is_marked_late(path: PurePosixPath) -> bool:
    """Return whether Canvas wrote LATE into the name of a file or of its zip."""
    return any(found["late"] for part in path.parts if (found := CANVAS.match(part)))


def is_companion(path: PurePosixPath) -> bool:
    """Return whether a file without a sender is a list that the platform made, which needs no report."""
    return COMPANIONS.fullmatch(path.name) is not None


def _named(name: str, parent: PurePosixPath) -> Sender | None:
    """Return the sender in a folder's name or in a zip's prefix; `parent` is its parent folder."""
    if found := MOODLE_USER.match(name):
        return Sender(BY_USER, found["id"], f"{found['who']}_{found['id']}")
    if found := MOODLE.match(name):
        label = "_".join(filter(None, (found["who"], found["id"])))
        return Sender("Moodle", found["id"] or found["who"], label)
    if found := BLACKBOARD.match(name):
        return Sender("Blackboard", found["who"], found["who"])
    if found := BRIGHTSPACE.match(name):
        return Sender("Brightspace", f"{found['id']} {found['who']}", found["who"])
    if found := GRADESCOPE.match(name):
        return Sender(f"Gradescope, {parent}", found["id"], name, lasting=False)
    return None


def names_by_sender(inbox: Path, senders: Iterable[Sender]) -> dict[Sender, list[str]]:
    """Return the names of the folders or files that the platform made for each of `senders`, and for nobody else.

    Args:
        inbox: `downloaded/<topic>/archive/`, which may be missing.
    """
    wanted = {(sender, sender.label): sender for sender in senders}
    found: dict[Sender, list[str]] = {}
    for path in _paths(inbox, wanted):
        named = _sender_and_name(path, wanted)
        if named and named[1] not in found.setdefault(named[0], []):
            found[named[0]].append(named[1])
    return found


def _paths(inbox: Path, wanted: dict[tuple[Sender, str], Sender]) -> Iterator[PurePosixPath]:
    """Yield all files below `inbox`, and those in zips that belong to no sender: these are the platform's downloads."""
    for file in everything(inbox):
        path = PurePosixPath(file.relative_to(inbox).as_posix())
        if file.is_symlink() or not file.is_file() or is_of_a_system(path):
            continue
        yield path
        if path.suffix.lower() == ".zip" and not _sender_and_name(path, wanted):
            yield from _packed(file)


def _packed(file: Path) -> Iterator[PurePosixPath]:
    """Yield the files in a zip; an unreadable zip yields none, because `nbgrader zip_collect` reports it."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = [PurePosixPath(one.filename.replace("\\", "/")) for one in archive.infolist() if not one.is_dir()]
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
        return
    yield from (name for name in names if not is_of_a_system(name))


def _sender_and_name(path: PurePosixPath, wanted: dict[tuple[Sender, str], Sender]) -> tuple[Sender, str] | None:
    """Return a file's sender and its name on the platform, by the outermost part of its path that names a wanted one.

    Canvas names only files, so a folder with such a name is not Canvas's.
    """
    for depth, part in enumerate(path.parts, 1):
        sender = sender_of(PurePosixPath(part), part)
        if sender is None or (sender.platform == "Canvas" and depth < len(path.parts)):
            continue
        if (sender, sender.label) in wanted:
            return sender, part
    return None
