"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterator
from pathlib import Path


def write_atomically(path: Path, content: bytes, by_way_of: Path | None = None) -> None:
    """Writes a file whole or not at all: until it is whole, it lies hidden beside `path`, or in another folder."""
    with whole(path, by_way_of) as unfinished:
        unfinished.write_bytes(content)


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
