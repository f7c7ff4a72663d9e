"""Fetch what was handed in: `course fetch canvas 06` and `course fetch moodle 06`.

Each attempt becomes a file in `downloaded/<topic>/archive/`, named as in the platform's own download, but with the time
at which the platform got it. `nbgrader zip_collect` then does with it what it does with such downloads.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from course.course import Course
from course.files import write_atomically
from course.grading.course_files import reproducible_zip
from course.grading.gradebook.students import some
from course.grading.intake.bare_notebooks import bare_work, match_bare
from course.grading.intake.html_text import text_of_html
from course.grading.intake.ownership import HandIn, Manifest, read_manifest
from course.grading.intake.regrade_requests import find_requests, may_ask, requests_in
from course.grading.intake.submit import MANIFEST, archive_head, archive_name
from course.grading.intake.untrusted import everything
from course.grading.lms.connect import PLATFORMS, connect
from course.grading.lms.people import students_by_number
from course.grading.lms.platform import Attempt, Platform
from course.grading.lms.secret import variable
from course.grading.nbgrader_bridge.unpacking import unpack
from course.outline import Group
from course.problem import Problem
from course.syllabus import Topic

FETCHED = Path(".course", "fetched")
"""The folder, within the course's folder, with the files that each attempt became, for each platform and topic."""

LOOSE = PurePosixPath("work_user0_assignsubmission_file_")
"""The folder of files without a zip while they are sorted; its name tells the intake that they have no prefix."""

LARGEST_MANIFEST = 2**20
"""The largest manifest that is read from a zip, in bytes."""


@dataclass
class Inbox:
    """What lies in `downloaded/<topic>/archive/` from a platform, and what must be told about the rest."""

    folder: Path
    record: Path
    topics: tuple[str, ...]
    topic: str
    groups: Sequence[Group]
    known: dict[str, list[str]] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    typed: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    drafts: list[str] = field(default_factory=list)
    new: int = 0

    def has(self, attempt: Attempt) -> bool:
        """Return whether an attempt was fetched before, and its files are still there."""
        names = self.known.get(attempt.key)
        return names is not None and all((self.folder / name).is_file() for name in names)

    def add(self, attempt: Attempt, files: Mapping[str, bytes]) -> None:
        """Write the files of an attempt, each in one step, and then record them.

        A file that the sender's last attempt had keeps its name, and so its time. On Moodle all files get a new time
        when a student adds one, such as a regrade request.
        """
        last = next((names for key, names in reversed(self.known.items()) if key.startswith(attempt.whose)), [])
        there = {path.read_bytes(): name for name in last if (path := self.folder / name).is_file()}
        files = {there.get(content, name): content for name, content in files.items()}
        for name, content in files.items():
            write_atomically(self.folder / name, content, self.record.parent)
        self.known[attempt.key] = sorted(files)
        self.new += 1
        write_atomically(self.record, json.dumps(self.known, indent=1, ensure_ascii=False).encode())


def fetch(course: Course, platform: str, topic: Topic) -> tuple[int, list[str]]:
    """Fetch all attempts of a topic, collect them, and return the exit status and notes.

    Raises:
        Problem: the platform cannot be read, or the class was not read from it.
    """
    told: list[str] = []
    inbox = _open(course, platform, topic)
    students, notes = students_by_number(course, platform, topic)
    if not students:
        raise Problem(
            f"nothing says who is who on {PLATFORMS[platform]}. Run `course roster {platform}` first, which reads the "
            "class with its numbers"
        )
    site = connect(course, platform)
    assignment = site.find(topic)
    attempts = site.attempts(assignment)
    for attempt in attempts:
        _take(site, attempt, inbox, students)
    told.append(f"{topic.folder}: {len(attempts)} attempts on {site.name}, of which {inbox.new} are new here")
    notes += _notes(inbox, site.name, platform)
    excused = {students[user] for user in site.excused(assignment) if user in students}
    if excused := excused - course.outline.excused_from(topic.folder):
        who = some(sorted(excused))
        notes.append(f"excused on {site.name} and not here: {who}. Write it under [excused] in course.toml")
    if not any(everything(inbox.folder)):
        return 0, [*told, *notes]
    status, said = _collect(course, topic)
    return status, [*told, *notes, *said]


def _open(course: Course, platform: str, topic: Topic) -> Inbox:
    """Return the inbox of a topic, with what was fetched before."""
    folder = course.root / "downloaded" / topic.folder / "archive"
    folder.mkdir(parents=True, exist_ok=True)
    record = course.root / FETCHED / f"{platform}-{topic.folder}.json"
    inbox = Inbox(folder, record, course.known_folders, topic.folder, course.outline.groups_in(topic.folder))
    try:
        inbox.known = dict(json.loads(inbox.record.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        inbox.record.parent.mkdir(parents=True, exist_ok=True)
    return inbox


def _take(site: Platform, attempt: Attempt, inbox: Inbox, students: Mapping[str, str]) -> None:
    """Bring one attempt into the inbox, or say what it is if it is no work of a student."""
    whose = f"{attempt.sender.label}, attempt {attempt.number}"
    student, asks = students.get(attempt.user, ""), any(find_requests(text_of_html(attempt.typed)))
    if attempt.user and not student:
        inbox.unknown.append(attempt.sender.label)
    elif not attempt.uploads and not asks:
        (inbox.typed if attempt.typed else inbox.empty).append(whose)
    elif not inbox.has(attempt):
        with tempfile.TemporaryDirectory(prefix="course-fetch-") as folder:
            files = dict(_packed(site, attempt, student, inbox, Path(folder)))
        if asks:
            files[f"attempt {attempt.number}/{attempt.prefix('0')}regrade.html"] = attempt.typed.encode()
        inbox.add(attempt, files)
    if attempt.draft:
        inbox.drafts.append(whose)


def _packed(site: Platform, attempt: Attempt, student: str, inbox: Inbox, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files for the inbox: zips of `course submit`, a zip made of other work, and what fits in neither.

    Args:
        student: the student's id in the gradebook, or "" for a team, whose group is the one of its name.
        folder: an empty folder for files on the way.
    """
    loose: dict[PurePosixPath, bytes] = {}
    for number, upload in enumerate(attempt.uploads):
        content, name = site.download(upload), _plain(upload.name)
        if about := _submitted(name.name, content, inbox.topics, folder):
            again = f" ({number})" if number else ""
            when = archive_name(about.topic, about.student, attempt.came)
            yield f"{attempt.prefix(upload.key)}{when}{again}.zip", content
        else:
            loose |= dict(_loose(name, content, folder / f"{number}"))
    if not loose:
        return
    prefix = attempt.prefix(attempt.uploads[0].key)
    those = [path for path, content in loose.items() if not (may_ask(path) and requests_in(path.name, content))]
    if student:
        work = bare_work(student, attempt.sender, those, inbox.topic)
    else:
        work = match_bare(attempt.sender, those, (), inbox.topic, inbox.groups)
    if isinstance(work, HandIn):
        files = {place.as_posix(): loose.pop(path) for place, path in work.files.items()}
        yield f"{prefix}{archive_name(inbox.topic, work.student, attempt.came)}.zip", _zipped(files)
    for path, content in loose.items():
        flat = path.relative_to(LOOSE).as_posix().replace("/", "_")
        yield f"attempt {attempt.number}/{prefix}{flat}", content


def _plain(name: str) -> PurePosixPath:
    """Return an uploaded file's path without what no file system takes, and without steps out of its folder."""
    parts = [re.sub(r'[\x00-\x1f\\:*?"<>|]+', "_", part) for part in PurePosixPath(name).parts]
    return PurePosixPath(*[part for part in parts if part not in ("/", "..")] or ["unnamed"])


def _submitted(name: str, content: bytes, topics: tuple[str, ...], folder: Path) -> Manifest | None:
    """Return what a zip of `course submit` says by its name, or else by its manifest; None for any other file."""
    if not name.lower().endswith(".zip"):
        return None
    if said := re.fullmatch(archive_head(topics), name[: -len(".zip")]):
        return Manifest(said["topic"], said["student_id"], said["timestamp"])
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            inside = [one for one in archive.infolist() if PurePosixPath(one.filename).name == MANIFEST]
            if len(inside) != 1 or inside[0].file_size > LARGEST_MANIFEST:
                return None
            (folder / MANIFEST).write_bytes(archive.read(inside[0]))
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError, RuntimeError):
        return None
    about = read_manifest(folder / MANIFEST)
    return about if about and about.is_valid else None


def _loose(name: PurePosixPath, content: bytes, folder: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Yield a file, or the files of a student's own archive, below `LOOSE`."""
    if name.suffix.lower() != ".zip":
        yield LOOSE / name, content
        return
    archive = folder.with_suffix(".zip")
    archive.write_bytes(content)
    try:
        unpack(archive, folder)
    except Exception:  # noqa: BLE001, because zipfile raises many types, and the intake says what is wrong
        yield LOOSE / name, content
        return
    for path in everything(folder):
        if path.is_file() and not path.is_symlink():
            yield LOOSE / name.with_suffix("") / path.relative_to(folder).as_posix(), path.read_bytes()


def _zipped(files: Mapping[str, bytes]) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            reproducible_zip.add(archive, name, content)
    return written.getvalue()


def _notes(inbox: Inbox, name: str, platform: str) -> list[str]:
    """Return notes on what was not brought in."""
    told = []
    if inbox.unknown:
        who = some(sorted(set(inbox.unknown)))
        told.append(f"left out {who}, whom the class list does not have. Run `course roster {platform}` if they joined")
    if inbox.typed:
        told.append(f"typed a text on {name} and handed in no file: {some(inbox.typed)}. Ask for the notebook")
    if inbox.empty:
        told.append(f"handed in without a file: {some(inbox.empty)}. Look at these on {name}")
    if inbox.drafts:
        told.append(f"drafts on {name}, which were not submitted for grading but are collected: {some(inbox.drafts)}")
    return told


def _collect(course: Course, topic: Topic) -> tuple[int, list[str]]:
    """Run `nbgrader zip_collect` on the inbox, without the tokens, and return its status and what it says."""
    line = [sys.executable, "-m", "nbgrader", "zip_collect", topic.folder, "--force", "--log-level=ERROR"]
    environment = {name: value for name, value in os.environ.items() if name not in map(variable, PLATFORMS)}
    done = subprocess.run(line, cwd=course.root, env=environment, capture_output=True, text=True)
    lines = [one for text in (done.stdout, done.stderr) for one in text.splitlines() if one.strip()]
    return done.returncode, lines
