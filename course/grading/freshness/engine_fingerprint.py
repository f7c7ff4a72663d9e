"""The state of the grading machine that decides results: tests, course, Python and torch, as one short name."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path

import course
from course.grading.freshness.import_graph import OWN, data_files, reached
from course.syllabus import OUTLINE, TOPICS, Topic

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
                yield _own_tests(topic).read_bytes()


def modules_of(topic: Topic) -> list[str]:
    """The modules that hold a topic's tests and reference, as seen from the package, whether or not they are there."""
    if not topic.own:
        return [f"{folder}/{topic.name}.py" for folder in OWN]
    return [str(_own_tests(topic).resolve())] if OUTLINE is not None and not OUTLINE.carried else []


def _own_tests(topic: Topic) -> Path:
    assert OUTLINE is not None, "only a course of an instructor's own has topics of its own"
    return OUTLINE.own_folder(topic.folder) / "hidden.py"


def _files(package: Path, topics: frozenset[str]) -> Iterable[Path]:
    """What decides the results of these topics: of the folders with a module for each, what theirs rest on."""
    needed = reached(package, (file for topic in TOPICS if topic.name in topics for file in modules_of(topic)))
    for path in package.rglob("*.py"):
        relative = path.relative_to(package)
        spared = relative.parts[0] in OWN and path.name != "__init__.py" and relative.as_posix() not in needed
        if not spared and not set(BESIDE) & set(relative.parts):
            yield path
    yield from data_files(package)
