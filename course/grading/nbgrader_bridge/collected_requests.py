"""Find the regrade requests among downloaded files, and keep those whose sender may be the student they name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path, PurePosixPath

from course.course import Course
from course.grading.intake.platforms import Sender, senders_of, typed_by
from course.grading.intake.regrade_requests import Asked, keep_requests, may_ask, read_requests

OF_ANOTHER = "a regrade request that names another student than the one who sent it. Ask the sender"
"""The reason for a request that is not kept because of its sender."""

UNKNOWN = "a regrade request for a topic that this course does not have. Ask which work it means"


class CollectedRequests:
    """The files of a download that hold requests, and typed texts that do.

    Args:
        extracted: the folder of the unpacked download.
        files: all files in it.
    """

    def __init__(self, extracted: Path, files: Iterable[Path]) -> None:
        below = {path: PurePosixPath(path.relative_to(extracted).as_posix()) for path in files}
        asking = {path: read_requests(path) for path, name in below.items() if may_ask(name) or typed_by(name)}
        self.found: dict[Path, list[Asked]] = {path: asked for path, asked in asking.items() if asked}
        self._below = below
        self.left: dict[Path, str] = {}
        """The files whose requests were not kept, each with the reason."""
        self.notes: list[str] = []

    def keep(self, course: Course, root: Path, owner: Callable[[PurePosixPath, Sender | None], str]) -> None:
        """Keep the requests, and note which are new.

        Args:
            root: the course's folder.
            owner: returns the student of a file below the download and its sender, or "" if nobody knows.
        """
        wanted: dict[str, list[tuple[Asked, str]]] = {}
        for path, asked in self.found.items():
            for one, sender in self._vouched(course, path, asked, owner):
                wanted.setdefault(one.topic, []).append((one, sender))
        for topic, those in wanted.items():
            if new := keep_requests(root, topic, those, f"{datetime.now(course.outline.zone):%Y-%m-%d}"):
                whose = ", ".join(f"{one.asked.student} ({one.asked.exercise})" for one in new)
                self.notes.append(f"New regrade requests: {whose}. Run `course requests {topic}` to see them.")

    def _vouched(
        self, course: Course, path: Path, asked: Iterable[Asked], owner: Callable[[PurePosixPath, Sender | None], str]
    ) -> Iterator[tuple[Asked, str]]:
        """Yield the requests of a file that can be kept, with the label of the sender."""
        name = self._below[path]
        sender = typed_by(name) or next(iter(senders_of(name)), None)
        known = owner(name, sender)
        for one in asked:
            if course.topic_in(one.topic) is None:
                self.left[path] = UNKNOWN
            elif known and known.casefold() != one.student.casefold():
                self.left[path] = OF_ANOTHER
            else:
                yield replace(one, student=known or one.student), "" if known or sender is None else sender.label
