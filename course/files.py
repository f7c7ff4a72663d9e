"""Write files atomically, and share them among several graders."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path


def write_atomically(path: Path, content: bytes, by_way_of: Path | None = None) -> None:
    """Write a file atomically, by way of a hidden file beside `path` or in the folder `by_way_of`."""
    with whole(path, by_way_of) as unfinished:
        unfinished.write_bytes(content)


def is_shared(folder: Path) -> bool:
    """Return whether the group of a folder may write into it."""
    return bool(folder.stat().st_mode & stat.S_IWGRP)


def share_with_group(folder: Path) -> None:
    """Let the group read and write every file that this process creates from now on, if it may write into `folder`.

    Child processes do the same.
    """
    if is_shared(folder):
        os.umask(os.umask(0o077) & ~stat.S_IRWXG)


def share_database(path: Path) -> None:
    """Let a folder's group write a database in it, if this process may change its mode.

    SQLite makes files that only the owner may write, whatever the umask, and gives its side files the same mode.
    """
    with contextlib.suppress(OSError):
        mode = path.stat().st_mode
        if is_shared(path.parent) and not mode & stat.S_IWGRP:
            path.chmod(mode | stat.S_IRGRP | stat.S_IWGRP)


@contextlib.contextmanager
def whole(path: Path, by_way_of: Path | None = None) -> Iterator[Path]:
    """Yield a temporary path whose file replaces the one at `path` in one step at the end of the `with` block.

    After an error the file at `path` is unchanged. Anything but a regular file (`/dev/stdout`) is written directly.
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
            error.filename = str(path)  # the error of a full disk names no file
        raise
