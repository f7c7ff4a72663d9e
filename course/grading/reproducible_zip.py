"""Zip archives whose bytes come from what is in them alone: the same content makes the same archive."""

from __future__ import annotations

import zipfile

_STAMP = (1980, 1, 1, 0, 0, 0)
"""The oldest time a zip can hold, given to everything in it."""


def add(archive: zipfile.ZipFile, name: str, content: bytes, mode: int | None = None) -> None:
    """Write `content` as `name`, compressed as the archive is; `mode` are its Unix permissions, if it has any."""
    about = zipfile.ZipInfo(name, _STAMP)
    about.compress_type = archive.compression
    if mode is not None:
        about.external_attr = (0o100000 | mode) << 16
    archive.writestr(about, content)
