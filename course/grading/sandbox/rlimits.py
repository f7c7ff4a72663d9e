"""Set the operating system's limits for a process: memory, processor time, file size, and counts."""

from __future__ import annotations

import math
import resource

GRACE_SECONDS = 2
"""The seconds of processor time between SIGXCPU, which a program can catch, and SIGKILL."""

OPEN_FILES = 1024
"""The most file descriptors: a kernel uses about 60, a data loader some hundred; some programs close all at start."""


def apply(memory: int | None, cpu_seconds: float | None, file_bytes: int | None, processes: int | None) -> None:
    """Limit this process and each process that it starts; hard limits are set, too, so that none can be raised.

    Args:
        memory: bytes of data of a process (RLIMIT_DATA). RLIMIT_AS would count mapped memory (libraries, a GPU's
            address space). An allocation above the limit raises Python's MemoryError or torch's RuntimeError instead
            of ending the process.
        cpu_seconds: processor time (RLIMIT_CPU), which ends a loop that ignores all other signals.
        file_bytes: the largest file (RLIMIT_FSIZE), so that one endless loop does not fill the disk.
        processes: processes and threads of this *user* altogether (RLIMIT_NPROC); in a user namespace only those in
            it. The kernel does not count root's.

    `None` leaves a limit unchanged. Core files are disabled, because they contain all of a process's memory, and the
    number of open files is limited.
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
    """Set the soft limit to `value` and the hard limit to `value + grace`, but never above the present hard limit."""
    _, most = resource.getrlimit(kind)
    highest = value + grace if most == resource.RLIM_INFINITY else min(value + grace, most)
    resource.setrlimit(kind, (min(value, highest), highest))
