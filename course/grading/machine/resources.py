"""Read how much memory and how many cores this process may use, for `course doctor` and the number of workers."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path


def memory_at_hand() -> float:
    """Return the bytes of memory for this process: the machine's, or the limit of a container or of JupyterHub."""
    sizes = []
    try:
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        if find_spec("psutil") is not None:
            import psutil

            sizes.append(psutil.virtual_memory().total)
    for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            text = Path(name).read_text().strip()
        except OSError:
            continue
        sizes += [int(text)] if text.isdigit() else []
    sizes += [int(text) for text in [os.environ.get("MEM_LIMIT", "")] if text.isdigit()]  # JupyterHub sets it
    return float(min(sizes, default=0))


CONTAINER = Path("/sys/fs/cgroup")
"""The folder in which Linux gives a container's limits."""


def cores_at_hand() -> int:
    """Return the number of cores, or fewer if this process may use only some of them or a share of their time.

    More workers than cores would slow each other down, and a notebook's time limit counts wall time.
    """
    cores = [os.cpu_count() or 1]
    if hasattr(os, "sched_getaffinity"):
        cores.append(len(os.sched_getaffinity(0)))
    return max(1, min([*cores, *_shares()]))


def _shares() -> list[int]:
    """Return the container's limit of processor time in whole cores (time divided by period), if there is one."""
    for names in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        try:
            time, period = " ".join((CONTAINER / name).read_text(encoding="utf-8") for name in names).split()
        except (OSError, ValueError):
            continue
        if time.isdigit() and period.isdigit() and int(period):  # else "max", or -1: no limit
            return [int(time) // int(period)]
    return []
