"""Faults of the grading machine, each with a sentence that says what happened and what to do."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from course.data.cache import cache_folder
from course.grading.problem import Problem

FULL = (errno.ENOSPC, errno.EDQUOT)
FULL_TEXTS = ("No space left on device", "Disk quota exceeded")
"""The same, as every library's error says it, whatever it is called."""

FORBIDDEN = (errno.EACCES, errno.EPERM)

NO_ROOM = 2**20
"""Free bytes of a disk that is called full where an error does not say which one is."""

FILES = "no more files can be opened. Allow more with `ulimit -n 4096`, or use fewer --workers"
PROCESSES = "no more processes or threads can be started. Allow more with `ulimit -u`, or use fewer --workers"
MEMORY = "there is no memory left. Use fewer --workers, or close other programs"

SHORT = {errno.EMFILE: FILES, errno.ENFILE: FILES, errno.EAGAIN: PROCESSES, errno.ENOMEM: MEMORY}
"""What the system has too little of, by the numbers of its errors."""

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
"""What to do about an error of SQLite's, by words of it."""


class Fault(Problem):
    """Something is wrong with the machine and not with anybody's work: what is done is kept, and it can go on later."""


def demand_short_names() -> None:
    """Refuse a folder for temporary files in whose folders no socket could be made, as their paths are limited.

    Raises:
        Problem: its path is too long.
    """
    if (length := len(str(tempfile.gettempdir()).encode())) > LONGEST:
        raise Problem(_too_long(f" ({length} characters, at most {LONGEST})"))


LONGEST = 107 - len("/crew-12345678/judge-12345678/socket")
"""Bytes of the path of the folder for temporary files: the path of a socket in a folder of its folders has 107."""


def stops_all(error: BaseException | None) -> bool:
    """Whether an error is a fault of the machine that everybody else's work would meet as well."""
    return bool(advice_for(error)) and not (isinstance(error, OSError) and error.errno in FORBIDDEN)


def advice_for(error: BaseException | None) -> str:
    """What is wrong with the machine and what to do, or nothing where `error` is none of its faults."""
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
    """The same of an error of the operating system."""
    if isinstance(error, shutil.Error):  # of a folder that was copied: what happened to each file
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
    """The first of the errors that copying a folder met, of which it keeps the texts."""
    several = error.args[0] if error.args and isinstance(error.args[0], list) else []
    for _, target, said in several[:1]:
        number = next((number for number in (*FULL, errno.EROFS, *FORBIDDEN) if f"[Errno {number}]" in said), errno.EIO)
        return OSError(number, os.strerror(number), target)
    return OSError(str(error))


def full_places() -> Iterator[Path]:
    """Those of the folders that grading writes to whose disks are full."""
    for place in dict.fromkeys([Path.cwd(), _temporary(), cache_folder()]):
        while not place.is_dir() and place != place.parent:
            place = place.parent
        if shutil.disk_usage(place).free < NO_ROOM:
            yield place


def _elsewhere(places: list[str]) -> str:
    """The variable that names another folder, where all of `places` are in the folder that it names."""
    for variable, folder, inside in (("TMPDIR", _temporary(), OURS), ("COURSE_CACHE", cache_folder(), ("",))):
        if places and all(_lies_in(place, folder, inside) for place in places):
            return f", or set {variable} to another folder"
    return ""


OURS = ("course-", "crew-", "judge-", "probe-", "zygote-", "tmp", "pymp-")
"""What the folders that grading makes among the temporary ones begin with: a whole course may lie beside them."""


def _lies_in(place: str, folder: Path, inside: tuple[str, ...]) -> bool:
    """Whether a place is a folder, or in something in it with a name that begins with one of `inside`."""
    if not place or not Path(place).is_relative_to(folder):
        return False
    below = Path(place).relative_to(folder).parts
    return not below or below[0].startswith(inside)


def _temporary() -> Path:
    try:
        return Path(tempfile.gettempdir())
    except OSError:  # none that can be written
        return Path(tempfile.gettempprefix())


def _too_long(size: str = "") -> str:
    return f"the path of the temporary folder, {_temporary()}, is too long for sockets{size}. Set TMPDIR to /tmp"


def out_of_memory() -> int:
    """How many processes this machine has killed since it was started because its memory ran out; 0 if it cannot say.

    Whose they were is not told. A notebook that kills itself just then is executed again, which does it no good.
    """
    with contextlib.suppress(OSError):
        for line in Path("/proc/vmstat").read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0
