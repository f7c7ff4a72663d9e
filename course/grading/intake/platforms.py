"""Read the sender of a downloaded file from the folder and name that a platform gave it.

Where each pattern is from:

- Moodle: `mod/assign/classes/downloader.php`, and `mod/assign/locallib.php` before 4.1, in github.com/moodle/moodle.
  Of a team it names each member, with a copy of the work. Since 4.1 it names the team alone, with the team's number.
- Canvas: `lib/content_zipper.rb` (`get_filename`, `add_upload_submission`) in github.com/instructure/canvas-lms.
- Blackboard: `README.md` of github.com/kwurst/bb-file-cleanup, which undoes it.
- Brightspace: `bsunzip.sh` of github.com/squell/bb-scripts, which reads it.
- Gradescope: `submission_metadata.yml`, whose keys are the folders, as github.com/ucbds-infra/otter-grader reads it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath

MOODLE = re.compile(r"(?P<who>.+?)(?:_(?P<id>\d+))?_assignsubmission_[a-z]+(?:_|$)")
"""`Ada Lovelace_101_assignsubmission_file_`, as a folder or before the name; since 4.1 the folder ends without `_`.

Of a team it is `Owls-Ada Lovelace_101_…` before 4.1 and then `Owls_44_…`. Students in no team are `Default group`,
which has no number.
"""

CANVAS = re.compile(r"(?:(?P<who>\w+?)_)??(?P<late>LATE_)?(?P<id>\d+|anon_[0-9A-Za-z]+)_(?P<file>\d+)_")
"""`lovelaceada_LATE_123_456_` before the name: the student's number, then the file's; `anon_f3xY9_456_` for nobody."""

BLACKBOARD = re.compile(r"(?P<who>.+)_attempt_\d{4}(?:-\d\d){5}(?:_|$)")
"""`Title_jd1234_attempt_2027-01-31-23-59-01_` before the name; the title is the same for all."""

BRIGHTSPACE = re.compile(r"(?P<id>\d+)-\d+ - (?P<who>.+?) - (?=[^-]*\b\d{4}\b)[^-]+?(?: - |$)")
"""`12345-67890 - Ada Lovelace - Jan 31, 2027 1159 PM`, as a folder or before the name."""

GRADESCOPE = re.compile(r"submission_(?P<id>\d{4,})$")
"""`submission_123456`, a folder: the number is another for each attempt, and only the last one is exported."""

COMPANIONS = re.compile(r"index\.html|submission_metadata\.(?:yml|csv)")
"""The lists that platforms themselves put beside the work."""

MOODLE_TYPED = re.compile(r".+_assignsubmission_(?!file(?:_|$))[a-z]+(?:_|$)")
"""`Ada_101_assignsubmission_onlinetext_`: all that Moodle's plugins but `file` put there."""

CANVAS_TYPED = re.compile(r"(?:(?P<who>\w+?)_)??(?:LATE_)?(?P<id>\d+|anon_[0-9A-Za-z]+)_(?:text|link)\.html")
"""`lovelaceada_123_text.html`: of what was typed or pasted, Canvas makes a page (`add_submission` in its zipper)."""

BLACKBOARD_TYPED = re.compile(r".+_attempt_\d{4}(?:-\d\d){5}\.txt")
"""`Title_jd1234_attempt_2027-01-31-23-59-01.txt`: what was typed, and which files came, for each attempt."""


@dataclass(frozen=True)
class Sender:
    """A sender, as a platform tells one from another.

    Args:
        platform: within which senders with different `key` are two people; two exports of Gradescope are two platforms.
        key: the same for all that one sender handed in.
        label: what a person recognises the sender by; one sender has one key and one label.
        lasting: whether a later download has the same key.
    """

    platform: str
    key: str
    label: str = field(compare=False)
    lasting: bool = field(default=True, compare=False)

    @property
    def name(self) -> str:
        """What of the label is a name, of a person or a team, without the platform's number."""
        return self.label.removesuffix(f"_{self.key}")

    @property
    def is_many(self) -> bool:
        """Whether this is Moodle's team of all who are in none."""
        return self.platform == "Moodle" and self.key == self.label

    @property
    def ends(self) -> list[str]:
        """What may be a person's name, the longest first: Moodle may have put a team's name before it."""
        parts = self.name.split("-") if self.platform == "Moodle" else [self.name]
        return ["-".join(parts[number:]) for number in range(len(parts))]


def sender_of(folder: PurePosixPath, before: str) -> Sender | None:
    """The sender of the zip that was unpacked to `folder`, a path below what was downloaded.

    The outermost folder that says so counts: it is the platform's, and what lies in it may be a student's.

    Args:
        before: what stands before the name that `course submit` gave the zip; its whole name where it has another.
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
    """The sender of a page that a platform made of what was typed there; None where a file is none of these.

    Args:
        path: the file's, below what was downloaded.
    """
    if found := CANVAS_TYPED.fullmatch(path.name):
        return Sender("Canvas", found["id"], "_".join(filter(None, (found["who"], found["id"]))))
    if BLACKBOARD_TYPED.fullmatch(path.name):
        return sender_of(PurePosixPath(path.stem), path.stem)
    return sender_of(path, path.name) if any(map(MOODLE_TYPED.match, path.parts)) else None


def senders_of(path: PurePosixPath) -> set[Sender]:
    """Whom the names of a file and of the folders that it lies in call its sender, below what was downloaded."""
    places = [place for place in (path, *path.parents) if place.name]
    return {sender for place in places if (sender := sender_of(place, place.name))}


def own_name(path: PurePosixPath) -> str:
    """What the student called a file: its name without what a platform put before it."""
    if any(sender_of(place, place.name) for place in path.parents if place.name):
        return path.name
    found = MOODLE.match(path.name) or CANVAS.match(path.name)
    return path.name[found.end() :] if found and found.end() < len(path.name) else path.name


def is_marked_late(path: PurePosixPath) -> bool:
    """Whether Canvas has written LATE into the name of a file, or of the zip that it came in."""
    return any(found["late"] for part in path.parts if (found := CANVAS.match(part)))


def is_companion(path: PurePosixPath) -> bool:
    """Whether a file that nobody handed in is a platform's own, of which nobody needs to hear."""
    return COMPANIONS.fullmatch(path.name) is not None


def _named(name: str, parent: PurePosixPath) -> Sender | None:
    """The sender by one folder, or by what stands before a zip's name; `parent` is where that lies."""
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
