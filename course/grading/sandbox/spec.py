"""Describe what a student's process may see, write and use, as plain values for the process that enforces this."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import course

GIGABYTE = 2**30
MEGABYTE = 2**20

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store")
"""The folders of programs and libraries; some are links to others."""

SETTINGS = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "fonts", "mime.types", "alternatives")
"""The entries of /etc that programs need to start, and matplotlib for fonts; no users, no hosts, no keys."""


@dataclass(frozen=True)
class Allowance:
    """The resource limits of a notebook, for all its processes together; `None` sets no limit.

    Sizes are in bytes: `memory` is the proportional set size (PSS) of all processes, `file` the largest file, `disk`
    the sum of all written files. The defaults are three times the largest use of any solved notebook of the course.
    """

    memory: int | None = 3 * GIGABYTE
    processes: int | None = 64
    file: int | None = 256 * MEGABYTE
    disk: int | None = 512 * MEGABYTE
    cpu: float | None = None


@dataclass(frozen=True)
class Confines:
    """The sandbox settings of one notebook.

    Args:
        private: the only writable folder: the submission's copy, its home, temporary files, sockets.
        readable: read-only files and folders besides the system's: the student edition, the data.
        gpu: whether the devices of accelerators are visible.
        allowance: the resource limits.
        hidden: files and folders that are hidden although they lie in the system's folders.
    """

    private: str
    readable: tuple[str, ...] = ()
    gpu: bool = False
    allowance: Allowance = field(default_factory=Allowance)
    hidden: tuple[str, ...] = ()


def system_paths() -> list[Path]:
    """Return the paths that every process can read: the programs and libraries of the system and of this Python."""
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    paths = [*map(Path, SYSTEM), *(Path("/etc", name) for name in SETTINGS), *map(Path, sorted(prefixes))]
    return [path for path in distinct([*paths, *_library_folders()]) if path.exists()]


def hidden_paths(confines: Confines) -> list[Path]:
    """Return the paths within the system's paths to hide: the installed course and `confines.hidden`.

    Folders are hidden with all their contents.
    """
    package = Path(course.__file__).resolve().parent
    others = [Path(entry, "course") for entry in (*_site_folders(), *sys.path) if entry]
    courses = [path for path in distinct([package, *others]) if (path / "hidden").is_dir()]
    shown = [path.resolve() for path in system_paths()]
    hidden = distinct([*courses, *map(Path, confines.hidden)])
    return [path for path in hidden if any(map(path.resolve().is_relative_to, shown))]


def _library_folders() -> list[Path]:
    """Return the folders of Python's import path without checkouts of the course, which contain more than a library."""
    entries = [Path(entry).absolute() for entry in sys.path if entry]
    folders = [entry for entry in entries if entry.is_dir() and not (entry / "course" / "__init__.py").is_file()]
    return [*folders, *map(Path, _site_folders())]


def _site_folders() -> list[str]:
    purelib, platlib = sysconfig.get_path("purelib"), sysconfig.get_path("platlib")
    user = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    return [folder for folder in (purelib, platlib, *user) if os.path.isdir(folder)]  # noqa: PTH112, plain strings


def distinct(paths: Iterable[Path]) -> list[Path]:
    """Return the paths without duplicates, in order."""
    return list(dict.fromkeys(paths))
