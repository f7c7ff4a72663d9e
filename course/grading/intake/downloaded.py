"""Find the platform's names for each sender's files in a download, which may still be zipped."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from course.grading.intake.platforms import Sender, sender_of
from course.grading.intake.untrusted import everything, is_of_a_system


def names_by_sender(inbox: Path, senders: Iterable[Sender]) -> dict[Sender, list[str]]:
    """Return the names of the folders or files that the platform made for each of `senders`, and for nobody else.

    Args:
        inbox: `downloaded/<topic>/archive/`, which may be missing.
    """
    wanted = {(sender, sender.label): sender for sender in senders}
    found: dict[Sender, list[str]] = {}
    for path in _paths(inbox, wanted):
        named = _sender_and_name(path, wanted)
        if named and named[1] not in found.setdefault(named[0], []):
            found[named[0]].append(named[1])
    return found


def _paths(inbox: Path, wanted: dict[tuple[Sender, str], Sender]) -> Iterator[PurePosixPath]:
    """Yield all files below `inbox`, and those in zips that belong to no sender: these are the platform's downloads."""
    for file in everything(inbox):
        path = PurePosixPath(file.relative_to(inbox).as_posix())
        if file.is_symlink() or not file.is_file() or is_of_a_system(path):
            continue
        yield path
        if path.suffix.lower() == ".zip" and not _sender_and_name(path, wanted):
            yield from _packed(file)


def _packed(file: Path) -> Iterator[PurePosixPath]:
    """Yield the files in a zip; an unreadable zip yields none, because `nbgrader zip_collect` reports it."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = [PurePosixPath(one.filename.replace("\\", "/")) for one in archive.infolist() if not one.is_dir()]
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
        return
    yield from (name for name in names if not is_of_a_system(name))


def _sender_and_name(path: PurePosixPath, wanted: dict[tuple[Sender, str], Sender]) -> tuple[Sender, str] | None:
    """Return a file's sender and its name on the platform, by the outermost part of its path that names a wanted one.

    Canvas names only files, so a folder with such a name is not Canvas's.
    """
    for depth, part in enumerate(path.parts, 1):
        sender = sender_of(PurePosixPath(part), part)
        if sender is None or (sender.platform == "Canvas" and depth < len(path.parts)):
            continue
        if (sender, sender.label) in wanted:
            return sender, part
    return None
