"""A worker's input and output for one submission, as bytes: a `Task` and an `Outcome`.

A task holds everything that decides the result (the cells, the files beside them, the seed, the limits), so a worker
needs no shared file system, and equal tasks have equal digests. Both are zip archives with a JSON header, so nothing is
unpickled.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from course.course import Course, find_course, public_course
from course.grading.course_files.reproducible_zip import add
from course.grading.intake.grader_notes import as_handed_in
from course.grading.sandbox.probe import NOT_ISOLATED
from course.grading.sandbox.spec import Allowance
from course.judge.verdict import Verdict

Seconds = int | float
"""A limit in seconds; an int stays an int, because 30 and 30.0 make different digests."""


@dataclass(frozen=True)
class Limits:
    """The limits of a notebook. Seconds: for a cell, for single cells by index, for the whole notebook, for judging.

    They limit wall time and, separately, the processor time of all processes together. `None` sets no limit. A cell's
    30 s are nbgrader's default. `output` is the most that is kept of one cell, in characters: four times a large
    figure. A message of more bytes than that is not parsed.
    """

    cell: Seconds | None = 30.0
    cells: dict[int, Seconds | None] = field(default_factory=dict)
    notebook: Seconds | None = None
    call: Seconds = 20.0
    output: int = 4 * 2**20
    allowance: Allowance = field(default_factory=Allowance)

    def of(self, index: int) -> Seconds | None:
        """Return the limit in seconds of the cell at `index`."""
        return self.cells.get(index, self.cell)

    def judging(self, name: str) -> Seconds:
        """Return the seconds for all cases of an exercise; a training task has more, as held-out data takes longer."""
        return self.call * (3.0 if name.endswith("_task") else 1.0)


@dataclass(frozen=True)
class Task:
    """A sanitised notebook to execute and judge.

    `files` are the ones beside the notebook, by relative path; `client` holds traits of nbclient's client;
    `environment` adds variables to the kernel's few; `seed` draws the hidden cases; `skip` has the indices of cells
    that need not run; `gpu` demands an accelerator; `engine` is a digest of the tests and of the course. `isolated`
    demands a sandbox. It is not in the digest, because it decides whether there is a result, not which.

    `outline` is the public part of the class's `course.toml`, and `root` the folder of its own topics. They are not in
    the digest, because the cells and `engine` hold what decides the result.
    """

    name: str
    notebook: bytes
    files: dict[str, bytes] = field(default_factory=dict)
    seed: int = 0
    policy: str = "checkpoint"
    limits: Limits = field(default_factory=Limits)
    client: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    skip: tuple[int, ...] = ()
    gpu: bool = False
    engine: str = ""
    isolated: bool = False
    outline: str = ""
    root: str = ""

    @cached_property
    def course(self) -> Course:
        """Return the notebook's course. On a machine without `root`, its own topics are around the working folder."""
        root = Path(self.root)
        return public_course(self.outline, root if root.is_dir() else find_course().root)

    def _decisive(self) -> dict[str, Any]:
        """Return all fields that decide the result, except the submission."""
        plain = _header(self)
        for name in ("isolated", "outline", "root"):
            del plain[name]
        plain["limits"]["cells"] = sorted(self.limits.cells.items())
        return plain

    def digest(self) -> str:
        """Return the name of this task's result: a hash of all that decides it. The ids of cells do not."""
        return hashlib.sha256(_json(self._decisive()) + self._handed_in).hexdigest()

    def work(self) -> str:
        """Return a hash of the submission and of how it is executed, whatever the state of the tests."""
        header = {**self._decisive(), "engine": "", "skip": ()}  # which cells need not run depends on the tests
        return hashlib.sha256(_json(header) + bytes.fromhex(self.submission())).hexdigest()

    def submission(self) -> str:
        """Return a hash of the submission alone, without locked cells, because they are the instructor's.

        A student's text in locked cells was moved into cells that the grader added, and counts.
        """
        document, added = self._document()
        return self._hashed({**document, "added": added} if added else document).hex()

    def is_of(self, submission: str) -> bool:
        """Whether `submission` is this submission's hash, in the present form or that of an earlier version.

        One earlier version ignored what was written into locked cells, and the first one hashed all cells as they are.
        """
        return submission in (self.submission(), self._hashed(self._document()[0]).hex(), self._handed_in.hex())

    def _document(self) -> tuple[dict[str, Any], list[str]]:
        """Return the notebook as it was handed in, without nbgrader's metadata, and the texts that the grader added."""
        document = json.loads(self.notebook)
        cells, added = as_handed_in(document.get("cells", ()))
        return {**document, "cells": [_unmarked(cell) for cell in cells]}, added

    @cached_property
    def _handed_in(self) -> bytes:
        """Return a hash of the sanitised notebook and of the files beside it."""
        document = json.loads(self.notebook)
        for cell in document.get("cells", ()):
            cell.pop("id", None)
        return self._hashed(document)

    def _hashed(self, document: dict[str, Any]) -> bytes:
        digest = hashlib.sha256(_json(document))
        for path, content in sorted(self.files.items()):
            digest.update(_json([path, hashlib.sha256(content).hexdigest()]))
        return digest.digest()

    def to_bytes(self) -> bytes:
        """Return the task as a zip archive."""
        return _pack(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Task:
        """Return the task that `to_bytes` wrote."""
        return msgspec.convert(_unpack(data), cls, str_keys=True)


@dataclass(frozen=True)
class Outcome:
    """The result of executing a task.

    `notebook` has the judged cells' outputs replaced; `files` are those the student's code wrote; `seconds` is the
    wall time of the whole notebook and `spent` that of each judged cell; `memory` (bytes, at the peak) and `cpu`
    (seconds) are what its processes used; `isolation` is the sandbox's name; `why_cold` says why its kernel was not
    forked; `fault` is set when the grading machine failed, and then nothing else counts. `origins` has the source of
    each judged model's weights (an `Origin` in `examination.py`), by training task, and `unfinished` a sentence for
    each task whose training a time limit ended. `worker` is the host and the process that executed the task.
    """

    notebook: bytes
    verdicts: tuple[Verdict, ...] = ()
    files: dict[str, bytes] = field(default_factory=dict)
    seconds: float = 0.0
    spent: dict[str, float] = field(default_factory=dict)
    memory: int = 0
    cpu: float = 0.0
    isolation: str = NOT_ISOLATED
    why_cold: str = ""
    fault: str = ""
    origins: dict[str, str] = field(default_factory=dict)
    unfinished: dict[str, str] = field(default_factory=dict)
    worker: str = ""

    @property
    def isolated(self) -> bool:
        """Whether the task was executed in a sandbox."""
        return self.isolation != NOT_ISOLATED

    @property
    def final(self) -> bool:
        """Whether the machine and the judge worked, so that a retry would give the same result."""
        return not self.fault and all(verdict.kind != "not-graded" for verdict in self.verdicts)

    def to_bytes(self) -> bytes:
        """Return the outcome as a zip archive."""
        return _pack(self)

    @classmethod
    def from_bytes(cls, data: bytes) -> Outcome:
        """Return the outcome that `to_bytes` wrote."""
        values = _unpack(data)
        return cls(**{**values, "verdicts": tuple(map(Verdict.from_dict, values["verdicts"]))})


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


def _unmarked(cell: dict[str, Any]) -> dict[str, Any]:
    """Return the student's part of a sanitised cell: type and name if locked, else all but nbgrader's metadata."""
    marks = cell.get("metadata", {}).get("nbgrader", {})
    if marks.get("locked"):
        return {"cell_type": cell.get("cell_type"), "name": marks.get("grade_id")}
    metadata = {key: value for key, value in cell.get("metadata", {}).items() if key != "nbgrader"}
    rest = {key: value for key, value in cell.items() if key not in ("id", "metadata")}
    return {**rest, "metadata": metadata, "name": marks.get("grade_id")}


def _header(held: Task | Outcome) -> dict[str, Any]:
    """Return all fields as JSON values, except those that are files of the archive."""
    plain: dict[str, Any] = msgspec.to_builtins(held, builtin_types=(bytes,))
    del plain["notebook"], plain["files"]
    return plain


def _pack(held: Task | Outcome) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        add(archive, "header.json", _json(_header(held)))
        add(archive, "notebook.ipynb", held.notebook)
        for path, content in sorted(held.files.items()):
            add(archive, f"files/{path}", content)
    return buffer.getvalue()


def _unpack(data: bytes) -> dict[str, Any]:
    """Return all fields of an archive, by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [name for name in archive.namelist() if name.startswith("files/")]
        return {
            **json.loads(archive.read("header.json")),
            "notebook": archive.read("notebook.ipynb"),
            "files": {name.removeprefix("files/"): archive.read(name) for name in names},
        }
