"""Files a process may touch, decided by the process itself: Landlock, Linux's sandbox that needs no rights to use.

A *ruleset* names the rights it handles; each handled right is then refused everywhere but below the folders a rule
grants it for. Once a process has restricted itself there is no way back, and its children are born restricted. The
kernel counts Landlock's abilities as *ABI* versions: 1 (Linux 5.13) files, 2 renaming between folders, 3 truncating,
4 TCP, 5 device controls, 6 signals and abstract sockets, 9 named Unix sockets.

What Landlock does not hold: whether a file exists and how large it is (`stat`), its mode, owner and times (`seccomp`
keeps these as they are), and, before ABI 9, connecting to a named Unix socket that the user may write to.
"""

from __future__ import annotations

import enum
import errno
import os
import stat
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

from .syscalls import Unsupported, call, no_new_privileges

__all__ = ["Right", "Unsupported", "abi", "restrict"]


class Right(enum.IntFlag):
    """What can be done with files and folders (linux/landlock.h)."""

    EXECUTE = 1 << 0
    WRITE_FILE = 1 << 1
    READ_FILE = 1 << 2
    READ_DIR = 1 << 3
    REMOVE_DIR = 1 << 4
    REMOVE_FILE = 1 << 5
    MAKE_CHAR = 1 << 6
    MAKE_DIR = 1 << 7
    MAKE_REG = 1 << 8
    MAKE_SOCK = 1 << 9
    MAKE_FIFO = 1 << 10
    MAKE_BLOCK = 1 << 11
    MAKE_SYM = 1 << 12
    REFER = 1 << 13  # link or rename into another folder
    TRUNCATE = 1 << 14
    IOCTL_DEV = 1 << 15
    RESOLVE_UNIX = 1 << 16  # connect to a named Unix socket


SINCE = {1: (1 << 13) - 1, 2: Right.REFER, 3: Right.TRUNCATE, 5: Right.IOCTL_DEV, 9: Right.RESOLVE_UNIX}
"""The rights each ABI added."""

READ = Right.READ_FILE | Right.READ_DIR | Right.EXECUTE
MAKE = Right.MAKE_DIR | Right.MAKE_REG | Right.MAKE_SYM | Right.MAKE_SOCK | Right.MAKE_FIFO
CHANGE = Right.WRITE_FILE | Right.TRUNCATE | Right.REFER | Right.REMOVE_DIR | Right.REMOVE_FILE
USE = Right.READ_FILE | Right.WRITE_FILE
OF_A_FILE = Right.EXECUTE | Right.WRITE_FILE | Right.READ_FILE | Right.TRUNCATE | Right.IOCTL_DEV | Right.RESOLVE_UNIX
"""The rights that make sense for something that is no folder: the kernel takes no others for it."""

TCP = 0b11  # bind, connect
SCOPES = 0b11  # abstract Unix sockets, signals

VERSION = 1  # flag of landlock_create_ruleset: only ask for the ABI
PATH_BENEATH = 1  # kind of a rule
ALL_THREADS = 1 << 3  # flag of landlock_restrict_self, ABI 8

DEVICES = tuple(Path("/dev", name) for name in ("null", "zero", "full", "random", "urandom"))
"""Devices that hold nothing of anybody's."""

FACTS = (
    *(Path("/proc", name) for name in ("cpuinfo", "meminfo", "stat", "loadavg")),
    *(Path("/proc/sys", name) for name in ("vm/overcommit_memory", "kernel/random/boot_id")),
    *(Path("/sys/devices/system", name) for name in ("cpu", "node")),
    Path("/sys/kernel/mm/transparent_hugepage"),
)
"""Of the machine: how many processors of what kind, how much memory. glibc, torch and allocators ask for these."""

OF_ITSELF = tuple(Path("/proc/self", name) for name in ("maps", "stat", "statm", "status"))
"""Of the process: memory and time used. Not all of /proc/self: its `net` names every Unix socket of the machine."""

OF_ACCELERATORS = (
    *(Path("/proc", name) for name in ("driver", "devices", "modules", "sys/vm")),
    *(Path("/sys", name) for name in ("bus", "class", "dev", "devices", "module")),
)
"""Of the machine: what CUDA reads of its accelerators and their drivers before it uses one."""

OWN_THREADS = Path("/proc/self/task")
"""Where CUDA writes the names of the threads it starts; what is there is this process's own."""


def abi() -> int:
    """The version of Landlock this kernel has; 0 where there is none, or it is switched off."""
    if not sys.platform.startswith("linux"):
        return 0
    try:
        return call("landlock_create_ruleset", None, 0, VERSION)
    except (OSError, Unsupported):
        return 0


def restrict(
    readable: Iterable[Path],
    writable: Iterable[Path],
    *,
    devices: Iterable[Path] = (),
    sockets: Iterable[Path] = (),
) -> None:
    """Restrict this process, and all it will start, to these files and to what any process may know of itself.

    Everything this kernel's Landlock can refuse is refused: other files, TCP, signals to processes outside, abstract
    sockets of processes outside. Paths that do not exist are skipped. A symbolic link grants what it points to.

    Args:
        readable: files, and folders with all below, to read and execute.
        writable: the same, also to write, make, move and delete; no device nodes.
        devices: device nodes to use in full, such as an accelerator's.
        sockets: named Unix sockets to connect to (below ABI 9 every one the user may write to can be connected to).

    Raises:
        Unsupported: there is no Landlock here.
        RuntimeError: the process has other threads, which would stay as free as before.
        OSError: the kernel refused the rules.
    """
    version = abi()
    if not version:
        raise Unsupported("this kernel has no Landlock, or it is switched off")
    threads = Path("/proc/self/task").stat().st_nlink - 2  # one link a folder; listing it may be forbidden already
    if version < 8 and threads > 1:
        raise RuntimeError(f"Landlock holds one thread, but this process has {threads}. Restrict it before they start")
    grants = [(path, READ) for path in readable]
    grants += [(path, READ | MAKE | CHANGE | Right.RESOLVE_UNIX) for path in writable]
    grants += [(path, Right.READ_FILE | Right.READ_DIR) for path in (*FACTS, *OF_ITSELF)]
    grants += [(path, USE) for path in DEVICES]
    devices = list(devices)
    grants += [(path, USE | Right.READ_DIR | Right.IOCTL_DEV) for path in devices]
    if devices:
        grants += [(path, Right.READ_FILE | Right.READ_DIR) for path in OF_ACCELERATORS]
        grants += [(OWN_THREADS, Right.WRITE_FILE | Right.TRUNCATE)]
    grants += [(path, Right.RESOLVE_UNIX) for path in sockets]
    enforce(version, grants)


def enforce(version: int, grants: Iterable[tuple[Path, Right]]) -> None:
    handled = Right(sum(rights for since, rights in SINCE.items() if since <= version))
    described = struct.pack("=QQQ", handled, TCP if version >= 4 else 0, SCOPES if version >= 6 else 0)
    ruleset = call("landlock_create_ruleset", described, len(described), 0)
    try:
        for path, rights in grants:
            _grant(ruleset, path, rights & handled)
        no_new_privileges()
        call("landlock_restrict_self", ruleset, ALL_THREADS if version >= 8 else 0)
    finally:
        os.close(ruleset)


def _grant(ruleset: int, path: Path, rights: Right) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.EACCES):
            return  # not there, or out of this user's reach anyhow
        raise
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= OF_A_FILE
        if rights:
            call("landlock_add_rule", ruleset, PATH_BENEATH, struct.pack("=Qi", rights, place), 0)
    finally:
        # A rule is tied to the kernel's record of a file. Those of /proc are made anew when memory is short, and the
        # rule would be lost; an open descriptor keeps them.
        if not path.is_relative_to("/proc"):
            os.close(place)
