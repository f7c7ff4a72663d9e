"""The folder `.course/` beside a notebook, in which the course remembers a student's progress.

A folder that cannot be written is fine: then it is remembered for this process only.
"""

from __future__ import annotations

import json
import secrets
from datetime import datetime
from pathlib import Path
from typing import Any

from ..files import write_atomically
from ..surroundings import beside_notebook, variable

_PROGRESS = Path(".course", "progress.json")
_NUMBER = Path(".course", "number.json")
_PATH = Path(".course", "path.json")
_GRADES = Path(".course", "grades.json")
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

    `folder` is the notebook's, by default the one this process works in. `passed_at`, `predicted_at` and `met_at` are
    times as `now` writes them, which what an earlier version kept lacks.
    """
    return _tables(folder / _PROGRESS)


def note(name: str, **facts: Any) -> None:
    """Adds facts to what is known of an exercise."""
    progress = read_progress()
    progress[name] = {**progress.get(name, {}), **facts}
    _write(_PROGRESS, progress)


def read_grades(folder: Path) -> dict[str, dict[str, Any]]:
    """What `course grade` gave the notebooks in a folder: `{"03_rnn": {"score": 25, "points": 26, "at": …}}`.

    `earned` has the points of each exercise.
    """
    return _tables(folder / _GRADES)


def keep_grade(folder: Path, topic: str, **facts: Any) -> None:
    """Keep what `course grade` gave a topic's notebook in `folder`, and when, in place of an earlier grade."""
    _write(folder / _GRADES, {**read_grades(folder), topic: {**facts, "at": now()}})


def now() -> str:
    """Return the present time in ISO 8601 with its time zone, such as `2026-11-28T14:05:00+01:00`."""
    return datetime.now().astimezone().isoformat(timespec="seconds")


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


def chosen_path(home: Path = Path()) -> str:
    """Return the name of the path that was chosen in `home`, the folder of the map; empty where none was."""
    kept = _read(home / _PATH)
    return kept if isinstance(kept, str) else ""


def choose_path(name: str, home: Path = Path()) -> bool:
    """Remember the path of that name, or none where the name is empty; return whether a file could be written."""
    return _write(home / _PATH, name)


def _tables(path: Path) -> dict[str, dict[str, Any]]:
    kept = _read(path)
    facts = kept.items() if isinstance(kept, dict) else ()
    return {name: dict(known) for name, known in facts if isinstance(known, dict)}


def _read(path: Path) -> Any:
    """What was written to the file, or would have been; None where that is nothing, or nothing that can be read."""
    place = _place(path)
    if str(place) in _unwritten:
        return _unwritten[str(place)]
    try:
        return json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None


def _write(path: Path, value: Any) -> bool:
    place = _place(path)
    try:
        write_atomically(place, json.dumps(value, indent=1).encode())
        _unwritten.pop(str(place), None)
    except OSError:
        _unwritten[str(place)] = value
        return False
    return True


def _place(path: Path) -> Path:
    """The whole path of a file beside the notebook."""
    return working_folder() / beside_notebook(path)
