"""Recognise faults of the grading machine, and say for each what happened and what to do."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from course.data.cache import cache_folder
from course.problem import Problem

FULL = (errno.ENOSPC, errno.EDQUOT)
FULL_TEXTS = ("No space left on device", "Disk quota exceeded")
"""The messages of these errors, which libraries repeat in errors of other types."""

FORBIDDEN = (errno.EACCES, errno.EPERM)

NO_ROOM = 2**20
"""Free bytes below which a disk counts as full, for errors that do not name the disk."""

FILES = "no more files can be opened. Allow more with `ulimit -n 4096`, or use fewer --workers"
PROCESSES = "no more processes or threads can be started. Allow more with `ulimit -u`, or use fewer --workers"
MEMORY = "there is no memory left. Use fewer --workers, or close other programs"

SHORT = {errno.EMFILE: FILES, errno.ENFILE: FILES, errno.EAGAIN: PROCESSES, errno.ENOMEM: MEMORY}
"""The sentence on each resource that the system can run out of, by errno."""

GRADEBOOK = {
    ("locked",): "another program has locked the gradebook. Wait until it has saved, or close it (formgrader?)",
    ("readonly",): "the gradebook cannot be written. Change the rights of gradebook.db and of its folder",
    ("is full",): "no space is left on the gradebook's disk. Make room there",
    ("unable to open",): "the gradebook cannot be opened. Make sure that gradebook.db is a file, in a "
    "folder that can be written",
    ("no such", "has no column"): "the gradebook is from another version of nbgrader. Copy gradebook.db to "
    "a safe place, then run `nbgrader db upgrade`",
    ("not a database", "malformed"): "the gradebook is damaged. Replace gradebook.db with a copy, or move it "
    "away and grade again, which loses the points given by hand",
    ("disk I/O",): "the gradebook's disk fails to read or write. Check whether it is full, or broken",
}
"""The sentence on each error of SQLite, by words in its message."""


class Fault(Problem):
    """A fault of the machine, not of a submission: finished results are kept, and grading can continue later."""


def demand_short_names() -> None:
    """Check that the temporary folder's path is short enough for sockets below it, whose paths are limited.

    Raises:
        Problem: the path is too long.
    """
    if (length := len(str(tempfile.gettempdir()).encode())) > LONGEST:
        raise Problem(_too_long(f" ({length} characters, at most {LONGEST})"))


LONGEST = 107 - len("/pool-12345678/judge-12345678/socket")
"""Bytes of the temporary folder's path at most, because the path of a socket two folders below may have 107."""


def stops_all(error: BaseException | None) -> bool:
    """Whether an error is a fault of the machine that every other submission would meet, too."""
    return bool(advice_for(error)) and not (isinstance(error, OSError) and error.errno in FORBIDDEN)


def advice_for(error: BaseException | None) -> str:
    """Return a sentence on what is wrong with the machine and what to do, or "" if `error` is not its fault."""
    if isinstance(error, OSError):
        return _of_the_system(error)
    if isinstance(error, MemoryError):
        return MEMORY
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        return PROCESSES
    said = str(getattr(error, "orig", None) or error)
    if type(error).__module__.partition(".")[0] in ("sqlalchemy", "sqlite3") or said.startswith("(sqlite3."):
        return next((advice for words, advice in GRADEBOOK.items() if any(word in said for word in words)), "")
    return ""


def _of_the_system(error: OSError) -> str:
    """Return the sentence of `advice_for` on an error of the operating system, or ""."""
    if isinstance(error, shutil.Error):  # a copied folder's error, with a list of its files' errors
        error = _first(error)
    where = str(error.filename2 or error.filename or "")
    if error.errno in FULL:
        what = "no space is left on the disk" if error.errno == errno.ENOSPC else "your quota is used up on the disk"
        places = [where] if where else list(map(str, full_places()))
        which = f"of {' and of '.join(places)}" if places else "that grading writes to (`df -h` shows it)"
        return f"{what} {which}. Make room there{_elsewhere(places)}"
    if error.errno == errno.EROFS:
        what = f"{where or 'a file'} cannot be written, because its disk is mounted read-only"
        return f"{what}. Have it mounted for writing{_elsewhere([where])}"
    if error.errno in FORBIDDEN and where:
        return f"{where} may not be read or written by you. Change its rights{_elsewhere([where])}"
    if "AF_UNIX path too long" in str(error):
        return _too_long()
    return SHORT.get(error.errno or 0, "")


def _first(error: shutil.Error) -> OSError:
    """Return the first error of copying a folder, rebuilt from its text, because `shutil.Error` keeps only texts."""
    several = error.args[0] if error.args and isinstance(error.args[0], list) else []
    for _, target, said in several[:1]:
        number = next((number for number in (*FULL, errno.EROFS, *FORBIDDEN) if f"[Errno {number}]" in said), errno.EIO)
        return OSError(number, os.strerror(number), target)
    return OSError(str(error))


def full_places() -> Iterator[Path]:
    """Yield those folders that grading writes to whose disks are full."""
    for place in dict.fromkeys([Path.cwd(), _temporary(), cache_folder()]):
        while not place.is_dir() and place != place.parent:
            place = place.parent
        if shutil.disk_usage(place).free < NO_ROOM:
            yield place


def _elsewhere(places: list[str]) -> str:
    """Return advice to set `TMPDIR` or `COURSE_CACHE` if all `places` lie in the folder that it names, else ""."""
    for variable, folder, inside in (("TMPDIR", _temporary(), OURS), ("COURSE_CACHE", cache_folder(), ("",))):
        if places and all(_lies_in(place, folder, inside) for place in places):
            return f", or set {variable} to another folder"
    return ""


OURS = ("course-", "pool-", "judge-", "probe-", "zygote-", "tmp", "pymp-")
"""Prefixes of the temporary folders that grading makes; other folders beside them may be a whole course."""


def _lies_in(place: str, folder: Path, inside: tuple[str, ...]) -> bool:
    """Whether `place` is `folder`, or lies in an entry of it whose name begins with one of `inside`."""
    if not place or not Path(place).is_relative_to(folder):
        return False
    below = Path(place).relative_to(folder).parts
    return not below or below[0].startswith(inside)


def _temporary() -> Path:
    try:
        return Path(tempfile.gettempdir())
    except OSError:  # no temporary folder can be written
        return Path(tempfile.gettempprefix())


def _too_long(size: str = "") -> str:
    return f"the path of the temporary folder, {_temporary()}, is too long for sockets{size}. Set TMPDIR to /tmp"


def out_of_memory() -> int:
    """Return how many processes Linux has killed since it started because memory ran out; 0 on other systems.

    The count does not say which processes. A notebook that kills itself at such a moment is only executed again.
    """
    with contextlib.suppress(OSError):
        for line in Path("/proc/vmstat").read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0
