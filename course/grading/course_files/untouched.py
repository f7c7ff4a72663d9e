"""Tell whether a student changed a cell, by the checksum that nbgrader leaves in each released cell."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any


def source_of(cell: Mapping[str, Any]) -> str:
    """Return the text of a cell of a notebook's JSON, with the release's line ends."""
    source = cell.get("source", "")
    text = source if isinstance(source, str) else "".join(map(str, source))
    return text.replace("\r\n", "\n")


def marks_of(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return nbgrader's metadata of a cell, or an empty mapping if it is missing or malformed."""
    metadata = cell.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, Mapping) else None
    return marks if isinstance(marks, Mapping) else {}


def is_untouched(cell: Mapping[str, Any]) -> bool:
    """Return whether a marked cell is empty or as released, ignoring blanks and line ends around its text."""
    text = source_of(cell).rstrip()
    return not text or checksum(cell, text) == marks_of(cell).get("checksum")


def checksum(cell: Mapping[str, Any], source: str) -> str:
    """Return nbgrader's checksum of a cell with this source, computed here as the student edition has no nbgrader."""
    marks = marks_of(cell)
    grade, solution = marks.get("grade", False), marks.get("solution", False)
    locked = not solution and (bool(grade) or marks.get("locked", False))
    parts = [source, cell.get("cell_type"), grade, solution, locked, marks.get("grade_id")]
    if grade:
        try:
            parts.append(float(marks.get("points", 0)))
        except (TypeError, ValueError):
            return ""
    text = "".join(map(str, parts)).encode("utf-8", "surrogatepass")
    return hashlib.md5(text, usedforsecurity=False).hexdigest()
