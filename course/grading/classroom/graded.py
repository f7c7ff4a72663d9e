"""The result of grading one submission."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from course.grading.gradebook.scores import Scores
from course.judge.verdict import Verdict


class PackedVerdicts(Mapping[str, Verdict]):
    """Verdicts by exercise, compressed, because those of thousands of students stay in memory for the summary."""

    def __init__(self, kept: Mapping[str, Mapping[str, Any]]) -> None:
        self._packed = zlib.compress(json.dumps(dict(kept)).encode(), 1)

    def __getitem__(self, name: str) -> Verdict:
        return _unpacked(self._packed)[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_unpacked(self._packed))

    def __len__(self) -> int:
        return len(_unpacked(self._packed))


@lru_cache(maxsize=4)
def _unpacked(packed: bytes) -> dict[str, Verdict]:
    return {name: Verdict.from_dict(values) for name, values in json.loads(zlib.decompress(packed)).items()}


@dataclass(frozen=True)
class Graded:
    """The result of grading one student's submission; `reason` says why it was not graded.

    `seconds`, `cpu`, `memory` (bytes), `spent`, `isolation` and `why_cold` come from its `Outcome`, the last only if
    the submission was executed in this run. `origins` says where the judged models' weights came from, by task. For
    work that was graded before, `retested` holds the cells whose tests have changed since, and `before` the old points.
    """

    student: str
    scores: Scores | None = None
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    reason: str = ""
    cpu: float = 0.0
    memory: int = 0
    spent: dict[str, float] = field(default_factory=dict)
    isolation: str = ""
    why_cold: str = ""
    origins: dict[str, str] = field(default_factory=dict)
    retested: frozenset[str] = frozenset()
    before: dict[str, float | None] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every exercise that the autograder should decide was decided."""
        return not self.reason and all(verdict.kind != "not-graded" for verdict in self.verdicts.values())
