"""Keep what was sent to whom, so that sending twice changes nothing and an interrupted run goes on.

There is a file for each assignment, `.course/sent/<topic>-<place>.jsonl`, with a line before and a line after each
student. A line is on the disk before the next request, and one that was cut off does not count.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from course.grading.lms.platform import Assignment, Standing
from course.outline import Place
from course.problem import Problem

FOLDER = Path(".course", "sent")
"""The folder, within the course's folder, with a file for each assignment."""


@dataclass(frozen=True)
class Entry:
    """What a student gets or got: `user` is the platform's number, and `score` what it has.

    An entry that is not `done` was written before its request, which may have failed.
    """

    student: str
    user: str
    version: str
    score: float
    message: str
    done: bool
    stamp: str = ""


class Journal:
    """The entries of one assignment, the latest of each student."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.sent: dict[str, Entry] = {}
        """What has certainly arrived, by student."""
        self.begun: dict[str, Entry] = {}
        """What may have arrived since, by student."""
        for entry in self._read():
            self._count(entry)

    def write(self, entry: Entry) -> None:
        """Add an entry, and wait until it is on the disk."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab") as file:
            file.write(f"\n{json.dumps(asdict(entry), ensure_ascii=False)}\n".encode())  # after a line that was cut
            file.flush()
            os.fsync(file.fileno())
        self._count(entry)

    def is_ours(self, student: str, there: Standing) -> bool:
        """Return whether a platform has for a student what we sent last, or nothing where we sent nothing."""
        known = [entry for entry in (self.sent.get(student), self.begun.get(student)) if entry]
        if there.score is None:
            return student not in self.sent and not there.stamp
        same = [entry for entry in known if is_equal(entry.score, there.score)]
        return any(entry.stamp == there.stamp or not entry.stamp or not there.stamp for entry in same)

    def messages(self, student: str) -> tuple[str, ...]:
        """Return the messages of ours that a student may have."""
        return tuple(one[student].message for one in (self.sent, self.begun) if student in one)

    def _count(self, entry: Entry) -> None:
        if entry.done:
            self.sent[entry.student] = entry
            self.begun.pop(entry.student, None)
        else:
            self.begun[entry.student] = entry

    def _read(self) -> Iterator[Entry]:
        try:
            lines = self._path.read_bytes().splitlines()
        except FileNotFoundError:
            return
        for line in lines:
            try:
                yield Entry(**json.loads(line))
            except (ValueError, TypeError):
                continue


@contextmanager
def journal_of(root: Path, topic: str, place: Place, assignment: Assignment) -> Iterator[Journal]:
    """Yield the journal of a topic's assignment, which no other process can use meanwhile.

    Raises:
        Problem: another process is sending the same.
    """
    where = hashlib.sha256(f"{place.address} {place.course} {assignment.id}".encode()).hexdigest()[:8]
    path = root / FOLDER / f"{topic}-{where}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(path.with_suffix(".lock"), timeout=0):
            yield Journal(path)
    except Timeout:
        raise Problem(f"{topic} is being sent by another process. Wait until it is done") from None


def is_equal(one: float, other: float) -> bool:
    """Return whether two scores are the same on a platform: Moodle keeps five digits after the point."""
    return abs(one - other) < 1e-5
