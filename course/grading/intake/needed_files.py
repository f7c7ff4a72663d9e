"""Find the files that a notebook refers to: pictures in its texts, files that its code names, imported modules."""

from __future__ import annotations

import ast
import posixpath
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any
from urllib.parse import unquote

from course.grading.course_files.untouched import source_of
from course.grading.intake.untrusted import everything, is_writable, printable
from course.source import parsed

MOST_FILES = 500
"""The most files that are packed with a notebook."""

PICTURES = frozenset((".bmp", ".gif", ".jpeg", ".jpg", ".png", ".svg", ".tif", ".tiff", ".webp"))
RUNNABLE = frozenset((".app", ".bat", ".cmd", ".com", ".dll", ".dylib", ".exe", ".msi", ".ps1", ".scr", ".so", ".vbs"))
MANIFEST = "submission.json"
"""The manifest's name in a zip; it says what was handed in, when, and with which versions."""

RESERVED = frozenset((MANIFEST, "timestamp.txt", "feedback", "__pycache__"))
"""Names of files and folders that grading itself writes, or ignores."""

SYSTEM = ("/dev/", "/etc/", "/proc/", "/sys/", "/usr/")
"""Folders of files that every Linux machine has."""

_CODE_SPAN = re.compile(r"(`+).+?\1", re.DOTALL)
_TARGET = re.compile(r"\]\(\s*(?:<([^<>\n]+)>|([^\s()<>]+))|^ {0,3}\[[^\]\n]+\]:[ \t]*(\S+)", re.MULTILINE)
"""The target of a link or picture in Markdown: `](figs/mine.png)`, `](<my file.png>)`, `[1]: figs/mine.png`."""

_ADDRESS = re.compile(r"[A-Za-z][\w+.-]+:|//|#|www\.")
_READERS = frozenset(("Image", "fromfile", "genfromtxt", "imread", "load", "load_file", "loadtxt", "open"))


@dataclass(frozen=True)
class Reference:
    """A file as a cell or module names it.

    `place` is that cell or module. `is_demanded` says whether the file must exist, because it is a picture or a call
    reads it. Any other text in code counts as a name only if such a file exists.
    """

    name: str
    place: str
    is_demanded: bool = False


@dataclass(frozen=True)
class Needed:
    """The files to pack with a notebook, by their path from it, and a sentence for each file that is `left` out."""

    files: dict[str, bytes]
    left: list[str]


def gather(cells: Sequence[Mapping[str, Any]], folder: Path, room: int) -> Needed:
    """Read the files below `folder` that a notebook there refers to, and those that its own modules refer to.

    If the files need more than `room` bytes together, the smallest are taken.
    """
    found: dict[str, Path] = {}
    left: dict[str, None] = {}
    waiting = deque(_undemand_written(_in_cells(cells)))
    while waiting:
        reference = waiting.popleft()
        name, wrong = _locate(reference, folder)
        if wrong:
            left[f"{printable(reference.name):.80} ({reference.place}) {wrong}"] = None
        if name and name not in found:
            found[name] = folder / name
            if name.endswith(".py"):
                waiting += _in_module(found[name], name)
        waiting += [Reference(module, reference.place) for module in _modules_at(reference, folder)]
    files, too_much = _read(found, room)
    return Needed(files, [*left, *too_much])


def unfit(name: str) -> str:
    """Return why a file with this path is not collected, as a clause, or "" if it is collected."""
    parts = PurePosixPath(name).parts
    if not is_writable(name):
        return "its name cannot be written on every system"
    if any(part.startswith(".") for part in parts):
        return "its name or its folder's begins with a dot"
    if RESERVED.intersection(parts):
        return "grading uses this name for files of its own"
    if PurePosixPath(name).suffix.lower() in RUNNABLE:
        return "it is a program"
    return ""


# -- files that are named ----------------------------------------------------------------------------------------------


def _in_cells(cells: Sequence[Mapping[str, Any]]) -> Iterator[Reference]:
    for number, cell in enumerate(cells, 1):
        text, place = source_of(cell), f"cell {number}"
        yield from _in_code(text, place) if cell.get("cell_type") == "code" else _in_text(text, place)


def _in_module(path: Path, name: str) -> Iterator[Reference]:
    with suppress(OSError):  # `_read` fails again, and reports it
        yield from _in_code(path.read_text("utf-8", "replace"), name)


def _undemand_written(references: Iterable[Reference]) -> Iterator[Reference]:
    """Clear `is_demanded` of files that code also names elsewhere, because the notebook itself may write them."""
    known = list(references)
    optional = {one.name for one in known if not one.is_demanded}
    for one in known:
        yield Reference(one.name, one.place, one.is_demanded and one.name not in optional)


class _Sources(HTMLParser):
    """The addresses in a text's HTML."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        with suppress(AssertionError):  # an invalid declaration, such as `<![x`
            self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the addresses that a tag shows or links to."""
        self.found += [value for key, value in attrs if key in ("src", "href", "poster", "data") and value]


def _in_text(text: str, place: str) -> Iterator[Reference]:
    """Yield the files that a text links to or shows, as Markdown or as HTML."""
    plain = _CODE_SPAN.sub("", text)
    targets = ["".join(filter(None, match.groups())) for match in _TARGET.finditer(plain)] + _Sources(plain).found
    for target in targets:
        if not _ADDRESS.match(target):
            name = unquote(re.split(r"[?#]", target)[0])
            yield Reference(name, place, PurePosixPath(name).suffix.lower() in PICTURES)


def _in_code(source: str, place: str) -> Iterator[Reference]:
    """Yield what code names: texts, paths joined from texts, and modules (`module:` and a dotted name)."""
    for line in source.splitlines():
        if line.lstrip().startswith(("%", "!")):
            yield from (Reference(word.strip("\"'"), place) for word in line.split()[1:])
    tree = parsed(source)
    if tree is None:
        yield from (Reference(name, place) for name in re.findall(r"[\"']([^\"'\n]+)[\"']", source))
        yield from (Reference(f"module:{name}", place) for name in re.findall(_IMPORT, source))
        return
    read: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (name := _read_by(node)):
            read.add(node.args[0])
            yield Reference(name, place, is_demanded=True)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (Reference(f"module:{name}", place) for name in _imported(node))
        elif node not in read and (name := _path(node)):
            yield Reference(name, place)
            if "<" in name or "](" in name:
                yield from (Reference(one.name, place) for one in _in_text(name, place))


_IMPORT = re.compile(r"^\s*(?:from|import)\s+([A-Za-z_][\w.]*)", re.MULTILINE)


def _imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if node.level or not node.module:  # within a package, which is packed as a whole
        return []
    return [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]


def _read_by(call: ast.Call) -> str:
    """Return the name of the file that a call reads, or "" if it reads none, or writes."""
    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if not call.args or not (called in _READERS or called.startswith("read_")):
        return ""
    modes = [*call.args[1:2], *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    if called == "open" and any(isinstance(mode, ast.Constant) and set(str(mode.value)) & set("wax") for mode in modes):
        return ""
    name = _path(call.args[0])
    return name if PurePosixPath(name).suffix and not _ADDRESS.match(name) else ""


def _path(node: ast.AST) -> str:
    """Return the text of `"figs/a.png"`, `Path("figs") / "a.png"` or `os.path.join("figs", "a.png")`; else ""."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        parts = [_path(node.left), _path(node.right)]
    elif isinstance(node, ast.Call) and (getattr(node.func, "id", "") or getattr(node.func, "attr", "")) in (
        "Path",
        "join",
    ):
        parts = [_path(argument) for argument in node.args]
    else:
        return ""
    return "/".join(parts) if parts and all(parts) else ""


# -- finding files -----------------------------------------------------------------------------------------------------


def _locate(reference: Reference, folder: Path) -> tuple[str, str]:
    """Return a file's path from `folder` if the file is packed, else "", and the fault of the reference, or ""."""
    name = reference.name
    if not name or len(name) > 500 or not name.isprintable() or name.endswith(".ipynb") or name.startswith("module:"):
        return "", ""
    try:
        if _is_absolute(name):
            there = Path(name).expanduser().is_file() and not name.startswith(SYSTEM)
            wrong = "is an absolute path, which only your machine has. Put the file beside the notebook"
            return "", wrong if there or reference.is_demanded else ""
        return _below(reference, folder)
    except (OSError, ValueError, RuntimeError):  # an impossible file name, or an unknown home folder
        return "", ""


def _below(reference: Reference, folder: Path) -> tuple[str, str]:
    written = posixpath.normpath(reference.name)
    name = posixpath.normpath(reference.name.replace("\\", "/"))
    path = folder / name
    is_there = path.is_file()
    if name.startswith("../"):
        return "", "lies above the notebook's folder. Move it into that folder" if is_there else _missing(reference)
    if not is_there:
        return "", "" if path.is_dir() else _missing(reference)
    if any((folder / part).is_symlink() for part in (name, *map(str, list(PurePosixPath(name).parents)[:-1]))):
        return "", "is a symbolic link, or lies behind one. Put the file itself there"
    if reason := unfit(name):
        return "", f"is not handed in, because {reason}. Give it another name"
    if name != written:
        return name, f"is a path that only Windows understands. Write {name}"
    return name, ""


def _missing(reference: Reference) -> str:
    return "is not there. Put the file there, or correct its name" if reference.is_demanded else ""


def _is_absolute(name: str) -> bool:
    return name.startswith("~/") or PurePosixPath(name).is_absolute() or bool(PureWindowsPath(name).drive)


def _modules_at(reference: Reference, folder: Path) -> Iterator[str]:
    """Yield the files of an imported module in `folder`: the module, or the package with all its modules."""
    if not reference.name.startswith("module:"):
        return
    parts = reference.name.removeprefix("module:").split(".")
    if parts[0] == "course":  # this package, in a copy of the repository
        return
    if (folder / f"{parts[0]}.py").is_file():
        yield f"{parts[0]}.py"
    elif (folder / parts[0] / "__init__.py").is_file():
        package = everything(folder / parts[0])
        yield from (path.relative_to(folder).as_posix() for path in package if path.suffix == ".py")
    elif (folder / "/".join(parts)).with_suffix(".py").is_file():
        yield f"{'/'.join(parts)}.py"


# -- reading files -----------------------------------------------------------------------------------------------------


def _read(found: Mapping[str, Path], room: int) -> tuple[dict[str, bytes], list[str]]:
    """Return the contents of the files that fit, and a sentence for each other file."""
    files: dict[str, bytes] = {}
    left: list[str] = []
    for name, path in sorted(found.items(), key=lambda item: item[1].stat().st_size):
        size = path.stat().st_size
        if size > room or len(files) >= MOST_FILES:
            left.append(
                f"{name} is not packed, because it has {size / 2**20:.1f} MB and {room / 2**20:.1f} MB are left"
                if size > room
                else f"{name} is not packed, because {MOST_FILES} files are packed already"
            )
            continue
        try:
            files[name] = path.read_bytes()
        except OSError as error:
            left.append(f"{name} cannot be read: {error.strerror}")
            continue
        room -= size
    return {name: files[name] for name in found if name in files}, left
