"""Give up all capabilities, the pieces of root's powers."""

from __future__ import annotations

import contextlib
import struct

from .syscalls import call, no_new_privileges, prctl

PR_SET_DUMPABLE = 4
PR_CAPBSET_READ, PR_CAPBSET_DROP = 23, 24
PR_CAP_AMBIENT, CLEAR_ALL = 47, 4
VERSION_3 = 0x20080522


def drop() -> None:
    """Give up every capability, now and for every program this process starts.

    A process has them in five sets: those in force, those it may put in force, those it passes on to programs in two
    ways (inheritable and ambient), and the bounding set, which limits what a program may ever get. Root without
    capabilities is a user like any other, who happens to own the system's files.

    Raises:
        OSError: the kernel refused it.
        Unsupported: not Linux, or an unknown machine.
    """
    no_new_privileges()
    with contextlib.suppress(OSError):  # Linux before 4.3 has no ambient set
        prctl(PR_CAP_AMBIENT, CLEAR_ALL)
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_READ, capability)
        except OSError:
            break  # the kernel knows no more of them
        with contextlib.suppress(PermissionError):  # only root may; for others no_new_privileges bounds as well
            prctl(PR_CAPBSET_DROP, capability)
    call("capset", struct.pack("=Ii", VERSION_3, 0), bytes(24))


def dumpable(allowed: bool) -> None:
    """Whether other processes of the same user may look into this one: its memory, environment and descriptors."""
    prctl(PR_SET_DUMPABLE, int(allowed))
