"""Read a notebook's file and repair its format where that changes no code or text.

Parts that grading creates again or ignores (outputs, counts, ids, the format's number, unknown fields) are repaired
while reading, with a note. The file itself stays as it was handed in.
"""

from __future__ import annotations

import codecs
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from itertools import islice
from typing import Any

from course.grading.intake.untrusted import parse_notebook, printable
from course.problem import Problem

NEWEST_MINOR = 5
"""The minor number of notebook format 4 in which every cell has an id."""

ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""The form of a cell's id in the format."""

FIELDS = {
    "code": {"cell_type", "id", "metadata", "source", "outputs", "execution_count"},
    "markdown": {"cell_type", "id", "metadata", "source", "attachments"},
    "raw": {"cell_type", "id", "metadata", "source", "attachments"},
}
"""The fields that the format allows in a cell, by type."""

NOTEBOOK = ("nbformat", "nbformat_minor", "metadata", "cells")
"""The fields that the format allows in a notebook."""

MOST_NAMED = 5
"""The most cells or unknown fields that a note names."""


def read_mended(data: bytes, name: str) -> tuple[dict[str, Any], list[str]]:
    """Return the document of the notebook `name` in format 4, repaired, and at most one note on the repairs.

    Other faults, such as a cell without a source, are left to the format's own validation.

    Raises:
        Problem: the file is not JSON, no notebook, or in a format that is not graded.
    """
    document = parse_notebook(data, name)
    mended = list(_around(data))
    version = document.get("nbformat")
    if isinstance(version, float) and version.is_integer():
        document["nbformat"] = version = int(version)
        mended.append("its format's number")
    if type(version) is not int:
        raise Problem(f"{name} is not a notebook, although its name says so. The notebook itself is needed")
    if version in (1, 2, 3):
        document = _converted(document, name)
        mended.append(f"its format, which was {version}")
    elif version != 4:
        raise Problem(f"{name} is in notebook format {version}. Open it in JupyterLab and save it again")
    mended += _mend(document)
    return document, [f"its file was repaired without changing code or text ({', '.join(mended)})"] if mended else []


def drop_foreign_fields(cells: Iterable[dict[str, Any]]) -> None:
    """Drop fields that the format does not allow in cells of their type, because nbclient and nbformat refuse them.

    A code cell's attachments are dropped here and not while reading, because a text cell may have become a code cell.
    """
    for cell in cells:
        for field in cell.keys() - FIELDS.get(cell["cell_type"], cell.keys()):
            del cell[field]


def _around(data: bytes) -> Iterator[str]:
    """Yield what must be repaired in the file's bytes before the JSON is read."""
    if data.startswith(codecs.BOM_UTF8):
        yield "a byte order mark"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        yield "its encoding, UTF-16"
    elif data.rstrip().endswith(b"\0"):
        yield "zero bytes at its end"


def _converted(document: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a notebook of an older format in format 4, as nbgrader reads it.

    Raises:
        Problem: the notebook cannot be converted.
    """
    told = f"{name} is in notebook format {document['nbformat']}. Open it in JupyterLab and save it again"
    if find_spec("nbformat") is None:  # a student's environment without Jupyter
        raise Problem(told)
    import nbformat

    try:
        converted: dict[str, Any] = nbformat.reads(json.dumps(document), as_version=4)
    except Exception:  # noqa: BLE001 - nbformat may raise anything on invalid input
        raise Problem(told) from None
    return converted


def _mend(document: dict[str, Any]) -> Iterator[str]:
    """Repair the document in place, and yield what was repaired."""
    cells = document.get("cells")
    minor = document.get("nbformat_minor")
    if type(minor) is not int or minor < 0:
        document["nbformat_minor"] = minor = NEWEST_MINOR
        yield "its format's number"
    if not isinstance(document.get("metadata"), dict):
        document["metadata"] = {}
        yield "its metadata"
    elif not isinstance(document["metadata"].get("language", ""), str):  # nbconvert reads it as a string
        del document["metadata"]["language"]
        yield "its metadata"
    if unknown := sorted(document.keys() - set(NOTEBOOK)):
        for field in unknown:
            del document[field]
        yield _listed("its field", unknown)
    mended: dict[str, list[str]] = defaultdict(list)
    for number, cell in enumerate(cells if isinstance(cells, list) else (), 1):
        if isinstance(cell, dict):
            for field in _mend_cell(cell, minor):
                mended[field].append(str(number))
    for field, numbers in islice(mended.items(), MOST_NAMED):
        yield _listed(f"{printable(field)[:30]} of cell", numbers)
    if len(mended) > MOST_NAMED:
        yield "other fields"


def _mend_cell(cell: dict[str, Any], minor: int) -> Iterator[str]:
    """Repair a cell in place, and yield the names of the repaired fields."""
    kind = cell.get("cell_type")
    if not isinstance(kind, str) or kind not in FIELDS:
        return
    if not isinstance(cell.get("metadata"), dict):
        cell["metadata"] = {}
        yield "metadata"
    for field in sorted(cell.keys() - FIELDS[kind] - {"attachments"}):
        del cell[field]
        yield field
    if "id" in cell and (minor < NEWEST_MINOR or not isinstance(cell["id"], str) or not ID.fullmatch(cell["id"])):
        del cell["id"]
        yield "id"
    if "attachments" in cell and (sound := _sound_attachments(cell["attachments"])) != cell["attachments"]:
        cell["attachments"] = sound
        yield "attachments"
    if kind == "code" and not _are_outputs(cell.get("outputs")):
        cell["outputs"] = []
        yield "outputs"
    if kind == "code" and ("execution_count" not in cell or type(cell["execution_count"]) not in (int, type(None))):
        cell["execution_count"] = None
        yield "execution_count"


def _sound_attachments(attachments: Any) -> dict[str, Any]:
    """Return the valid attachments of a cell: data by type, each a text or a list of lines."""
    found = attachments.items() if isinstance(attachments, dict) else ()
    return {name: bundle for name, bundle in found if isinstance(bundle, dict) and all(map(_is_text, bundle.values()))}


def _is_text(data: Any) -> bool:
    return isinstance(data, str) or (isinstance(data, list) and all(isinstance(line, str) for line in data))


def _are_outputs(outputs: Any) -> bool:
    """Return whether nbformat can read a cell's outputs, which are cleared otherwise."""
    return isinstance(outputs, list) and all(
        isinstance(one, dict) and isinstance(one.get("output_type", ""), str) and isinstance(one.get("data", {}), dict)
        for one in outputs
    )


def _listed(what: str, names: list[str]) -> str:
    """Return `id of cell 3`, or `id of cells 3, 4 and others`."""
    some = ", ".join(printable(name)[:30] for name in names[:MOST_NAMED])
    return f"{what}{'s' * (len(names) > 1)} {some}{' and others' * (len(names) > MOST_NAMED)}"
