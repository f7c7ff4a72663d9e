"""Restrict the files of this process with Landlock, a Linux sandbox that needs no privileges.

A *ruleset* names the rights it handles. Each handled right is then refused everywhere except below the folders for
which a rule grants it. A restriction cannot be undone, and child processes inherit it. The kernel numbers Landlock's
features as *ABI* versions: 1 (Linux 5.13) files, 2 renaming between folders, 3 truncating, 4 TCP, 5 device controls,
6 signals and abstract sockets, 9 named Unix sockets.

Landlock does not protect whether a file exists and its size (`stat`), its mode, owner and times (the `seccomp` filter
does), and, before ABI 9, connections to a named Unix socket that the user may write to.
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
    """Access rights for files and folders (linux/landlock.h)."""

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
"""The rights that each ABI added."""

READ = Right.READ_FILE | Right.READ_DIR | Right.EXECUTE
MAKE = Right.MAKE_DIR | Right.MAKE_REG | Right.MAKE_SYM | Right.MAKE_SOCK | Right.MAKE_FIFO
CHANGE = Right.WRITE_FILE | Right.TRUNCATE | Right.REFER | Right.REMOVE_DIR | Right.REMOVE_FILE
USE = Right.READ_FILE | Right.WRITE_FILE
OF_A_FILE = Right.EXECUTE | Right.WRITE_FILE | Right.READ_FILE | Right.TRUNCATE | Right.IOCTL_DEV | Right.RESOLVE_UNIX
"""The rights that the kernel accepts in a rule for a path that is no folder."""

TCP = 0b11  # bind, connect
SCOPES = 0b11  # abstract Unix sockets, signals

VERSION = 1  # flag of landlock_create_ruleset: only return the ABI
PATH_BENEATH = 1  # kind of a rule
ALL_THREADS = 1 << 3  # flag of landlock_restrict_self, ABI 8

DEVICES = tuple(Path("/dev", name) for name in ("null", "zero", "full", "random", "urandom"))
"""Devices that hold no data of other users."""

FACTS = (
    *(Path("/proc", name) for name in ("cpuinfo", "meminfo", "stat", "loadavg")),
    *(Path("/proc/sys", name) for name in ("vm/overcommit_memory", "kernel/random/boot_id")),
    *(Path("/sys/devices/system", name) for name in ("cpu", "node")),
    Path("/sys/kernel/mm/transparent_hugepage"),
)
"""Files about the machine's processors and memory, which glibc, torch and allocators read."""

OF_ITSELF = tuple(Path("/proc/self", name) for name in ("maps", "stat", "statm", "status"))
"""Files about this process's memory and time; not all of /proc/self, because `net` lists all Unix sockets."""

OF_ACCELERATORS = (
    *(Path("/proc", name) for name in ("driver", "devices", "modules", "sys/vm")),
    *(Path("/sys", name) for name in ("bus", "class", "dev", "devices", "module")),
)
"""Files about accelerators and their drivers, which CUDA reads before it uses one."""

OWN_THREADS = Path("/proc/self/task")
"""The folder in which CUDA writes the names of its threads; it belongs to this process alone."""


def abi() -> int:
    """Return this kernel's Landlock ABI; 0 if there is none, or if it is switched off."""
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
    """Restrict this process, and all processes it will start, to these files and to basic facts about itself.

    Everything that this kernel's Landlock can refuse is refused: other files, TCP, signals to outside processes, and
    their abstract sockets. Paths that do not exist are skipped. A symbolic link grants its target.

    Args:
        readable: files, and folders with all below, to read and execute.
        writable: files and folders that can also be written, created, moved and deleted; no device nodes.
        devices: device nodes with full access, such as an accelerator's.
        sockets: named Unix sockets to connect to (below ABI 9, all sockets that the user may write to are open).

    Raises:
        Unsupported: this kernel has no Landlock.
        RuntimeError: the process has other threads, which would stay unrestricted.
        OSError: the kernel refused the rules.
    """
    version = abi()
    if not version:
        raise Unsupported("this kernel has no Landlock, or it is switched off")
    threads = Path("/proc/self/task").stat().st_nlink - 2  # one link a subfolder; listing may be forbidden
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
            return  # missing, or not accessible to this user anyhow
        raise
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            rights &= OF_A_FILE
        if rights:
            call("landlock_add_rule", ruleset, PATH_BENEATH, struct.pack("=Qi", rights, place), 0)
    finally:
        # A rule is tied to the kernel's inode of a file. The kernel drops inodes of /proc when memory is short, and the
        # rule with it, so an open descriptor keeps the inode alive.
        if not path.is_relative_to("/proc"):
            os.close(place)
