"""Memory: how much there is, which the doctor tells and which bounds the number of workers, and what stays in it."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path


def memory_at_hand() -> float:
    """Bytes of memory this process may have: the machine's, or less where a container or a hub says so."""
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
    sizes += [int(text) for text in [os.environ.get("MEM_LIMIT", "")] if text.isdigit()]  # as JupyterHub sets it
    return float(min(sizes, default=0))


CONTAINER = Path("/sys/fs/cgroup")
"""Where Linux tells a container its limits."""


def cores_at_hand() -> int:
    """The machine's cores, or fewer where this process may use some of them or a share of their time alone.

    More workers than that would take each other's time, and a notebook's seconds pass on the clock.
    """
    cores = [os.cpu_count() or 1]
    if hasattr(os, "sched_getaffinity"):
        cores.append(len(os.sched_getaffinity(0)))
    return max(1, min([*cores, *_shares()]))


def _shares() -> list[int]:
    """What the container's limit of processor time comes to in whole cores, if it has one: time by period."""
    for names in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        try:
            time, period = " ".join((CONTAINER / name).read_text(encoding="utf-8") for name in names).split()
        except (OSError, ValueError):
            continue
        if time.isdigit() and period.isdigit() and int(period):  # else "max", or -1: no limit
            return [int(time) // int(period)]
    return []
