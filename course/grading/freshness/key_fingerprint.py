"""The fingerprint of all that a topic's answer key is made from. When it changes, the key is made again."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

from course.grading.freshness.engine_fingerprint import modules_of
from course.grading.freshness.import_graph import OWN, data_files, reached
from course.syllabus import OUTLINE, Topic

SHARED = ("exercise", "data")
"""Folders that every key is made with."""

BESIDE = ("predictions.py", "question.py")
"""What a key holds besides exercises, in the folder of one of our topics."""

GROUND = ("syllabus.py", "outline.py", "source.py", "files.py", *(f"{folder}/__init__.py" for folder in OWN))


def key_fingerprint(topic: Topic, package: Path) -> str:
    """A name for what the key of `topic` is made from: its tests, what they rest on, and the course in `package`."""
    digest = hashlib.sha256(f"{sys.version_info[:2]} torch {version('torch')} {topic.name} {topic.question}".encode())
    for path in sorted(set(_made_from(topic, package))):
        name = path.relative_to(package).as_posix() if path.is_relative_to(package) else "own"
        about = path.stat()
        digest.update(f"\0{name}\0".encode() + _hash(path, about.st_size, about.st_mtime_ns))
    if topic.own and OUTLINE is not None:
        digest.update(repr([item.name for item in topic.judged]).encode())
    return digest.hexdigest()[:32]


@cache
def _hash(path: Path, size: int, changed: int) -> bytes:
    """A hash of a file of that size, last changed then: all keys are made from much the same."""
    return hashlib.sha256(path.read_bytes()).digest()


def _made_from(topic: Topic, package: Path) -> Iterator[Path]:
    for file in (*GROUND, *reached(package, modules_of(topic))):
        if (path := package / file).is_file():
            yield path
    for beside in () if topic.own else BESIDE:
        if (path := package / "hidden" / topic.name / beside).is_file():
            yield path
    for folder in SHARED:
        yield from (package / folder).rglob("*.py")
    yield from data_files(package)
