"""Hashes that took a while to find out of the course's files, kept in a file for processes to come."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from course.data.cache import cache_folder
from course.files import write_atomically

MOST = 500
"""Hashes in a file; states of the course that are gone leave theirs behind, until all are found out anew."""


class KeptHashes:
    """The hashes in `file`, by name."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._known = _read(file)

    def of(self, name: str, find: Callable[[], str]) -> str:
        """The hash of that name; where none is known, `find` finds it out, and it is kept if it can be written."""
        if name not in self._known:
            known = self._known if len(self._known) < MOST else {}
            self._known = {**known, name: find()}
            with contextlib.suppress(OSError):
                write_atomically(self.file, json.dumps(self._known).encode())
        return self._known[name]


def _read(file: Path) -> dict[str, str]:
    try:
        read = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {name: kept for name, kept in read.items() if isinstance(kept, str)} if isinstance(read, dict) else {}


@cache
def hashes() -> KeptHashes:
    """The hashes in the course's cache."""
    return KeptHashes(cache_folder() / "hashes.json")


def once_a_state(package: Path, asked: bytes, find: Callable[[], str]) -> str:
    """The hash that `find` finds out from the files of `package` and from `asked`, and from nothing else."""
    name = hashlib.sha256(f"{sys.version_info[:2]}{state_of(package)}".encode() + asked).hexdigest()
    return hashes().of(name, find)


@cache
def state_of(package: Path) -> str:
    """A hash of all files of a package, as they are."""
    digest = hashlib.sha256()
    for path in sorted(path for path in package.rglob("*") if "__pycache__" not in path.parts and path.is_file()):
        content = hashlib.sha256(path.read_bytes()).digest()
        digest.update(path.relative_to(package).as_posix().encode() + content)
    return digest.hexdigest()
