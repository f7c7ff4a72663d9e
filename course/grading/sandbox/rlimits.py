"""Limits the kernel keeps for each process: memory, processor time, sizes of files, how many of everything."""

from __future__ import annotations

import math
import resource

GRACE_SECONDS = 2
"""Processor time between the signal a program could catch (SIGXCPU) and the one it cannot."""

OPEN_FILES = 1024
"""Descriptors: a kernel has about 60, a data loader some hundred; also what a program closes one by one at a start."""


def apply(memory: int | None, cpu_seconds: float | None, file_bytes: int | None, processes: int | None) -> None:
    """Limit this process and, each for itself, those it starts; soft and hard alike, so that none can be raised.

    Args:
        memory: bytes of data a process may have. RLIMIT_DATA and not RLIMIT_AS: what is only mapped (libraries, a
            GPU's address space) is free, and an allocation too large fails as Python's MemoryError or torch's
            RuntimeError instead of ending the process.
        cpu_seconds: processor time (RLIMIT_CPU): ends a loop that ignores every signal it can.
        file_bytes: the largest file (RLIMIT_FSIZE): a disk is not filled by one forgotten loop.
        processes: processes and threads of this *user* altogether (RLIMIT_NPROC); in a user namespace only those in
            it. The kernel does not count root's.

    `None` leaves a limit as it is. Besides, no core files (they hold all of a process's memory, and are large) and a
    modest number of open files.
    """
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NOFILE, OPEN_FILES)
    if memory is not None:
        _limit(resource.RLIMIT_DATA, memory)
    if cpu_seconds is not None:
        _limit(resource.RLIMIT_CPU, math.ceil(cpu_seconds), GRACE_SECONDS)
    if file_bytes is not None:
        _limit(resource.RLIMIT_FSIZE, file_bytes)
    if processes is not None:
        _limit(resource.RLIMIT_NPROC, processes)


def _limit(kind: int, value: int, grace: int = 0) -> None:
    """Set the limit to `value`, the hard one `grace` above, or to what it already is if that is lower."""
    _, most = resource.getrlimit(kind)
    highest = value + grace if most == resource.RLIM_INFINITY else min(value + grace, most)
    resource.setrlimit(kind, (min(value, highest), highest))
