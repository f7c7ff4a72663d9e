"""Confine this process irreversibly, just before a student's code runs in it."""

from __future__ import annotations

import contextlib
from pathlib import Path

from course.grading.sandbox import bubblewrap, capabilities, landlock, rlimits, seccomp
from course.grading.sandbox.spec import Confines, hidden_paths, system_paths

MOST_THREADS = 1024
"""The most threads of all of a user's processes: far more than a notebook needs, too few to harm the machine."""


def confine(tier: str, confines: Confines) -> None:
    """Confine this process and all processes that it will start.

    With "bubblewrap" the process is already in its namespaces. With "none" only the resource limits apply.

    Raises:
        OSError, RuntimeError: this machine cannot make the sandbox.
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
    capabilities.dumpable(True)  # the memory watch has to read this process's memory use
    seccomp.refuse(network=True, landlock=landlock.abi() if tier == "landlock" else None)


def _data_in_use() -> int:
    """Return the bytes of data that this process inherited, mostly shared; the allowance is added to them."""
    with contextlib.suppress(OSError, StopIteration, IndexError):
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        return 1024 * int(next(line for line in lines if line.startswith("VmData:")).split()[1])
    return 0


def readable(confines: Confines) -> list[Path]:
    """Return the readable paths; a folder with a hidden path in it is split, because Landlock can only allow.

    Symbolic links are left out, because allowing a link allows its target: a virtual environment's `lib64` is all of
    its `lib`. A link still works if its target is allowed by another path.
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
