"""What a student's process may see, write and use, as plain values that can be sent to the process that enforces it."""

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
"""Where programs and libraries are; some are links to others."""

SETTINGS = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "fonts", "mime.types", "alternatives")
"""What of /etc a program needs to start, and matplotlib to draw letters; no users, no hosts, no keys."""


@dataclass(frozen=True)
class Allowance:
    """What a notebook may use, all its processes together; `None` sets no limit.

    Sizes are in bytes: `memory` is the proportional share (PSS) of all processes, `file` the largest file, `disk` all
    that is written. The defaults are three times what the hungriest solved notebook of the course uses.
    """

    memory: int | None = 3 * GIGABYTE
    processes: int | None = 64
    file: int | None = 256 * MEGABYTE
    disk: int | None = 512 * MEGABYTE
    cpu: float | None = None


@dataclass(frozen=True)
class Confines:
    """The world of one notebook.

    Args:
        private: the one folder that can be written: the submission's copy, its home, temporary files, sockets.
        readable: files and folders shown beside the system's own, for reading: the student edition, the data.
        gpu: whether the devices of accelerators are there.
        allowance: what may be used.
        hidden: files and folders that are not shown although they lie where the system's programs and libraries are.
    """

    private: str
    readable: tuple[str, ...] = ()
    gpu: bool = False
    allowance: Allowance = field(default_factory=Allowance)
    hidden: tuple[str, ...] = ()


def system_paths() -> list[Path]:
    """What every process sees for reading: the system's programs and libraries, and this Python's."""
    prefixes = {sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix}
    paths = [*map(Path, SYSTEM), *(Path("/etc", name) for name in SETTINGS), *map(Path, sorted(prefixes))]
    return [path for path in distinct([*paths, *_library_folders()]) if path.exists()]


def hidden_paths(confines: Confines) -> list[Path]:
    """What lies within the system's paths and is yet not for students: the installed course with its tests, and more.

    Folders are hidden with all that is in them.
    """
    package = Path(course.__file__).resolve().parent
    others = [Path(entry, "course") for entry in (*_site_folders(), *sys.path) if entry]
    courses = [path for path in distinct([package, *others]) if (path / "hidden").is_dir()]
    shown = [path.resolve() for path in system_paths()]
    hidden = distinct([*courses, *map(Path, confines.hidden)])
    return [path for path in hidden if any(map(path.resolve().is_relative_to, shown))]


def _library_folders() -> list[Path]:
    """The folders Python imports from, but those of a checkout of the course: that holds more than a library."""
    entries = [Path(entry).absolute() for entry in sys.path if entry]
    folders = [entry for entry in entries if entry.is_dir() and not (entry / "course" / "__init__.py").is_file()]
    return [*folders, *map(Path, _site_folders())]


def _site_folders() -> list[str]:
    purelib, platlib = sysconfig.get_path("purelib"), sysconfig.get_path("platlib")
    user = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    return [folder for folder in (purelib, platlib, *user) if os.path.isdir(folder)]  # noqa: PTH112, plain strings


def distinct(paths: Iterable[Path]) -> list[Path]:
    """Each path once, in order."""
    return list(dict.fromkeys(paths))
