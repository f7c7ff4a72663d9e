"""Pages of feedback on a class: nbgrader as it comes against this course, pages a minute.

All write the pages of the same graded notebooks, in which each student's answers are their own. Set BENCH_STUDENTS for
other sizes than 24.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbformat

from bench._classes import STOCK, make_class
from bench._measure import Measured, measure
from bench.grading import GRADE, STUDENTS, run
from course.syllabus import find_topic

TOPIC = "06_self_attention"

WRITE = """
import sys
from pathlib import Path
from course.grading.classroom.write_feedback import write_all
if __name__ == "__main__":
    _, topic, workers = sys.argv
    sys.exit(bool(write_all(Path.cwd(), topic, workers=int(workers))[1]))
"""


def rows() -> Iterator[list[str]]:
    """A row for each way of writing the pages."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        root = make_class(Path(folder, "ours"), find_topic(TOPIC), STUDENTS)
        run(root, GRADE, TOPIC, "2", "checkpoint", "needed", "2")
        differ(root)
        plain = shutil.copytree(root, Path(folder, "stock"))
        (plain / "nbgrader_config.py").write_text(STOCK)
        yield ["", "pages/min", "against stock", "CPU s each", "peak MB"]
        command = [sys.executable, "-m", "nbgrader", "generate_feedback", TOPIC]
        stock = measure(command, plain, USER="grader")
        yield _row("nbgrader as it comes", stock, stock)
        yield _row("nbgrader, the course's pages", measure(command, root, USER="grader"), stock)
        for workers in (1, 2):
            label = f"course, {workers} process{'es' * (workers > 1)}"
            yield _row(label, run(root, WRITE, TOPIC, str(workers)), stock)


def differ(root: Path) -> None:
    """Have every student's answers be code that nobody else wrote."""
    for number, path in enumerate(sorted(root.glob("autograded/*/*/*.ipynb"))):
        nb = nbformat.read(path, as_version=4)
        for cell in nb.cells:
            if cell.metadata.get("nbgrader", {}).get("solution"):
                cell.source += f"\n# by student {number}"
        path.chmod(0o644)
        nbformat.write(nb, path)


def _row(label: str, measured: Measured, stock: Measured) -> list[str]:
    failed = " (failed)" if measured.status else ""
    per_minute, each = 60 * STUDENTS / measured.seconds, measured.cpu / STUDENTS
    return [
        f"{TOPIC}  {label}{failed}",
        f"{per_minute:.0f}",
        f"{stock.seconds / measured.seconds:.1f}x",
        f"{each:.2f}",
        f"{measured.memory / 2**20:.0f}",
    ]
