"""Hashes that took a while to find out, kept in a file for processes to come."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from pathlib import Path

from course.files import write_atomically

MOST = 5000
"""Hashes in a file; texts that were edited away leave theirs behind, until all are found out anew."""


class KeptHashes:
    """The hashes in `file`, by name, and those that are found out until `keep` is called."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._known = _read(file)
        self._found: dict[str, str] = {}

    def of(self, name: str, find: Callable[[], str]) -> str:
        """The hash of that name; where none is known, `find` finds it out."""
        if name not in self._known:
            self._known[name] = self._found[name] = find()
        return self._known[name]

    def keep(self) -> None:
        """Write what was found out, unless nothing can be written there."""
        if not self._found:
            return
        everything = self._found if len(self._known) > MOST else self._known
        with contextlib.suppress(OSError):
            write_atomically(self.file, json.dumps(everything).encode())
        self._found = {}


def _read(file: Path) -> dict[str, str]:
    try:
        read = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {name: kept for name, kept in read.items() if isinstance(kept, str)} if isinstance(read, dict) else {}
