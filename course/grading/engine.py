"""The state of the grading machine that decides results: tests, course, Python and torch, as one short name."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path

import course
from course.syllabus import OURS, OUTLINE, TOPICS

OWN = ("hidden", "reference")
"""Folders with a module for each topic: a change to one of them leaves the results of the other topics as they are."""

BESIDE = ("cli.py", "__main__.py", "keys", "__pycache__")
"""What decides nothing."""


@cache
def fingerprint(topics: frozenset[str]) -> str:
    """A name for all that decides the results of notebooks on these topics, beside the notebooks themselves."""
    digest = hashlib.sha256(f"{sys.version_info[:2]} torch {version('torch')}".encode())
    package = Path(course.__file__).parent
    for path in sorted(_files(package, topics)):
        digest.update(path.relative_to(package).as_posix().encode() + hashlib.sha256(path.read_bytes()).digest())
    for decisive in _of_the_instructor(topics):
        digest.update(decisive)
    return digest.hexdigest()[:16]


def _of_the_instructor(topics: frozenset[str]) -> Iterable[bytes]:
    """Exercises and points, and the tests of the instructor's own topics; dates and lateness decide no result."""
    if OUTLINE is None:
        return
    for topic in TOPICS:
        if topic.name in topics:
            yield repr(topic.items).encode()
            if topic.own and not OUTLINE.carried:
                yield (OUTLINE.own_folder(topic.folder) / "hidden.py").read_bytes()


def _files(package: Path, topics: frozenset[str]) -> Iterable[Path]:
    others = {topic.name for topic in OURS} - topics
    for path in package.rglob("*.py"):
        parts = path.relative_to(package).parts
        if not (parts[0] in OWN and path.stem in others) and not set(BESIDE) & set(parts):
            yield path
