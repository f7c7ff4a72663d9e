"""What the commands ask of a platform, whichever it is: the class, what was handed in, the grades there, to send."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from course.grading.classroom.roster import Table
from course.grading.export.matching import called_like
from course.grading.intake.platforms import Sender
from course.problem import Problem
from course.syllabus import Topic


class Refused(Exception):
    """The platform refused one request about one student. The message says why, and other students may go through."""


class Unclear(Exception):
    """A request may or may not have had its effect, because the answer did not arrive."""


@dataclass(frozen=True)
class Assignment:
    """An assignment on a platform.

    Args:
        id: the platform's number.
        points: the most points there, 0 if it has none.
        obstacle: why no grade can be sent, with what to do, or "".
        takes_pages: whether students can get a file with their grade.
        penalises: whether the platform itself takes points off late work.
        notes: what the instructor should know before grades are sent.
    """

    id: int
    name: str
    points: float
    obstacle: str = ""
    takes_pages: bool = True
    penalises: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Upload:
    """A file that was handed in: its name as the student chose it, its number or version, address and size in bytes."""

    name: str
    key: str
    url: str
    size: int


@dataclass(frozen=True)
class Attempt:
    """One attempt of a student or of a team.

    Args:
        user: the platform's number of the student, or "" for a team.
        sender: the sender, as the names of files tell it to the intake.
        prefix: returns what comes before a file's name in the platform's own download, for a file's key.
        number: the attempt's number on the platform.
        came: when it came, in UTC.
        typed: the text or address that the student typed beside files or in place of them, as HTML, or "".
        draft: whether the student has not submitted it for grading.
        group: the name of the group that handed in together, or "".
    """

    user: str
    sender: Sender
    prefix: Callable[[str], str]
    number: int
    came: datetime
    uploads: tuple[Upload, ...] = ()
    typed: str = ""
    draft: bool = False
    group: str = ""

    @property
    def key(self) -> str:
        """Return a text that differs between all attempts of an assignment, and between versions of one."""
        files = ",".join(upload.key for upload in self.uploads)
        return f"{self.whose}{self.number} {self.came:%Y%m%dT%H%M%SZ} {files}"

    @property
    def whose(self) -> str:
        """Return how the keys of all attempts of this sender begin."""
        return f"{self.sender.platform} {self.sender.key} "


@dataclass(frozen=True)
class Standing:
    """What a platform has for a student in an assignment.

    Args:
        score: the points before a penalty of the platform itself; None without a grade.
        excused: whether the student is excused.
        obstacle: why nothing can be sent to this student, or "".
        versions: the versions of our feedback that are there, as far as the platform tells.
        stamp: changes with each change by anybody, where the platform does not show all of them; else "".
        note: what the instructor should know about what was sent.
        unlisted: whether the platform's list leaves this student out, so that only `look` tells the score.
    """

    score: float | None = None
    excused: bool = False
    obstacle: str = ""
    versions: frozenset[str] = frozenset()
    stamp: str = ""
    note: str = ""
    unlisted: bool = False


@dataclass(frozen=True)
class Parcel:
    """What a student gets: the points as text, a message, a page of feedback, and the version of all this.

    `before` are the messages of ours that may be there, to be replaced, and `replace` says whether anybody's may be.
    """

    points: str
    message: str
    page: Path | None
    version: str
    before: tuple[str, ...] = ()
    replace: bool = False


class Platform(Protocol):
    """A class on Canvas or Moodle."""

    name: str
    """What people call the platform."""

    def class_list(self) -> Table:
        """Return the class as a table that `course roster` reads, with the column `user` for the platform's numbers."""

    def find(self, topic: Topic) -> Assignment:
        """Return the assignment of a topic."""

    def attempts(self, assignment: Assignment) -> Sequence[Attempt]:
        """Return everything that was handed in, all attempts, oldest first."""

    def download(self, upload: Upload) -> bytes:
        """Return the bytes of a file."""

    def standings(self, assignment: Assignment) -> Mapping[str, Standing]:
        """Return what the platform has for each student of the class now, by the platform's numbers."""

    def excused(self, assignment: Assignment) -> Collection[str]:
        """Return the platform's numbers of the students whom it excuses from an assignment."""

    def look(self, assignment: Assignment, user: str) -> Standing:
        """Return what the platform has for one student now."""

    def send(self, assignment: Assignment, user: str, parcel: Parcel) -> Standing:
        """Give a student a grade with its feedback in one request, and return what the platform has then.

        Raises:
            Refused: this student cannot get it.
            Unclear: it may have arrived or not.
        """


def choose(topic: Topic, named: Iterable[tuple[str, int]], told: int | None, where: str) -> int:
    """Return the number of a topic's assignment: the one `told`, or that with the topic's name out of `named`.

    Raises:
        Problem: no assignment is called like the topic, or several are.
    """
    named = list(named)
    numbers = [number for _, number in named]
    if told is not None and told not in numbers:
        raise Problem(f"{where} has no assignment {told}, which course.toml names for {topic.folder}. Correct it")
    if told is not None:
        return told
    found = called_like(topic, named)
    if not found:
        raise Problem(
            f"{where} has no assignment called {topic.folder}. Name it so there, or write its number into course.toml"
        )
    if len(found) > 1:
        raise Problem(
            f"{where} has several assignments called like {topic.folder}. Write the number of the right one into "
            "course.toml"
        )
    return found[0]
