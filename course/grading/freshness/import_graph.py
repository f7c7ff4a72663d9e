"""The files that a module depends on: its imports, and the data beside the code.

A file is named as seen from the package, "reference/rnn.py"; an instructor's own tests by their whole path.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from pathlib import Path, PurePath
from typing import NamedTuple

from course.source import tree

OWN = ("hidden", "reference")
"""Folders with something for each topic: `reference` a module, `hidden` a folder."""


class Import(NamedTuple):
    """A name that a module imports from the course: `attribute` of `file`, or all of `file` where that is empty."""

    name: str
    file: str
    attribute: str = ""


@cache
def _read(source: bytes) -> ast.Module:
    return tree(source)


def statements(package: Path, file: str) -> ast.Module:
    """The statements of a module of `package`; none where there is no such file, or no Python in it.

    An instructor's tests may be unfinished: who runs them says so.
    """
    path = package / file
    try:
        return _read(path.read_bytes() if path.is_file() else b"")
    except (SyntaxError, ValueError):
        return _read(b"")


def imports(package: Path, file: str) -> Iterator[Import]:
    """What a module of `package` imports of the course, relative imports and those within functions among it."""
    for node in ast.walk(statements(package, file)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if found := _module(package, _below_the_course(alias.name)):
                    yield Import(alias.asname or alias.name, found)
        elif isinstance(node, ast.ImportFrom) and (parts := _origin(node, file)) is not None:
            origin = _module(package, parts)
            for alias in node.names:
                if module := _module(package, [*parts, alias.name]):
                    yield Import(alias.asname or alias.name, module)
                elif origin:
                    yield Import(alias.asname or alias.name, origin, alias.name)


def reached(package: Path, starts: Iterable[str], within: Collection[str] = OWN) -> set[str]:
    """The `starts`, and all modules in the folders `within` that their imports lead to."""
    seen = set(starts)
    waiting = list(seen)
    while waiting:
        found = {one.file for one in imports(package, waiting.pop()) if PurePath(one.file).parts[0] in within}
        waiting += found - seen
        seen |= found
    return seen


def data_files(package: Path) -> list[Path]:
    """What `course.data` holds beside modules and README, such as the weights of a trained network."""
    below = ((path, path.relative_to(package).parts) for path in (package / "data").rglob("*"))
    plain = (path for path, parts in below if not any(part.startswith((".", "__pycache__")) for part in parts))
    return sorted(path for path in plain if path.is_file() and path.suffix not in (".py", ".md"))


def _origin(statement: ast.ImportFrom, file: str) -> list[str] | None:
    """The place below the course that a statement in `file` imports from; None when that is elsewhere."""
    named = statement.module.split(".") if statement.module else []
    if not statement.level:
        return _below_the_course(".".join(named))
    folders = PurePath(file).parent.parts
    up = statement.level - 1
    if PurePath(file).is_absolute() or up > len(folders):
        return None
    return [*folders[: len(folders) - up], *named]


def _below_the_course(module: str) -> list[str] | None:
    first, *below = module.split(".")
    return below if first == "course" else None


def _module(package: Path, parts: list[str] | None) -> str:
    """The file of a module or of a package, by its place below the course; empty when there is none."""
    if parts is None:
        return ""
    name = "/".join(parts)
    found = (file for file in (f"{name}.py", f"{name}/__init__.py") if (package / file).is_file())
    return next(found, "")
