"""Check memory, disk, the folders that notebooks write to, and downloaded weights, for `course doctor`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from course.grading.machine.finding import GIB, Finding, Kind

LITTLE_DISK, NO_DISK = 2.0, 0.3
"""GiB. An assignment takes some megabytes and the cache of corpora some tens; below `NO_DISK`, saving may fail."""
LITTLE_MEMORY, NO_MEMORY = 2.0, 1.0
"""GiB. Every notebook of the course runs within 1.5 GB, and JupyterLab needs some more."""


def memory(size: float) -> Finding:
    """Check that `size` bytes of memory are enough; 0 means an unknown size, which gets a note."""
    if not size:
        return Finding("note", "memory", "unknown", f"Notebooks need about {LITTLE_MEMORY:.0f} GiB")
    said = f"{size / GIB:.1f} GiB"
    if size < NO_MEMORY * GIB:
        return Finding("wrong", "memory", said, f"Notebooks need about {LITTLE_MEMORY:.0f} GiB. Use Binder or Colab")
    if size < LITTLE_MEMORY * GIB * 0.95:  # as much as a machine with 2 GB reports
        return Finding(
            "note", "memory", said, "Open one notebook at a time, and shut its kernel down when you leave it"
        )
    return Finding("fine", "memory", said)


def disk(folder: Path, free: float) -> Finding:
    """Check that `free` bytes are enough for the files that notebooks write in `folder`."""
    said = f"{free / GIB:.1f} GiB free in {folder}"
    if free < NO_DISK * GIB:
        return Finding("wrong", "disk", said, "Make room, or a notebook that cannot be saved is lost")
    if free < LITTLE_DISK * GIB:
        return Finding("note", "disk", said, "This is enough for the notebooks. `pip cache purge` makes more room")
    return Finding("fine", "disk", said)


def writable(folder: Path) -> Iterator[Finding]:
    """Check that the folder of the notebooks and the cache of corpora can be written."""
    from course.data.cache import cache_folder

    if not _is_folder(folder):
        yield Finding(
            "wrong",
            "folder",
            f"there is no folder {folder}",
            "Name the folder with your notebooks, or leave the name out",
        )
        return
    for what, place, then in (
        ("folder", folder, "Progress and checkpoints are lost here. Copy the notebooks to a folder of your own"),
        ("cache", cache_folder(), "Corpora are made again each time. Set COURSE_CACHE to a folder of your own"),
    ):
        try:
            with tempfile.NamedTemporaryFile(dir=existing(place), prefix=".course-doctor-"):
                yield Finding("fine", what, f"{place} can be written")
        except OSError as error:
            kind: Kind = "wrong" if what == "folder" else "note"
            yield Finding(kind, what, f"{place} cannot be written ({error.strerror})", then)


def language_model() -> Iterator[Finding]:
    """Say whether the weights of `data.load_language_model()` are in the cache. No notebook needs them."""
    from course.data.language_model import fetch

    if fetch.is_kept():
        yield Finding("fine", "weights", f"SmolLM2-135M-Instruct is in {fetch.kept().parent}")
    elif fetch.kept().exists():
        advice = "Run data.load_language_model(download=True) in a notebook"
        yield Finding("note", "weights", f"{fetch.kept()} is damaged, and no notebook needs it", advice)
    else:
        said = "SmolLM2-135M-Instruct is not here, and no notebook needs it. data.load_language_model() tells more"
        yield Finding("fine", "weights", said)


def existing(folder: Path) -> Path:
    """Return a folder, or else the nearest folder above it that exists and can be accessed."""
    return next(place for place in (folder.absolute(), *folder.absolute().parents) if _is_folder(place))


def _is_folder(place: Path) -> bool:
    try:
        return place.is_dir()
    except OSError:  # a folder above it may not be accessed
        return False
