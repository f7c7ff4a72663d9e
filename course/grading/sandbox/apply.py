"""Confine this process for good, just before a student's code runs in it."""

from __future__ import annotations

import contextlib
from pathlib import Path

from course.grading.sandbox import bubblewrap, capabilities, landlock, rlimits, seccomp
from course.grading.sandbox.spec import Confines, hidden_paths, system_paths

MOST_THREADS = 1024
"""Threads of a user's processes together: far above what a notebook starts, far below what hurts a machine."""


def confine(tier: str, confines: Confines) -> None:
    """Confine this process and all it will start.

    Under "bubblewrap" the process stands in its namespaces already. Under "none" only the limits hold.

    Raises:
        OSError, RuntimeError: the sandbox cannot be made here.
    """
    allowance = confines.allowance
    memory = None if allowance.memory is None else allowance.memory + _data_in_use()
    rlimits.apply(memory, allowance.cpu, allowance.file, None if tier == "none" else MOST_THREADS)
    if tier == "none":
        return
    if tier == "landlock":
        sockets = [Path(name) for name in confines.readable]
        devices = bubblewrap.accelerators() if confines.gpu else []
        landlock.restrict(readable(confines), [Path(confines.private)], devices=devices, sockets=sockets)
    capabilities.drop()
    capabilities.dumpable(True)  # whoever watches over the memory has to see it
    seccomp.refuse(network=True, landlock=landlock.abi() if tier == "landlock" else None)


def _data_in_use() -> int:
    """Bytes of data this process has from its parent, most of them shared: what it may use comes on top."""
    with contextlib.suppress(OSError, StopIteration, IndexError):
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        return 1024 * int(next(line for line in lines if line.startswith("VmData:")).split()[1])
    return 0


def readable(confines: Confines) -> list[Path]:
    """What may be read: Landlock can only allow, so a folder with something hidden in it is allowed in parts.

    Links are none of these parts, as allowing one allows what it leads to: `lib64`, in an environment, all of `lib`.
    Whoever follows one comes to what is allowed by itself, or to what is not.
    """
    hidden = {path.resolve() for path in hidden_paths(confines)}
    paths: list[Path] = []
    for path in system_paths():
        paths += _but(path.resolve(), hidden)
    return [*paths, *map(Path, confines.readable)]


def _but(path: Path, hidden: set[Path]) -> list[Path]:
    if path in hidden:
        return []
    if not any(other.is_relative_to(path) for other in hidden):
        return [path]
    return [part for child in sorted(path.iterdir()) if not child.is_symlink() for part in _but(child, hidden)]
