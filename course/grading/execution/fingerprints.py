"""Compute digests of the code that decides a result; if a digest changes, work is executed or judged again.

A digest covers whole files, folder by folder, so that any edit of such a file counts. `fingerprint` covers the
execution of notebooks, `state_of` the tests of one exercise, and `key_fingerprint` the answer key of a topic.
`questions_fingerprint` covers what is asked about an answer.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Collection
from functools import cache
from importlib.metadata import version
from pathlib import Path

import course
from course.syllabus import Item, Topic

TESTS = (
    *("course.py", "data", "exercise", "files.py", "outline.py", "reference", "source.py", "syllabus.py"),
    *("hidden/*.py", "hidden/*/scaffold.py"),
)
"""Folders and files that the tests of every exercise depend on. Topics import only scaffolds of each other's tests."""

EXECUTION = (
    *("blocks", "edition.py", "judge", "notebook", "problem.py", "show", "surroundings.py"),
    *(f"grading/{folder}" for folder in ("course_files", "execution", "intake", "kernels", "machine", "sandbox")),
)
"""Folders and files that the execution of a notebook depends on besides those of the tests."""


@cache
def fingerprint(topics: frozenset[Topic]) -> str:
    """Return a digest of all code that decides the results of notebooks on these topics, notebooks not included."""
    chosen = sorted(topics, key=lambda topic: topic.number)
    about = [f"{topic.name} {topic.items}" for topic in chosen]
    names = sorted(topic.name for topic in topics)
    return _digest(Path(course.__file__).parent, chosen, EXECUTION, f"{names} {about}")[:16]


@cache
def state_of(topic: Topic, item: Item, package: Path | None = None) -> str:
    """Return a digest of an exercise's tests, and of all code that its topic's tests depend on.

    Args:
        topic: the topic of the exercise `item`.
        package: the folder of the `course` package, by default the one in use.
    """
    return _digest(package or Path(course.__file__).parent, [topic], ("judge",), str(item))[:16]


def key_fingerprint(topic: Topic, package: Path) -> str:
    """Return a digest of all code that a topic's answer key is made from."""
    names = [item.name for item in topic.judged] if topic.own else []
    return _digest(package, [topic], (), f"{topic.name} {topic.question} {names}")[:32]


@cache
def questions_fingerprint() -> str:
    """Return a digest of all code that decides which questions are asked about an answer."""
    return _digest(Path(course.__file__).parent, [], ("questions",), "")[:16]


def files_of(topic: Topic, package: Path) -> list[Path]:
    """Return the files of a topic's tests: an instructor's own topic has one, except in a student's copy."""
    if topic.home is None:
        return _files(package, [f"hidden/{topic.name}"])
    return [path for path in [topic.home / "hidden.py"] if path.is_file()]


def _digest(package: Path, topics: Collection[Topic], beside: Collection[str], about: str) -> str:
    """Return the digest of the tests of `topics`, of the places `beside` and of `about`, on this Python and torch."""
    digest = hashlib.sha256(f"{sys.version_info[:2]} torch {version('torch')} {about}".encode())
    for path in _files(package, (*TESTS, *beside)):
        digest.update(f"\0{path.relative_to(package).as_posix()}\0".encode() + _hash(path))
    for topic in topics:
        for path in files_of(topic, package):
            digest.update(f"\0{topic.name} {path.name}\0".encode() + _hash(path))
    return digest.hexdigest()


def _files(package: Path, places: Collection[str]) -> list[Path]:
    """Return the files of the package in these places, in order, without caches, hidden files and notes."""
    found = {path for place in places for root in package.glob(place) for path in (root, *root.rglob("*"))}
    return sorted(path for path in found if path.is_file() and not _is_left_there(path.relative_to(package)))


def _is_left_there(path: Path) -> bool:
    return path.suffix == ".md" or any(part.startswith((".", "__pycache__")) for part in path.parts)


def _hash(path: Path) -> bytes:
    """Return the hash of a file, which is read again only if its size or modification time changes."""
    about = path.stat()
    return _read(path, about.st_size, about.st_mtime_ns)


@cache
def _read(path: Path, _size: int, _changed: int) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()
