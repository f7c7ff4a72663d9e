"""Embed the pictures that a page about a notebook may show: a cell's attachments, and files in the notebook's folder.

Pictures become data URIs, so the page makes no requests. A file counts as a picture by its first bytes, whatever its
name. Links and files outside the folder are never read.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import stat
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

ATTACHMENT = "attachment:"

LARGEST = 5 * 2**20
"""The most bytes of one picture, which fit a photograph from a telephone."""

MOST = 20 * 2**20
"""The most bytes of all pictures of a page together."""

MOST_PICTURES = 500
"""The most pictures that are looked up for a page."""

MOST_NAMES = 2000
"""The most names of files or attachments that are compared, which is as many as a submission may hold."""

KINDS = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg", b"GIF87a": "gif", b"GIF89a": "gif"}
"""The first bytes of each kind of picture; WebP is recognised separately, because its size precedes its name."""

SVG = "image/svg+xml"

_ATTACHED = re.compile(r'\]\(attachment:([^()\[\]\n<>"]*(?:\([^()\[\]\n<>"]*\)[^()\[\]\n<>"]*)*)((?:"[^"\[\]\n]*")?)\)')
"""The address of an attachment in a Markdown text, with its title."""

Attachments = Mapping[str, Mapping[str, str]]


class NotShown(Exception):
    """A picture is not shown: `str()` says which and why, in words for a page."""


@dataclass
class Pictures:
    """The pictures that a page may still show, from below `folder`: `left` bytes, and `more` pictures."""

    folder: Path | None = None
    left: int = field(default_factory=lambda: MOST)
    more: int = MOST_PICTURES
    _names: dict[Path, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, resources: Any) -> Pictures:
        """Return the pictures of a page that nbconvert makes, from its `resources`, where the count is kept."""
        folder = (resources.get("metadata") or {}).get("path")
        pictures: Pictures = resources.setdefault("course_pictures", cls(Path(folder) if folder else None))
        return pictures

    def uri(self, source: str, attachments: Attachments) -> str:
        """Return the picture that an `<img>` of a cell calls `source`, as a data URI.

        Raises:
            NotShown: the picture is not found, not a picture, or too large.
        """
        self.more -= 1
        if self.more < 0:
            raise NotShown(f"this page has more than {MOST_PICTURES} pictures")
        if source.startswith(ATTACHMENT):
            return self._attached(source.removeprefix(ATTACHMENT), attachments)
        try:
            parts = urlsplit(source)
        except ValueError:
            raise NotShown("its address cannot be read") from None
        if parts.netloc or parts.scheme in ("http", "https"):
            raise NotShown("it is on another site, and this page loads nothing from there")
        if parts.scheme or not parts.path:
            raise NotShown("it is not a file in the notebook's folder")
        found = (self._file(name) for name in dict.fromkeys((source, parts.path, unquote(parts.path))))
        path = next((path for path in found if path is not None), None)
        name = _short(unquote(parts.path))
        if path is None:
            raise NotShown(f"{name} is not in the notebook's folder")
        return self._embedded(self._read(path, name), name)

    def _attached(self, address: str, attachments: Attachments) -> str:
        """Return the attachment at `address`, which may be percent-encoded, as a data URI."""
        names = (address, unquote(address), _among(attachments, unquote(address)))
        found = next((attachments[name] for name in names if name in attachments), None)
        shown = _short(unquote(address))
        if not found:
            raise NotShown(f"the cell has no attachment {shown}")
        try:
            kind = SVG if SVG in found else next(iter(found))
            self._refuse(len(found[kind]) * 3 // 4 - 2, shown)  # checked before decoding; padding has no bytes
            content = base64.b64decode("".join(found[kind].split()), validate=True)
            self._refuse(len(content), shown)
        except (binascii.Error, ValueError):
            raise NotShown(f"the attachment {shown} is damaged") from None
        return self._packed(content, SVG) if kind == SVG else self._embedded(content, shown)

    def _file(self, name: str) -> Path | None:
        """Return the file `name` below the folder, or None if it does not exist.

        Raises:
            NotShown: the name leads out of the folder, or through a link.
        """
        parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
        if name.startswith(("/", "\\")) or ".." in parts:
            raise NotShown(f"{_short(name)} is outside the notebook's folder")
        path = self.folder
        for part in parts:
            path = self._child(path, part) if path is not None else None
        return path if parts else None

    def _child(self, folder: Path, name: str) -> Path | None:
        """Return the child of `folder` called `name`, or None; case and the encoding of accents may differ.

        Raises:
            NotShown: the child is a link.
        """
        if folder not in self._names:
            try:
                self._names[folder] = sorted(path.name for path in folder.iterdir())
            except OSError:
                self._names[folder] = []
        found = _among(self._names[folder], name)
        if found and (folder / found).is_symlink():
            raise NotShown(f"{_short(found)} is a link, and links are not followed")
        return folder / found if found else None

    def _read(self, path: Path, name: str) -> bytes:
        """Return the bytes of an ordinary file.

        Raises:
            NotShown: the file is no ordinary file, cannot be read, or is too large.
        """
        try:
            handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
            with os.fdopen(handle, "rb") as file:
                about = os.fstat(handle)
                if stat.S_ISREG(about.st_mode):
                    self._refuse(about.st_size, name)
                    return file.read(about.st_size)
        except OSError:
            pass
        raise NotShown(f"{name} is not a file that can be read")

    def _refuse(self, size: int, name: str) -> None:
        if size > LARGEST:
            raise NotShown(f"{name} is larger than {LARGEST >> 20} MB")
        if size > self.left:
            raise NotShown(f"with {name} the pictures on this page would be larger than {MOST >> 20} MB together")

    def _embedded(self, content: bytes, name: str) -> str:
        kind = next((kind for begin, kind in KINDS.items() if content.startswith(begin)), "")
        if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
            kind = "webp"
        if not kind:
            raise NotShown(f"{name} is not a PNG, JPEG, GIF or WebP picture")
        return self._packed(content, f"image/{kind}")

    def _packed(self, content: bytes, kind: str) -> str:
        self.left -= len(content)
        return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def quoted(source: str, attachments: Attachments) -> str:
    """Return a text with attachments' names percent-encoded, because Markdown ends an address at a blank."""

    def whole(found: re.Match[str]) -> str:
        name = found[1].strip()
        return f"]({ATTACHMENT}{quote(name)} {found[2]})" if name in attachments else found[0]

    return _ATTACHED.sub(whole, source)


def _among(names: Collection[str], name: str) -> str:
    """Return the one of `names` equal to `name`, else one equal but for case and accents, else ""."""
    if name in names:
        return name
    return next((one for one in islice(names, MOST_NAMES) if _folded(one) == _folded(name)), "")


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _short(name: str) -> str:
    return name if len(name) <= 80 else f"{name[:77]}…"
