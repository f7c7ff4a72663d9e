"""The notebook's own folder: what the course remembers in `.course/`, beside the notebook.

A folder that cannot be written is fine: then it is remembered for this process only.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from pathlib import Path
from typing import Any

_PROGRESS = Path(".course", "progress.json")
_NUMBER = Path(".course", "number.json")
_remembered: dict[str, Any] = {}


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
    given = os.environ.get("COURSE_NUMBER", "")
    if given.isdigit():
        return int(given)
    kept = _read(_NUMBER)
    if isinstance(kept, int):
        return kept
    drawn = secrets.randbelow(2**31)
    _write(_NUMBER, drawn)
    return drawn


def write_atomically(path: Path, content: bytes, by_way_of: Path | None = None) -> None:
    """Writes a file whole or not at all: until it is whole, it lies hidden beside `path`, or in another folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = (by_way_of or path.parent) / f".{path.name}.{secrets.token_hex(4)}"
    try:
        with temporary.open("xb") as file:
            file.write(content)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _read(path: Path) -> Any:
    key = str(path.absolute())
    with contextlib.suppress(OSError, ValueError):
        _remembered[key] = json.loads(path.read_text(encoding="utf-8"))
    return _remembered.get(key)


def _write(path: Path, value: Any) -> None:
    _remembered[str(path.absolute())] = value
    with contextlib.suppress(OSError):
        write_atomically(path, json.dumps(value, indent=1).encode())
