"""How much memory there is: what the doctor tells, and what bounds the number of workers."""

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
