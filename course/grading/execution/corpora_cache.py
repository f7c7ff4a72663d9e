"""Fill the cache with the corpora that kernels read, before they start, because they cannot write to it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import course
from course.data import CORPORA, load
from course.data.cache import cache_folder
from course.grading.execution.fingerprints import files_of
from course.syllabus import Topic

FILLED = "filled"
"""The cache's folder of notes, one for each corpus: the digest of the code that made it, and its entries."""

GRADERS = ("editions", "answer-keys", "keys", "proofs", "matplotlib", FILLED)
"""Entries of the cache that only the grader may read: editions, expected answers, proofs, fonts, notes."""

FILLING = 300.0
"""Timeout in seconds for making a topic's corpora; afterwards every notebook makes its own."""


def for_students() -> list[Path]:
    """Return the cache's entries that students may read: the corpora, and nothing in `GRADERS`."""
    cache = cache_folder()
    return [path for path in sorted(cache.iterdir()) if path.name not in GRADERS] if cache.is_dir() else []


def fill_cache(topic: Topic) -> None:
    """Make a topic's missing corpora before kernels start, because kernels can read the cache but not write to it.

    If this fails, each notebook makes its own, which costs only time. A subprocess makes them, so that the grader's
    process need not import torch.
    """
    notes = cache_folder() / FILLED
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        missing = [name for name in corpora_of(topic) if not _holds(name)]
        if not missing:
            return
        notes.mkdir(parents=True, exist_ok=True)
        if not os.access(notes, os.W_OK):
            return
        paths = [str(Path(course.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        subprocess.run(
            [sys.executable, "-P", "-c", f"from {__name__} import keep_corpora as keep; keep({missing!r})"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=FILLING,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        )


def corpora_of(topic: Topic) -> list[str]:
    """Return the names of the corpora that a topic's tests load and that the cache keeps."""
    package = Path(course.__file__).parent
    drawn = _imported("course.data", files_of(topic, package))
    return [name for name in CORPORA if name in drawn and "kept" in _imported(".cache", [package / f"data/{name}.py"])]


def _imported(module: str, files: Iterable[Path]) -> set[str]:
    """Return the names that the files import from `module`; each import is read from one line."""
    lines = (line for path in files for line in path.read_text("utf-8").splitlines())
    found = (line.partition(f"from {module} import ")[2] for line in lines)
    return {name.strip() for names in found for name in names.split(",")}


def keep_corpora(names: Iterable[str]) -> None:
    """Load the corpora, so that the cache keeps them, and write a note of the entries of each."""
    cache, state = cache_folder(), state_of_data()
    for name in names:
        loaded = load(name)
        parts = loaded.values() if isinstance(loaded, dict) else [loaded]
        files = [Path(file["filename"]).resolve() for part in parts for file in part.cache_files]
        inside = [file.relative_to(cache.resolve()) for file in files if file.is_relative_to(cache.resolve())]
        if inside:
            (cache / FILLED).mkdir(parents=True, exist_ok=True)
            (cache / FILLED / name).write_text("\n".join([state, *sorted({file.parts[0] for file in inside})]))


def _holds(name: str) -> bool:
    """Whether the cache holds a corpus that the present code made."""
    try:
        state, *entries = (cache_folder() / FILLED / name).read_text().splitlines()
    except (OSError, ValueError):
        return False
    return state == state_of_data() and all((cache_folder() / entry).is_dir() for entry in entries)


def state_of_data() -> str:
    """Return a digest of the code that makes corpora and of Python's version, whose library is one corpus."""
    digest = hashlib.sha256(platform.python_version().encode())
    for path in sorted(Path(course.__file__).parent.glob("data/*.py")):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
