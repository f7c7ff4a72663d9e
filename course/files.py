"""Files that are written whole or not at all, and that several graders share."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path


def write_atomically(path: Path, content: bytes, by_way_of: Path | None = None) -> None:
    """Writes a file whole or not at all: until it is whole, it lies hidden beside `path`, or in another folder."""
    with whole(path, by_way_of) as unfinished:
        unfinished.write_bytes(content)


def is_shared(folder: Path) -> bool:
    """Whether the group of a folder may write into it."""
    return bool(folder.stat().st_mode & stat.S_IWGRP)


def share_with_group(folder: Path) -> None:
    """Let the group read and write all that this process makes from now on, if it may write into `folder`.

    The processes that this one starts do the same.
    """
    if is_shared(folder):
        os.umask(os.umask(0o077) & ~stat.S_IRWXG)


def share_database(path: Path) -> None:
    """Let the group of a folder write a database in it, too, if this process may decide that.

    SQLite makes one that its owner alone may write, whatever the umask, and gives its other files the same rights.
    """
    with contextlib.suppress(OSError):
        mode = path.stat().st_mode
        if is_shared(path.parent) and not mode & stat.S_IWGRP:
            path.chmod(mode | stat.S_IRGRP | stat.S_IWGRP)


@contextlib.contextmanager
def whole(path: Path, by_way_of: Path | None = None) -> Iterator[Path]:
    """Where to write what takes the place of the file at `path` in one step, once the `with` block has come to its end.

    What fails leaves the file as it was. What is no file (`/dev/stdout`) is written to as it is.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():
        yield path
        return
    place = path.resolve() if path.is_symlink() else path
    unfinished = (by_way_of or place.parent) / f".{place.name}.{secrets.token_hex(4)}"
    try:
        yield unfinished
        unfinished.replace(place)
    except BaseException as error:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno and error.filename in (None, str(unfinished)):
            error.filename = str(path)  # a full disk is not said by name
        raise
