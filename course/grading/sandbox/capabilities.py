"""Drop all Linux capabilities, which are parts of root's privileges."""

from __future__ import annotations

import contextlib
import struct

from .syscalls import call, no_new_privileges, prctl

PR_SET_DUMPABLE = 4
PR_CAPBSET_READ, PR_CAPBSET_DROP = 23, 24
PR_CAP_AMBIENT, CLEAR_ALL = 47, 4
VERSION_3 = 0x20080522


def drop() -> None:
    """Drop every capability of this process and of every program that it starts.

    A process has five capability sets: effective, permitted, inheritable, ambient, and the bounding set, which limits
    the capabilities that a program can ever get. Root without capabilities is a normal user who owns the system's
    files.

    Raises:
        OSError: the kernel refused the change.
        Unsupported: not Linux, or an unknown machine.
    """
    no_new_privileges()
    with contextlib.suppress(OSError):  # Linux before 4.3 has no ambient set
        prctl(PR_CAP_AMBIENT, CLEAR_ALL)
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_READ, capability)
        except OSError:
            break  # the kernel has no more capabilities
        with contextlib.suppress(PermissionError):  # only root may; for others, no_new_privileges suffices
            prctl(PR_CAPBSET_DROP, capability)
    call("capset", struct.pack("=Ii", VERSION_3, 0), bytes(24))


def dumpable(allowed: bool) -> None:
    """Set whether other processes of the same user may read this one's memory, environment and descriptors."""
    prctl(PR_SET_DUMPABLE, int(allowed))
