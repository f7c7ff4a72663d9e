"""Build the command line of bubblewrap, the strongest sandbox: user, mount, PID, network and IPC namespaces.

A process in them sees only the listed paths of the disk, only its own processes, and a loopback device without a
network. It has no capabilities.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from course.grading.sandbox.spec import Confines, hidden_paths, system_paths

ACCELERATORS = ("nvidia*", "nvidia-caps/*", "dri/*", "kfd")
"""Patterns below /dev of the devices of NVIDIA's and AMD's accelerators."""

SCRATCH = 64 * 2**20
"""The sizes of /tmp and /dev/shm in bytes, which the disk watch does not see; `TMPDIR` points elsewhere."""


def program() -> str | None:
    """Return the path of bubblewrap, or None if it is not installed."""
    return shutil.which("bwrap")


def command(confines: Confines) -> list[str]:
    """Return the command prefix that runs a program in the sandbox.

    Raises:
        FileNotFoundError: bubblewrap is not installed.
    """
    bwrap = program()
    if bwrap is None:
        raise FileNotFoundError("bubblewrap (bwrap) is not installed")
    return [bwrap, *namespaces(), *_disk(confines), *_devices(confines), "--remount-ro", "/", "--chdir", "/", "--"]


def accelerators() -> list[Path]:
    """Return the devices of this machine's accelerators."""
    return [device for pattern in ACCELERATORS for device in sorted(Path("/dev").glob(pattern))]


def namespaces() -> list[str]:
    """Return the options: new namespaces, no capabilities, terminal or environment, and exit with the parent."""
    alone = ["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    nobody = ["--uid", "1000", "--gid", "1000", "--cap-drop", "ALL", "--hostname", "sandbox"]
    return [*alone, *nobody, "--unshare-cgroup-try", "--new-session", "--die-with-parent", "--clearenv"]


def _disk(confines: Confines) -> list[str]:
    """Return the mounts: the system read-only, its hidden paths covered, and the notebook's own paths."""
    mounts: list[str] = []
    for path in system_paths():
        mounts += _shown(path)
    mounts += ["--size", str(SCRATCH), "--tmpfs", "/tmp"]  # noqa: S108, private
    covers: list[str] = []
    for path in hidden_paths(confines):
        mounts += ["--tmpfs", str(path)] if path.is_dir() else ["--ro-bind", "/dev/null", str(path)]
        covers += ["--remount-ro", str(path)] if path.is_dir() else []
    for name in confines.readable:
        mounts += ["--ro-bind", name, name]
    return [*mounts, *covers, "--bind", confines.private, confines.private]


def _shown(path: Path) -> list[str]:
    """Return the mount of a readable path, or the link itself for a link in the root, such as /bin to /usr/bin."""
    if path.is_symlink() and path.parent == Path("/"):
        return ["--symlink", str(path.readlink()), str(path)]
    return ["--ro-bind", str(path), str(path)]


def _devices(confines: Confines) -> list[str]:
    mounts = ["--proc", "/proc", "--dev", "/dev", "--size", str(SCRATCH), "--tmpfs", "/dev/shm"]  # noqa: S108, private
    if confines.gpu:
        for device in accelerators():
            mounts += ["--dev-bind-try", str(device), str(device)]
        mounts += ["--ro-bind", "/sys", "/sys"]
    return mounts
