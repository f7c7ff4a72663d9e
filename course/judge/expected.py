"""Keys with hidden cases: made once for each exercise and seed, and shared by the judges of a class.

Drawing cases and running the reference takes up to a second an exercise, and a key up to 30 megabytes. So a process
holds a few, and the judges of one grading share what they made through a folder, which ends with the grading.
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
"""Keys in memory: those of four seeds of a topic."""

SPARE = 2**30
"""Bytes that are left free on the disk: the sixteen seeds of a class can come to some hundred megabytes."""

held_keys: OrderedDict[tuple[int, int], tuple[Exercise, Key]] = OrderedDict()
_lock = threading.Lock()
shared_folder: Path | None = None


def share(folder: Path | None) -> None:
    """Have this process's judges look for keys in `folder`, and leave there those they make.

    Only processes with the same course and torch may share one, and no student's may see it.
    """
    global shared_folder
    shared_folder = folder


def expected(exercise: Exercise, seed: int) -> Key:
    """The key of an exercise for a seed."""
    with _lock:
        name = id(exercise), seed
        if name not in held_keys or held_keys[name][0] is not exercise:
            held_keys[name] = exercise, _found(exercise, seed) or _made(exercise, seed)
        held_keys.move_to_end(name)
        while len(held_keys) > MOST_HELD:
            held_keys.popitem(last=False)
        return held_keys[name][1]


def _found(exercise: Exercise, seed: int) -> Key | None:
    """The key another judge left."""
    if shared_folder is None:
        return None
    try:
        return unpack_cases(_place(shared_folder, exercise, seed).read_bytes(), exercise)
    except (OSError, Malformed):
        return None


def _made(exercise: Exercise, seed: int) -> Key:
    """The key made anew, and left for other judges in one step."""
    key = key_of(exercise, seed)
    if shared_folder is not None:
        with contextlib.suppress(OSError, NoKey):  # then the others make it for themselves
            _leave(key, _place(shared_folder, exercise, seed))
    return key


def _leave(key: Key, place: Path) -> None:
    """Write a key where others look for it, unless the disk is getting full."""
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
