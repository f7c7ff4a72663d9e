"""Keep questions about students' code beside the results of executions, by what they are about."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path

from course.files import write_atomically
from course.grading.execution.fingerprints import questions_fingerprint
from course.questions import Question, Subject, Unaskable


class KeptQuestions:
    """The questions of a topic in `folder`, which holds results. The same code of two students is one entry."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def _path(self, about: Subject, seed: int, most: int) -> Path:
        parts = [questions_fingerprint(), about.name, about.source, about.setup, about.calls, seed, most]
        return self._folder / f"{hashlib.sha256(json.dumps(parts).encode()).hexdigest()}.json"

    def get(self, about: Subject, seed: int, most: int) -> tuple[Question, ...] | None:
        """Return the questions of an earlier request, or None.

        Raises:
            Unaskable: there were none then.
        """
        with suppress(OSError, KeyError, TypeError, ValueError):  # nothing is kept, or it is damaged
            plain = json.loads(self._path(about, seed, most).read_text("utf-8"))
            if isinstance(plain, str):
                raise Unaskable(plain)
            return tuple(map(Question.from_plain, plain))
        return None

    def put(self, about: Subject, seed: int, most: int, found: tuple[Question, ...] | str) -> None:
        """Keep questions, or why there are none."""
        plain = found if isinstance(found, str) else [question.to_plain() for question in found]
        path = self._path(about, seed, most)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(plain).encode())
