"""What a platform called the files of each sender, in what was downloaded from it, packed as it is or unpacked."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from course.grading.intake.platforms import Sender, sender_of
from course.grading.intake.untrusted import everything, is_of_a_system


def names_by_sender(inbox: Path, senders: Iterable[Sender]) -> dict[Sender, list[str]]:
    """The folders or files that the platform made for each of `senders`, by name, without those it made for others.

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
    """All files below `inbox`, and those in zips that are nobody's own: these are the platform's downloads."""
    for file in everything(inbox):
        path = PurePosixPath(file.relative_to(inbox).as_posix())
        if file.is_symlink() or not file.is_file() or is_of_a_system(path):
            continue
        yield path
        if path.suffix.lower() == ".zip" and not _sender_and_name(path, wanted):
            yield from _packed(file)


def _packed(file: Path) -> Iterator[PurePosixPath]:
    """The files in a zip; none where it cannot be read, of which `nbgrader zip_collect` tells."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = [PurePosixPath(one.filename.replace("\\", "/")) for one in archive.infolist() if not one.is_dir()]
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
        return
    yield from (name for name in names if not is_of_a_system(name))


def _sender_and_name(path: PurePosixPath, wanted: dict[tuple[Sender, str], Sender]) -> tuple[Sender, str] | None:
    """Whose a file is and what the platform called it, by the outermost part of its path that names one of `wanted`.

    Canvas gives its names to files alone, and what looks like one of a folder is somebody else's.
    """
    for depth, part in enumerate(path.parts, 1):
        sender = sender_of(PurePosixPath(part), part)
        if sender is None or (sender.platform == "Canvas" and depth < len(path.parts)):
            continue
        if (sender, sender.label) in wanted:
            return sender, part
    return None
