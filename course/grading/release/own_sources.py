"""Find an instructor's sources that are older than ours, by hashes of our sources when they were copied."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import course
from course.course import is_course
from course.files import write_atomically
from course.grading.course_folder import source_path
from course.syllabus import Topic

COPIED = Path(".course", "sources.json")
"""The file with the hashes of our sources, by topic, when they were copied into an instructor's course."""

OURS = Path(course.__file__).parents[1]
"""The folder of our repository, if this package is in it."""


def note_copied(root: Path, topics: Sequence[Topic], ours: Path = OURS) -> None:
    """Save the hashes of our sources that equal the instructor's now, or that have no saved hash."""
    kept = _copied(root)
    now = {
        topic.folder: theirs
        for topic, mine, theirs in _both(root, topics, ours)
        if mine == theirs or topic.folder not in kept
    }
    if now.items() - kept.items():
        write_atomically(root / COPIED, json.dumps(kept | now, indent=1).encode())


def older_than_ours(root: Path, topics: Sequence[Topic], ours: Path = OURS) -> Iterator[str]:
    """Yield a sentence for each source that is older than ours, with what to do."""
    kept = _copied(root)
    for topic, mine, theirs in _both(root, topics, ours):
        copied = kept.get(topic.folder)
        if theirs in (mine, copied):
            continue
        path, there = source_path(root, topic), source_path(ours, topic)
        if copied == mine:
            renew = f"To renew it, copy {there} there and run `course release {topic.folder}`"
            yield f"{path.relative_to(root)} is older than ours. {renew}"
        else:
            why = "has your edits, and ours has changed since" if copied else "differs from ours, and may be older"
            yield f"{path.relative_to(root)} {why}. Compare it with {there}"


def _both(root: Path, topics: Sequence[Topic], ours: Path) -> Iterator[tuple[Topic, str, str]]:
    """Yield the topics that have a source in `root` and in ours, with the hashes of both."""
    for topic in topics if is_course(ours) and root.resolve() != ours.resolve() else ():
        paths = source_path(root, topic), source_path(ours, topic)
        if all(path.is_file() for path in paths):
            mine, theirs = (hashlib.sha256(path.read_bytes()).hexdigest() for path in paths)
            yield topic, mine, theirs


def _copied(root: Path) -> dict[str, str]:
    try:
        return {str(topic): str(told) for topic, told in json.loads((root / COPIED).read_text("utf-8")).items()}
    except (OSError, ValueError, AttributeError):
        return {}
