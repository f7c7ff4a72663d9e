"""Read files and folders from students, which may hold anything. No other module reads them.

Nothing in them is followed, unpacked or trusted: a folder is checked first, and only plain files of bounded number,
size and depth are opened. A notebook's size is checked before it is parsed.
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
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePath, PurePosixPath
from typing import Any

from course.problem import Problem

LARGEST = 100 * 2**20
"""The most bytes of a graded submission: a notebook with all its pictures is a hundredth of that."""

MOST_FILES = 2000
"""The most files and folders of a submission; the course hands out a dozen."""

DEEPEST = 20
"""The deepest nesting of folders."""

MOST_PARTS = 5_000_000
"""The most values of a notebook's JSON, each an object in memory; a picture is one value, whatever its size."""

WINDOWS = "Windows-1252"

UNFIT = '<>"&\\*?[]'
"""Characters that a student's name may not hold, because it appears in web pages, globs, and other systems' paths."""

CONFLICT = "<<<<<<< "
"""The beginning of git's conflict marks; no line of a notebook's file begins so."""

OTHERS = {
    b"PK\x03\x04": "an archive (or a Word file)",
    b"\x1f\x8b": "an archive",
    b"%PDF-": "a PDF",
    b"\x89PNG": "a picture",
    b"<!doctype html": "a web page",
    b"<html": "a web page",
}
"""The first bytes of other files that people rename to notebooks, and what they are."""

OF_SYSTEMS = frozenset(("__MACOSX", "Icon\r", "Icon\uf00d", "Thumbs.db", "desktop.ini"))
"""Files and folders that a Mac or Windows puts among a person's own."""

MISNAMED = frozenset(("", ".txt", ".json", ".ipynb"))
"""Endings that browsers and other programs give to notebooks, in any case of letters."""

PADDING = "\0 \t\r\n"
"""Characters that may follow a notebook: an interrupted copy or a full disk leaves zero bytes."""

MOST_NESTED = 100
"""The deepest nesting of a notebook's JSON: an ordinary one has ten levels, and its readers recurse."""


def refuse_folder(folder: Path, largest: int = LARGEST) -> None:
    """Refuse a submission that is too large, has too many files, or holds links or special files.

    Raises:
        Problem: the submission is refused; the sentence says what, where and what to do.
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
    """Refuse a submission that holds anything but ordinary files and folders with printable names and bounded depth.

    Raises:
        Problem: it holds a symbolic or hard link, a socket, a device, an unreadable file, an unprintable name, or
            folders too deep to search.
    """
    _refuse_link(folder, folder)
    for path in everything(folder):
        if len(path.relative_to(folder).parts) > DEEPEST:
            raise Problem(f"the submission has more than {DEEPEST} levels of folders. A flat one is needed")
        _refuse_name(path, folder)
        _refuse_link(path, folder)


def refuse_shared(folder: Path) -> None:
    """Refuse a submission whose student's folder is a link, which may lead to another student's work.

    Raises:
        Problem: the folder is a link.
    """
    if folder.parent.is_symlink():
        told = f"the folder of {printable(folder.parent.name)} is a symbolic link, and links are never followed"
        raise Problem(f"{told}. Replace it with a folder that holds a copy of the work")


def refuse_name(student: str) -> None:
    """Refuse a student's name that a web page, a terminal or the gradebook would misread.

    The name may come from an archive's name, which the student chose.

    Raises:
        Problem: the name is refused.
    """
    if not student.isprintable() or set(student) & set(UNFIT) or student != student.strip():
        told = "the folder's name cannot be a student's. Rename it without control characters, spaces at its ends"
        raise Problem(f"{told} and any of {' '.join(UNFIT)}")
    if student.startswith("."):
        raise Problem("the folder's name begins with a dot, so nbgrader ignores it. Rename it")


def everything(folder: Path, deepest: int = DEEPEST) -> Iterator[Path]:
    """Yield all paths below a folder, in order, without following links or descending below `deepest` + 1 levels."""
    for parent, folders, files in os.walk(folder):
        yield from (Path(parent, name) for name in sorted((*folders, *files)))
        folders.sort()
        if len(Path(parent).relative_to(folder).parts) >= deepest:
            folders.clear()


def is_of_a_system(path: PurePath) -> bool:
    """Return whether a Mac or Windows made a file, and no person did; a Mac's `._work.zip` is no zip."""
    return path.name.startswith("._") or not OF_SYSTEMS.isdisjoint(path.parts)


def is_left_behind(path: PurePath) -> bool:
    """Return whether a file is hidden, or lies in a folder that Jupyter, Python or the course made beside the work."""
    return any(part.startswith(".") or part == "__pycache__" for part in path.parts)


def holds_work(folder: Path) -> bool:
    """Return whether a person may have made any of the files below a folder."""
    files = (path.relative_to(folder) for path in everything(folder) if path.is_file())
    return any(not is_of_a_system(file) and not is_left_behind(file) for file in files)


def is_misnamed_notebook(path: Path) -> bool:
    """Return whether a file holds a notebook although its name ends otherwise, as in `a.ipynb.txt`."""
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
    """Return a notebook's name before its ending was changed: `a-1.ipynb` for `a.ipynb-1.json`."""
    stem = re.sub(r"\.(txt|json|ipynb)$", "", name, flags=re.IGNORECASE)
    return re.sub(r"\.ipynb(-\d+| ?\(\d+\))?$", r"\1", stem, flags=re.IGNORECASE) + ".ipynb"


def printable(name: str) -> str:
    """Return a name out of a submission for a terminal, with unprintable characters escaped."""
    return name if name.isprintable() else repr(name)


def plain_files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the readable ordinary files below a folder with writable names, by relative path."""
    for path in everything(folder):
        name = path.relative_to(folder).as_posix()
        with contextlib.suppress(PermissionError):  # in a folder without permissions
            if stat.S_ISREG(path.lstat().st_mode) and os.access(path, os.R_OK) and is_writable(name):
                yield name, path


def parse_notebook(data: bytes, name: str) -> dict[str, Any]:
    """Return the JSON document of the notebook `name`.

    Raises:
        Problem: the data is not text, not JSON, nested too deeply, or not an object.
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
    """Return the text of a notebook's file, without its byte order mark.

    Raises:
        Problem: the data is not text, or in an unknown encoding.
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
    """Remove a folder that a student's code wrote in, of any depth and any modes, without following links."""
    try:
        shutil.rmtree(folder)
    except (OSError, RecursionError):
        # A folder without permissions, or a path too long for a system call. These two programs use file descriptors.
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
    """Return whether a name can be written into an archive on any system, and stays one line in a report."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return "\\" not in name and not any(unicodedata.category(letter) == "Cc" for letter in name)


def depth(document: Any) -> int:
    """Return how deep lists and objects are nested, without recursion; at most `MOST_NESTED` + 1."""
    level, depth = [document], 0
    while level and depth <= MOST_NESTED:
        inside = [part for part in level if isinstance(part, dict | list)]
        level = [value for part in inside for value in (part.values() if isinstance(part, dict) else part)]
        depth += 1
    return depth


def read_files(folder: Path, ignore: Iterable[str] = (), limit: int | None = None) -> dict[str, bytes]:
    """Return the regular files below `folder` by relative path, without notebooks and links.

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
    """Return whether a file, or a folder it lies in, has a name that one of the glob `patterns` matches."""
    return any(PurePosixPath(part).match(pattern) for part in PurePosixPath(name).parts for pattern in patterns)


def write_files(files: dict[str, bytes], folder: Path) -> None:
    """Write `files` below `folder`, replacing files and folders in their way.

    A path that leads out of the folder, or through a link, is refused.

    Raises:
        ValueError: a path is refused.
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
        path.unlink(missing_ok=True)  # the old file may belong to another user
        path.write_bytes(content)


def texts_of(data: bytes) -> Iterator[tuple[str, str]]:
    """Yield a file's text by each encoding that it may have, with the encoding's name, the most likely first."""
    for codec, name in _codecs(data):
        with contextlib.suppress(UnicodeDecodeError):
            yield data.decode(codec), name


def _codecs(data: bytes) -> Sequence[tuple[str, str]]:
    """Return the possible encodings of a text, by Python's name and its common one, the most likely first."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return [("utf-16", "UTF-16")]
    if b"\0" in data[:2]:  # UTF-16 without a byte order mark: one byte of an ASCII letter is zero
        return [("utf-16-be" if data.startswith(b"\0") else "utf-16-le", "UTF-16")]
    return [("utf-8-sig", "UTF-8"), ("cp1252", WINDOWS)]
