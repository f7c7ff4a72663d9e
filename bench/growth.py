"""Grading 50 and 1,000 submissions: time a submission, and memory, which must not grow with the class.

The submissions are 06_self_attention's, solved and with weights; two workers. Set BENCH_SIZES for other sizes.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench._classes import make_class
from bench.grading import ALL, GRADE, run
from course.course import Course

SIZES = [int(size) for size in os.environ.get("BENCH_SIZES", "50 1000").split()]


def rows() -> Iterator[list[str]]:
    """A row for each size."""
    yield ["submissions", "seconds", "seconds each", "CPU s each", "MB early", "MB late", "peak MB"]
    topic = Course().find_topic("self_attention")
    for size in SIZES:
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            root = make_class(Path(folder, "class"), topic, size)
            measured = run(root, GRADE, topic.folder, "2", "checkpoint", "needed", str(ALL))
        each = measured.seconds / size
        memory = [f"{used / 2**20:.0f}" for used in (measured.early, measured.late, measured.memory)]
        yield [f"{size:,}", f"{measured.seconds:.0f}", f"{each:.2f}", f"{measured.cpu / size:.2f}", *memory]
