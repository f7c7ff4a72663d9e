"""The strongest sandbox: bubblewrap makes namespaces of users, mounts, processes, network and System V objects.

A process in them sees the listed paths and nothing else of the disk, its own processes and no others, a loopback
device that leads nowhere, and holds no capability.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from course.grading.sandbox.spec import Confines, hidden_paths, system_paths

ACCELERATORS = ("nvidia*", "nvidia-caps/*", "dri/*", "kfd")
"""Below /dev: the devices of NVIDIA's and AMD's accelerators."""

SCRATCH = 64 * 2**20
"""Bytes that /tmp and /dev/shm hold, which the watch on the disk does not see; `TMPDIR` points elsewhere."""


def program() -> str | None:
    """The path of bubblewrap, or None where it is not installed."""
    return shutil.which("bwrap")


def command(confines: Confines) -> list[str]:
    """What to put before a program and its arguments to run it inside.

    Raises:
        FileNotFoundError: bubblewrap is not installed.
    """
    bwrap = program()
    if bwrap is None:
        raise FileNotFoundError("bubblewrap (bwrap) is not installed")
    return [bwrap, *namespaces(), *_disk(confines), *_devices(confines), "--remount-ro", "/", "--chdir", "/", "--"]


def accelerators() -> list[Path]:
    """The devices of the accelerators this machine has."""
    return [device for pattern in ACCELERATORS for device in sorted(Path("/dev").glob(pattern))]


def namespaces() -> list[str]:
    """One of every kind for itself, no way up, no terminal, no environment, and an end with whoever started it."""
    alone = ["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    nobody = ["--uid", "1000", "--gid", "1000", "--cap-drop", "ALL", "--hostname", "sandbox"]
    return [*alone, *nobody, "--unshare-cgroup-try", "--new-session", "--die-with-parent", "--clearenv"]


def _disk(confines: Confines) -> list[str]:
    """The system for reading, what is hidden in it covered, then what this notebook is given on top."""
    mounts: list[str] = []
    for path in system_paths():
        mounts += _shown(path)
    mounts += ["--size", str(SCRATCH), "--tmpfs", "/tmp"]  # noqa: S108, its own
    covers: list[str] = []
    for path in hidden_paths(confines):
        mounts += ["--tmpfs", str(path)] if path.is_dir() else ["--ro-bind", "/dev/null", str(path)]
        covers += ["--remount-ro", str(path)] if path.is_dir() else []
    for name in confines.readable:
        mounts += ["--ro-bind", name, name]
    return [*mounts, *covers, "--bind", confines.private, confines.private]


def _shown(path: Path) -> list[str]:
    """A path to read; where it is a link within the root, as /bin is to /usr/bin, the link itself."""
    if path.is_symlink() and path.parent == Path("/"):
        return ["--symlink", str(path.readlink()), str(path)]
    return ["--ro-bind", str(path), str(path)]


def _devices(confines: Confines) -> list[str]:
    mounts = ["--proc", "/proc", "--dev", "/dev", "--size", str(SCRATCH), "--tmpfs", "/dev/shm"]  # noqa: S108, its own
    if confines.gpu:
        for device in accelerators():
            mounts += ["--dev-bind-try", str(device), str(device)]
        mounts += ["--ro-bind", "/sys", "/sys"]
    return mounts
