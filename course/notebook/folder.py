"""The folder `.course/` beside a notebook, in which the course remembers a student's progress.

A folder that cannot be written is fine: then it is remembered for this process only.
"""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any

from ..files import write_atomically
from ..surroundings import beside_notebook, variable

_PROGRESS = Path(".course", "progress.json")
_NUMBER = Path(".course", "number.json")
_PATH = Path(".course", "path.json")
_unwritten: dict[str, Any] = {}
"""What could not be written, by the whole path of its file: newer than what that file may hold."""


def working_folder() -> Path:
    """The folder this process works in; an empty path where it was deleted meanwhile."""
    try:
        return Path.cwd()
    except OSError:
        return Path()


def read_progress(folder: Path = Path()) -> dict[str, dict[str, Any]]:
    """What is known of each exercise: `{"rnn_cell": {"passed": 3, "of": 3, "kind": "passed", "hints": 1}}`.

    `folder` is the notebook's, by default the one this process works in.
    """
    kept = _read(folder / _PROGRESS)
    facts = kept.items() if isinstance(kept, dict) else ()
    return {name: dict(known) for name, known in facts if isinstance(known, dict)}


def note(name: str, **facts: Any) -> None:
    """Adds facts to what is known of an exercise."""
    progress = read_progress()
    progress[name] = {**progress.get(name, {}), **facts}
    _write(_PROGRESS, progress)


def folder_number() -> int:
    """A number drawn once for this folder: reruns repeat themselves, and two people's folders differ."""
    given = variable("COURSE_NUMBER")
    if given.isdigit():
        return int(given)
    kept = _read(_NUMBER)
    if isinstance(kept, int):
        return kept
    drawn = secrets.randbelow(2**31)
    _write(_NUMBER, drawn)
    return drawn


def chosen_path() -> str:
    """Return the name of the path through the course that was chosen in this folder; empty where none was."""
    kept = _read(_PATH)
    return kept if isinstance(kept, str) else ""


def choose_path(name: str) -> None:
    """Remember the path of that name, or none where the name is empty."""
    _write(_PATH, name)


def _read(path: Path) -> Any:
    """What was written to the file, or would have been; None where that is nothing, or nothing that can be read."""
    place = _place(path)
    if str(place) in _unwritten:
        return _unwritten[str(place)]
    try:
        return json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def _write(path: Path, value: Any) -> None:
    place = _place(path)
    try:
        write_atomically(place, json.dumps(value, indent=1).encode())
        _unwritten.pop(str(place), None)
    except OSError:
        _unwritten[str(place)] = value


def _place(path: Path) -> Path:
    """The whole path of a file beside the notebook."""
    return working_folder() / beside_notebook(path)
