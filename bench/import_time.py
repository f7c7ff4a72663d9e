"""What a notebook's first cell costs: seconds to import, best of five fresh interpreters.

The course promises less than 0.3 s beyond torch's own import.
"""

from __future__ import annotations

import subprocess
import sys

CODE = """
import time
started = time.perf_counter()
import torch
with_torch = time.perf_counter()
{code}
print(time.perf_counter() - with_torch, with_torch - started)
"""
LINES = (
    "import course",
    "from course import check, fit, hint, progress",
    "from course import check, data, fit, hint, progress, show",
)


def rows() -> list[tuple[str, ...]]:
    """One row a line of imports: seconds beyond torch, and torch's own."""
    measured = [("imported after torch", "seconds", "torch itself")]
    for line in LINES:
        beyond, torch = min(_seconds(line) for _ in range(5))
        measured.append((line, f"{beyond:.3f}", f"{torch:.2f}"))
    return measured


def _seconds(line: str) -> tuple[float, float]:
    command = [sys.executable, "-c", CODE.format(code=line)]
    beyond, torch = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return float(beyond), float(torch)
