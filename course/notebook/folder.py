"""Store a student's progress in the folder `.course/` beside a notebook.

If the folder cannot be written, this process keeps the progress in memory.
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
_QUESTIONS = Path(".course", "questions.json")
_unwritten: dict[str, Any] = {}
"""Values that could not be written, by absolute path. They are newer than the content of the file."""


def working_folder() -> Path:
    """Return the working folder of this process, or an empty path if it was deleted."""
    try:
        return Path.cwd()
    except OSError:
        return Path()


def read_progress(folder: Path = Path()) -> dict[str, dict[str, Any]]:
    """Return the facts about each exercise: `{"rnn_cell": {"passed": 3, "of": 3, "kind": "passed", "hints": 1}}`.

    `folder` is the notebook's, by default the working folder. `passed_at`, `predicted_at` and `met_at` are times in the
    form of `now`. Files of earlier versions lack them.
    """
    return _tables(folder / _PROGRESS)


def note(name: str, **facts: Any) -> None:
    """Add facts about an exercise."""
    progress = read_progress()
    progress[name] = {**progress.get(name, {}), **facts}
    _write(_PROGRESS, progress)


def read_grades(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the grades of `course grade` for a folder's notebooks: `{"03_rnn": {"score": 25, "points": 26, "at": …}}`.

    `earned` holds the points of each exercise.
    """
    return _tables(folder / _GRADES)


def keep_grade(folder: Path, topic: str, **facts: Any) -> bool:
    """Store the grade from `course grade` for a topic's notebook in `folder`, with the time, over an earlier grade.

    Returns:
        Whether it could be stored.
    """
    return _write(folder / _GRADES, {**read_grades(folder), topic: {**facts, "at": now()}})


def read_questions(folder: Path = Path()) -> dict[str, dict[str, Any]]:
    """Return the questions that `explain` asked about each exercise in `folder`, and what `review` asks again."""
    return _tables(folder / _QUESTIONS)


def keep_questions(name: str, folder: Path = Path(), **facts: Any) -> None:
    """Add facts about the questions on an exercise or prediction."""
    known = read_questions(folder)
    _write(folder / _QUESTIONS, {**known, name: {**known.get(name, {}), **facts}})


def now() -> str:
    """Return the current time in ISO 8601 with its time zone, such as `2026-11-28T14:05:00+01:00`."""
    return datetime.now().astimezone().isoformat(timespec="seconds")


def folder_number() -> int:
    """Return a random number that is drawn once for this folder, so reruns repeat but two students' folders differ."""
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
    """Return the name of the path chosen in `home`, the folder of the map, or an empty string."""
    kept = _read(home / _PATH)
    return kept if isinstance(kept, str) else ""


def choose_path(name: str, home: Path = Path()) -> bool:
    """Store the name of the chosen path, or an empty one. Return whether the file could be written."""
    return _write(home / _PATH, name)


def _tables(path: Path) -> dict[str, dict[str, Any]]:
    kept = _read(path)
    facts = kept.items() if isinstance(kept, dict) else ()
    return {name: dict(known) for name, known in facts if isinstance(known, dict)}


def _read(path: Path) -> Any:
    """Return the content of a file, or the value that could not be written to it. None if there is no readable one."""
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
    """Return the absolute path of a file beside the notebook."""
    return working_folder() / beside_notebook(path)
