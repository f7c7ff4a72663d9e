"""Lock a topic, so that only one process at a time grades it, because two would damage each other's results."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from course.files import is_shared
from course.problem import Problem


@contextmanager
def topic_lock(root: Path, folder: str) -> Iterator[None]:
    """Hold the lock on the topic `folder` of the course at `root`; the system releases it if the process dies.

    Raises:
        Problem: another process holds the lock, or the course's disk does not support locks.
    """
    path = _lock(root, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path, mode=0o664 if is_shared(root) else 0o644)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise Problem(f"another command works on {folder}. Wait until it is done, or stop it") from None
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
    """Whether this process holds the topic's lock, so that an nbgrader step belongs to the grading of a class."""
    return _lock(root, folder) in _held


_held: set[Path] = set()


def _lock(root: Path, folder: str) -> Path:
    return root.resolve() / ".course" / "locks" / f"{folder}.lock"
