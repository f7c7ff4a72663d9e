"""Memory: how much there is, which the doctor tells and which bounds the number of workers, and what stays in it."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
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


@contextmanager
def uncollected() -> Iterator[None]:
    """What a program imports meanwhile stays: the garbage collector looks neither while it comes nor ever again.

    To look through it again and again takes a tenth of the time of importing, and a fork copies what it looks at.
    """
    gc.disable()
    try:
        yield
        _keep_for_good()
    finally:
        gc.enable()


@cache
def _keep_for_good() -> None:
    """Once a process: another time, garbage would stay, too."""
    gc.freeze()
