"""How many processor cores there are for this process: what bounds the number of workers, beside memory."""

from __future__ import annotations

import os
from pathlib import Path

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
