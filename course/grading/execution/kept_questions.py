"""Keep what is known about a student's answer beside the results of executions: what its runs gave, what was asked.

A file is named by the digest of what it is about, so two students with the same code share it.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from course.files import write_atomically
from course.grading.execution.fingerprints import questions_fingerprint
from course.questions import Question, Subject, Unaskable
from course.questions.executing import Ran, Run, Runner


class KeptQuestions:
    """What is known about one answer. It is read from `folder` and written there by `save`, or kept nowhere."""

    def __init__(self, about: Subject, folder: Path | None) -> None:
        digest = _digest(questions_fingerprint(), about.name, about.source, about.setup, *about.calls)
        self._path = folder / f"{digest}.zip" if folder else None
        self._plain: dict[str, Any] = {}
        self._asked: dict[str, tuple[Question, ...] | str] = {}
        with suppress(OSError, KeyError, TypeError, ValueError, zlib.error):  # nothing is kept, or it is damaged
            self._read(self._path.read_bytes() if self._path else b"")

    def _read(self, data: bytes) -> None:
        plain = json.loads(zlib.decompress(data))
        runs, asked = dict(plain["runs"]), plain["asked"].items()
        self._asked = {key: one if isinstance(one, str) else tuple(map(Question.from_plain, one)) for key, one in asked}
        self._plain = runs

    @cached_property
    def _runs(self) -> dict[str, Ran]:
        """Return what the runs gave, which takes longer to read than the questions of a request made before."""
        with suppress(TypeError, ValueError):
            return {key: Ran.from_plain(ran) for key, ran in self._plain.items()}
        return {}  # they are damaged

    def asked(self, seed: int, most: int) -> tuple[Question, ...] | None:
        """Return the questions of an earlier request, or None.

        Raises:
            Unaskable: there were none then.
        """
        found = self._asked.get(f"{seed} {most}")
        if isinstance(found, str):
            raise Unaskable(found)
        return found

    def note(self, seed: int, most: int, found: tuple[Question, ...] | str) -> None:
        """Note the questions of a request, or why there are none."""
        self._asked[f"{seed} {most}"] = found

    def remembering(self, run: Runner) -> Runner:
        """Return a runner that has `run` execute only what was not executed before."""

        def remembered(runs: list[Run]) -> list[Ran]:
            keys = [_digest(one.setup, one.source, one.call, str(one.seed), str(one.is_watched)) for one in runs]
            missing = {key: one for key, one in zip(keys, runs, strict=True) if key not in self._runs}
            if missing:
                self._runs.update(zip(missing, run(list(missing.values())), strict=True))
            return [self._runs[key] for key in keys]

        return remembered

    def save(self) -> None:
        """Write the file."""
        if self._path is None:
            return
        asked = {
            key: one if isinstance(one, str) else [question.to_plain() for question in one]
            for key, one in self._asked.items()
        }
        plain = {"runs": {key: ran.to_plain() for key, ran in self._runs.items()}, "asked": asked}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self._path, zlib.compress(json.dumps(plain).encode()))


def _digest(*texts: str) -> str:
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:32]
