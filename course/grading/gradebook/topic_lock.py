"""A lock that lets one process at a time grade a topic, because two would damage each other's results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from course.files import is_shared
from course.grading.problem import Problem


@contextmanager
def topic_lock(root: Path, folder: str) -> Iterator[None]:
    """Grade the topic in `folder` of the course at `root` alone; the system ends it with the process, however it ends.

    Raises:
        Problem: somebody else does just now, or the course's disk has no locks to tell.
    """
    path = _lock(root, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path, mode=0o664 if is_shared(root) else 0o644)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise Problem(f"{folder} is being graded by another process. Wait until it is done, or stop it") from None
    except OSError as error:
        if error.filename is not None:
            raise
        why = (
            f"{path} cannot be locked ({error.strerror}), so two processes could grade {folder} at once "
            "and damage its results"
        )
        raise Problem(f"{why}. Move the course to a disk that supports locks, or mount this one with them") from error
    _held.add(path)
    try:
        yield
    finally:
        _held.discard(path)
        lock.release()


def holds_topic_lock(root: Path, folder: str) -> bool:
    """Whether this process grades the topic just now: nbgrader's own step is one of a class's grading."""
    return _lock(root, folder) in _held


_held: set[Path] = set()


def _lock(root: Path, folder: str) -> Path:
    return root.resolve() / ".course" / "locks" / f"{folder}.lock"
