"""Read files and folders from students, which may hold anything. No other module reads them.

Nothing that is read is followed, unpacked or trusted: a folder is looked at first, and only plain files of bounded
number, size and depth are opened. A notebook is measured as bytes before it is parsed.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import re
import shutil
import stat
import subprocess
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath, PurePosixPath
from typing import Any

from course.grading.problem import Problem

LARGEST = 100 * 2**20
"""Bytes of the largest submission that is graded: a notebook with all its pictures is a hundredth of that."""

MOST_FILES = 2000
"""Files and folders of a submission; the course hands out a dozen."""

DEEPEST = 20
"""Folders in folders."""

MOST_PARTS = 5_000_000
"""Values of a notebook's JSON, each an object in memory: pictures are one value each, whatever their size."""

UNFIT = '<>"&\\*?[]'
"""What no student's name holds: it stands in web pages, in patterns of files, and in paths of other systems."""

CONFLICT = "<<<<<<< "
"""How git begins what it could not merge; no line of a notebook's file does."""

OTHERS = {
    b"PK\x03\x04": "an archive (or a Word file)",
    b"\x1f\x8b": "an archive",
    b"%PDF-": "a PDF",
    b"\x89PNG": "a picture",
    b"<!doctype html": "a web page",
    b"<html": "a web page",
}
"""How files begin that people give a notebook's name, and what they are."""

OF_SYSTEMS = frozenset(("__MACOSX", "Icon\r", "Icon\uf00d", "Thumbs.db", "desktop.ini"))
"""Files and folders that a Mac or Windows puts among a person's own."""

MISNAMED = frozenset(("", ".txt", ".json", ".ipynb"))
"""What browsers and other programs make of a notebook's ending, in any case of letters."""

PADDING = "\0 \t\r\n"
"""What may stand behind a notebook: a copy that was interrupted, or a full disk, leaves zero bytes."""

MOST_NESTED = 100
"""Lists in lists of a notebook's JSON: an ordinary one has ten, and its readers call themselves for each."""


def refuse_folder(folder: Path, largest: int = LARGEST) -> None:
    """Refuse a submission that is no folder of a reasonable number and size of ordinary files, each its own.

    Raises:
        Problem: it is not; the sentence says what, where and what to do.
    """
    refuse_links(folder)
    size = 0
    for number, path in enumerate(everything(folder), 1):
        if number > MOST_FILES:
            raise Problem(
                f"the submission holds more than {MOST_FILES} files and folders. Those that matter are needed"
            )
        size += path.stat().st_size if path.is_file() else 0
    if size > largest:
        raise Problem(
            f"the submission has {size / 2**20:.0f} MB, but at most {largest / 2**20:.0f} MB are "
            "graded. A smaller one is needed"
        )


def refuse_links(folder: Path) -> None:
    """Refuse a submission with anything in it that is no ordinary file or folder of its own, decently named and placed.

    Raises:
        Problem: it holds a symbolic or hard link, a socket, a device, what cannot be read, an unwritable name, or
            folders too deep to look for these.
    """
    _refuse_link(folder, folder)
    for path in everything(folder):
        if len(path.relative_to(folder).parts) > DEEPEST:
            raise Problem(f"the submission has more than {DEEPEST} levels of folders. A flat one is needed")
        _refuse_name(path, folder)
        _refuse_link(path, folder)


def refuse_shared(folder: Path) -> None:
    """Refuse a submission whose student's folder is a link: to somebody else's work, perhaps.

    Raises:
        Problem: it is.
    """
    if folder.parent.is_symlink():
        told = f"the folder of {printable(folder.parent.name)} is a symbolic link, and links are never followed"
        raise Problem(f"{told}. Replace it with a folder that holds a copy of the work")


def refuse_name(student: str) -> None:
    """Refuse a student's name that a page, a terminal or the gradebook would take for something else.

    It may have been chosen by whoever named an archive.

    Raises:
        Problem: it is one.
    """
    if not student.isprintable() or set(student) & set(UNFIT) or student != student.strip():
        told = "the folder's name cannot be a student's. Rename it without control characters, spaces at its ends"
        raise Problem(f"{told} and any of {' '.join(UNFIT)}")
    if student.startswith("."):
        raise Problem("the folder's name begins with a dot, so nbgrader ignores it. Rename it")


def everything(folder: Path, deepest: int = DEEPEST) -> Iterator[Path]:
    """All that lies below a folder, in order, no link followed; what lies deeper than `deepest` + 1 is left out."""
    for parent, folders, files in os.walk(folder):
        yield from (Path(parent, name) for name in sorted((*folders, *files)))
        folders.sort()
        if len(Path(parent).relative_to(folder).parts) >= deepest:
            folders.clear()


def is_of_a_system(path: PurePath) -> bool:
    """Whether a Mac or Windows made a file, and no person did; a Mac's `._work.zip` is no zip."""
    return path.name.startswith("._") or not OF_SYSTEMS.isdisjoint(path.parts)


def is_left_behind(path: PurePath) -> bool:
    """Whether a file is hidden, or lies in a folder that Jupyter, Python or the course made beside the work."""
    return any(part.startswith(".") or part == "__pycache__" for part in path.parts)


def holds_work(folder: Path) -> bool:
    """Whether a person may have made any of the files below a folder."""
    files = (path.relative_to(folder) for path in everything(folder) if path.is_file())
    return any(not is_of_a_system(file) and not is_left_behind(file) for file in files)


def is_misnamed_notebook(path: Path) -> bool:
    """Whether a file holds a notebook though its name ends otherwise, as in `a.ipynb.txt`."""
    if path.suffix == ".ipynb" or path.suffix.lower() not in MISNAMED or not stat.S_ISREG(path.lstat().st_mode):
        return False
    if path.stat().st_size > LARGEST or not os.access(path, os.R_OK):
        return False
    data = path.read_bytes()
    try:
        document = parse_notebook(data, path.name) if b'"nbformat"' in data else {}
    except Problem:
        return False
    return isinstance(document.get("cells"), list)


def notebook_name(name: str) -> str:
    """What a notebook was called before its ending was changed: `a-1.ipynb` for `a.ipynb-1.json`."""
    stem = re.sub(r"\.(txt|json|ipynb)$", "", name, flags=re.IGNORECASE)
    return re.sub(r"\.ipynb(-\d+| ?\(\d+\))?$", r"\1", stem, flags=re.IGNORECASE) + ".ipynb"


def printable(name: str) -> str:
    """A name out of a submission, for somebody's terminal: as it is, or with what nobody would see spelt out."""
    return name if name.isprintable() else repr(name)


def plain_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """The ordinary files below a folder that can be read, with names that can be written down, by relative path."""
    for path in everything(folder):
        name = path.relative_to(folder).as_posix()
        with contextlib.suppress(PermissionError):  # in a folder without rights
            if stat.S_ISREG(path.lstat().st_mode) and os.access(path, os.R_OK) and is_writable(name):
                yield name, path


def parse_notebook(data: bytes, name: str) -> dict[str, Any]:
    """The JSON document of the notebook `name`.

    Raises:
        Problem: it is not text, not JSON, nested beyond reason, or not an object.
    """
    beginning = data[:1024].lstrip().lower()
    for mark, kind in OTHERS.items():
        if beginning.startswith(mark.lower()):
            raise Problem(f"{name} is {kind}, although its name says otherwise. The notebook itself is needed")
    text = _decoded(data, name).rstrip(PADDING)
    if not text:
        raise Problem(f"{name} is empty, perhaps because saving was interrupted. It is needed again")
    if sum(text.count(mark) for mark in "[{,") > MOST_PARTS:
        raise Problem(f"{name} holds more than {MOST_PARTS} values. Clear its outputs, and save it again")
    try:
        document = json.loads(text)
        if depth(document) > MOST_NESTED:
            raise Problem(
                f"{name} is nested more than {MOST_NESTED} levels deep, as no notebook is. The notebook is needed"
            )
        json.dumps(document, ensure_ascii=False).encode()
    except RecursionError:
        raise Problem(
            f"{name} is nested more than {MOST_NESTED} levels deep, as no notebook is. The notebook is needed"
        ) from None
    except json.JSONDecodeError as error:
        if any(line.startswith(CONFLICT) for line in text.splitlines()):
            raise Problem(
                f"{name} holds two versions, because git left a conflict in it. One of them is needed"
            ) from None
        if not text.lstrip().startswith("{"):
            raise Problem(
                f"{name} is not a notebook, although its name says so. The notebook itself is needed"
            ) from None
        where = f" (line {error.lineno})"
        raise Problem(
            f"{name} is not valid JSON{where}, perhaps because saving was interrupted. It is needed again"
        ) from None
    except UnicodeEncodeError:
        raise Problem(f"{name} holds half a character. Open it in JupyterLab and save it again") from None
    except ValueError:
        raise Problem(
            f"{name} holds a number with thousands of digits, as no notebook does. The notebook itself is needed"
        ) from None
    if not isinstance(document, dict):
        raise Problem(f"{name} is not a notebook, although its name says so. The notebook itself is needed")
    return document


def _decoded(data: bytes, name: str) -> str:
    """The text of a notebook's file, without the mark that says how it is encoded.

    Raises:
        Problem: it is no text, or one whose encoding nobody knows.
    """
    utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return data.decode("utf-16" if utf16 else "utf-8-sig")
    except UnicodeDecodeError:
        if data.lstrip().startswith(b"{"):
            told = "another encoding than UTF-8, perhaps Windows-1252"
            raise Problem(f"{name} is saved in {told}. Open it in an editor, and save it as UTF-8") from None
        raise Problem(f"{name} is not a notebook, because it is not text. The notebook itself is needed") from None


def remove(folder: Path) -> None:
    """Remove a folder that a student's code wrote in: however deep, whatever its modes, and no link followed."""
    try:
        shutil.rmtree(folder)
    except (OSError, RecursionError):
        # Folders without rights, or a path longer than a system call takes. These two programs walk by descriptors.
        for program in (["chmod", "-R", "u+rwX", "--", str(folder)], ["rm", "-rf", "--", str(folder)]):
            if shutil.which(program[0]):
                subprocess.run(program, capture_output=True, check=False)


def _refuse_link(path: Path, folder: Path) -> None:
    inside = "the submission" if path == folder else path.relative_to(folder)
    about = path.lstat()
    if stat.S_ISLNK(about.st_mode):
        raise Problem(f"{inside} is a symbolic link, and links are never followed. The file itself is needed")
    if stat.S_ISREG(about.st_mode) and about.st_nlink > 1:
        raise Problem(f"{inside} is a hard link to a file that also lies elsewhere. Copy it, and grade the copy")
    if not stat.S_ISREG(about.st_mode) and not stat.S_ISDIR(about.st_mode):
        raise Problem(f"{inside} is not an ordinary file. The file itself is needed")
    if not os.access(path, os.R_OK | os.X_OK if stat.S_ISDIR(about.st_mode) else os.R_OK):
        raise Problem(f"{inside} may not be read by you. Change its rights")


def _refuse_name(path: Path, folder: Path) -> None:
    name = path.relative_to(folder).as_posix()
    if not is_writable(name) and path.name.removeprefix("._") not in OF_SYSTEMS:
        shown = name.encode("utf-8", "backslashreplace").decode()
        raise Problem(
            f"{shown!r} is a file name with characters that cannot be printed. The file under another name is needed"
        )


def is_writable(name: str) -> bool:
    """Whether a name can be written into an archive, on any system, and stays one line in a report."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return "\\" not in name and not any(unicodedata.category(letter) == "Cc" for letter in name)


def depth(document: Any) -> int:
    """How many lists and objects are inside each other, counted without calling itself; at most one too many."""
    level, depth = [document], 0
    while level and depth <= MOST_NESTED:
        inside = [part for part in level if isinstance(part, dict | list)]
        level = [value for part in inside for value in (part.values() if isinstance(part, dict) else part)]
        depth += 1
    return depth


def read_files(folder: Path, ignore: Iterable[str] = (), limit: int | None = None) -> dict[str, bytes]:
    """The regular files below `folder` by relative path: no notebooks, and no links, which are never followed.

    Args:
        ignore: glob patterns of names left out.
        limit: stop before the sum of sizes exceeds this number of bytes.
    """
    found: dict[str, bytes] = {}
    total = 0
    for name, path in plain_files(folder):
        if path.suffix == ".ipynb" or is_ignored(name, ignore):
            continue
        total += path.stat().st_size
        if limit is not None and total > limit:
            break
        found[name] = path.read_bytes()
    return found


def is_ignored(name: str, patterns: Iterable[str]) -> bool:
    """Whether a file, or a folder it lies in, has a name that one of the glob `patterns` matches."""
    return any(PurePosixPath(part).match(pattern) for part in PurePosixPath(name).parts for pattern in patterns)


def write_files(files: dict[str, bytes], folder: Path) -> None:
    """Write `files` below `folder`, in place of what is in their way.

    A path that leads out of the folder, or through a link, is refused.

    Raises:
        ValueError: such a path.
    """
    for name, content in files.items():
        relative = PurePosixPath(name)
        if relative.is_absolute() or ".." in relative.parts or not relative.parts or "\\" in name:
            raise ValueError(f"{name!r} does not stay inside its folder")
        path = folder / relative
        if any((folder / parent).is_symlink() for parent in (relative, *relative.parents)):
            raise ValueError(f"{name!r} leads through a symbolic link")
        for parent in list(relative.parents)[:-1]:
            if (folder / parent).is_file():
                (folder / parent).unlink()
        if path.is_dir():
            remove(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)  # it may not be ours to write
        path.write_bytes(content)
