"""Write reproducible zip archives, in which the same content always makes the same bytes."""

from __future__ import annotations

import zipfile

_STAMP = (1980, 1, 1, 0, 0, 0)
"""The time of all entries, the oldest that a zip archive can store."""


def add(archive: zipfile.ZipFile, name: str, content: bytes, mode: int | None = None) -> None:
    """Write `content` as the entry `name` with the archive's compression, and optional Unix permissions `mode`."""
    about = zipfile.ZipInfo(name, _STAMP)
    about.compress_type = archive.compression
    if mode is not None:
        about.external_attr = (0o100000 | mode) << 16
    archive.writestr(about, content)
