"""Make each exercise's key with hidden cases once for each seed, and share it among the judges of a class.

Drawing cases and running the reference takes up to a second for an exercise, and a key takes up to 30 megabytes. So a
process caches a few keys, and the judges of one grading run share theirs in a folder that is deleted afterwards.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from collections import OrderedDict
from pathlib import Path

from ..exercise import Exercise
from ..exercise.key import Key, NoKey, key_of, pack_cases, unpack_cases
from ..exercise.values import Malformed

MOST_HELD = 48
"""Number of keys cached in memory: those of four seeds of a topic."""

SPARE = 2**30
"""Bytes of free disk space to keep. The keys of a class's sixteen seeds can take some hundred megabytes."""

held_keys: OrderedDict[tuple[int, int], tuple[Exercise, Key]] = OrderedDict()
_lock = threading.Lock()
shared_folder: Path | None = None


def share(folder: Path | None) -> None:
    """Let this process's judges read keys from `folder`, and write those they make into it.

    Share a folder only among processes with the same course and torch version. No student's process may read it.
    """
    global shared_folder
    shared_folder = folder


def expected(exercise: Exercise, seed: int) -> Key:
    """Return the key of an exercise for a seed."""
    with _lock:
        name = id(exercise), seed
        if name not in held_keys or held_keys[name][0] is not exercise:
            held_keys[name] = exercise, _found(exercise, seed) or _made(exercise, seed)
        held_keys.move_to_end(name)
        while len(held_keys) > MOST_HELD:
            held_keys.popitem(last=False)
        return held_keys[name][1]


def _found(exercise: Exercise, seed: int) -> Key | None:
    """Return the key that another judge wrote to the shared folder, or None."""
    if shared_folder is None:
        return None
    try:
        return unpack_cases(_place(shared_folder, exercise, seed).read_bytes(), exercise)
    except (OSError, Malformed):
        return None


def _made(exercise: Exercise, seed: int) -> Key:
    """Make the key, and write it atomically to the shared folder for other judges."""
    key = key_of(exercise, seed)
    if shared_folder is not None:
        with contextlib.suppress(OSError, NoKey):  # the other judges then make the key themselves
            _leave(key, _place(shared_folder, exercise, seed))
    return key


def _leave(key: Key, place: Path) -> None:
    """Write a key to the shared folder, unless the disk is nearly full."""
    if shutil.disk_usage(place.parent).free < SPARE:
        return
    part = place.with_suffix(f".{os.getpid()}")
    try:
        part.write_bytes(pack_cases(key))
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)


def _place(folder: Path, exercise: Exercise, seed: int) -> Path:
    return folder / f"{exercise.name}-{seed}.cases"
