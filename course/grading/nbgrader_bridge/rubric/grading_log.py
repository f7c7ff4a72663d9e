"""Log who saved which points or comments, in a database beside the gradebook.

SQLite lets one process at a time write to the database. This lock also prevents two graders, each with a Jupyter
server, from saving at the same moment.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from course.files import share_database
from course.grading.machine.faults import Fault

FILE = "graded_by.db"
"""The database's name in the course's folder."""

PATIENCE = 60.0
"""Seconds that a save waits for another one, as with the gradebook."""

ADVICE = {
    "readonly": "may not be written by you. Have its owner run `chmod g+w` on it, and on the course's folder",
    "unable to open": "may not be opened by you. Have its owner run `chmod g+rw` on it, and on the course's folder",
    "locked": "is locked by another program. Wait until it has saved, and try again",
    "is full": "has no space left on its disk. Make room there",
}
"""What to do about an error of SQLite, by words of its message."""

_TABLE = """CREATE TABLE IF NOT EXISTS saved (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, grader TEXT NOT NULL,
    topic TEXT NOT NULL, student TEXT NOT NULL, question TEXT NOT NULL,
    points REAL, extra_credit REAL, comment TEXT, criteria TEXT NOT NULL, by_hand INTEGER NOT NULL
)"""
_INDEX = "CREATE INDEX IF NOT EXISTS saved_answer ON saved (topic, student, question)"


@dataclass(frozen=True)
class Answer:
    """A student's answer to a written question of a topic."""

    topic: str
    student: str
    question: str


@dataclass(frozen=True)
class Save:
    """The points and the comment that a grader saved, with the wording of the criteria in the comment.

    `by_hand` is true if the grader wrote the points, so they are not the sum of the criteria.
    """

    grader: str
    points: float | None
    extra_credit: float | None
    comment: str | None
    criteria: Sequence[str] = ()
    by_hand: bool = False
    at: str = ""
    id: int = 0


class GradingLog:
    """The log of saves of the course in the folder `root`."""

    def __init__(self, root: Path) -> None:
        self.path = root / FILE

    def saves(self, answer: Answer) -> list[Save]:
        """Return every save of an answer, the newest last."""
        if not self.path.is_file():
            return []
        with self._told(), closing(self._open()) as connection:
            return _saves(connection, answer)

    def last_savers(self, answer: Answer) -> dict[str, str]:
        """Return who saved each student's answer to the same question last, by student."""
        if not self.path.is_file():
            return {}
        with self._told(), closing(self._open()) as connection:
            return _last_savers(connection, answer)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Lock the database until the block ends, and commit what the block added unless it raises.

        Raises:
            Fault: another process locks the database for longer than `PATIENCE`, or it cannot be written.
        """
        with self._told(), closing(self._open()) as connection:
            share_database(self.path)
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(_TABLE)
            connection.execute(_INDEX)
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn an error of SQLite into a `Fault` that names this database and says what to do."""
        try:
            yield
        except sqlite3.Error as error:
            what = next((advice for words, advice in ADVICE.items() if words in str(error)), f"fails: {error}")
            raise Fault(f"{self.path} {what}") from error


def add_save(connection: sqlite3.Connection, answer: Answer, save: Save) -> None:
    """Log a save with the current time."""
    at = datetime.now(UTC).isoformat(timespec="seconds")
    criteria = json.dumps(list(save.criteria), ensure_ascii=False)
    values = (at, save.grader, answer.topic, answer.student, answer.question)
    connection.execute(
        "INSERT INTO saved (at, grader, topic, student, question, points, extra_credit, comment, criteria, by_hand)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*values, save.points, save.extra_credit, save.comment, criteria, save.by_hand),
    )


def _last_savers(connection: sqlite3.Connection, answer: Answer) -> dict[str, str]:
    if not _has_saves(connection):
        return {}
    rows = connection.execute(
        "SELECT student, grader FROM saved WHERE topic = ? AND question = ? ORDER BY id",
        (answer.topic, answer.question),
    )
    return dict(rows.fetchall())


def _has_saves(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'saved'").fetchone() is not None


def _saves(connection: sqlite3.Connection, answer: Answer) -> list[Save]:
    if not _has_saves(connection):
        return []
    rows = connection.execute(
        "SELECT grader, points, extra_credit, comment, criteria, by_hand, at, id FROM saved"
        " WHERE topic = ? AND student = ? AND question = ? ORDER BY id",
        (answer.topic, answer.student, answer.question),
    )
    return [
        Save(grader, points, extra_credit, comment, tuple(json.loads(criteria)), bool(by_hand), at, number)
        for grader, points, extra_credit, comment, criteria, by_hand, at, number in rows
    ]
