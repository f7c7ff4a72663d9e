"""Pages of feedback on a graded class: nbgrader as it comes against this course."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat

from bench._classes import STOCK
from bench._measure import Measured, measure
from course.syllabus import Topic

WRITE = """
import sys
from pathlib import Path
from course.grading.classroom.write_feedback import write_all
if __name__ == "__main__":
    _, topic, workers = sys.argv
    sys.exit(bool(write_all(Path.cwd(), topic, workers=int(workers))[1]))
"""

Run = Callable[..., Measured]
"""Runs code as a program in a course's folder, with arguments."""


def pages(root: Path, topic: Topic, run: Run) -> Iterator[tuple[str, Measured]]:
    """Every way to write the pages of the class in `root`, measured; the first is nbgrader's own."""
    _differ(root)
    plain = shutil.copytree(root, root.with_name(f"{root.name}-feedback"))
    (plain / "nbgrader_config.py").write_text(STOCK)
    command = [sys.executable, "-m", "nbgrader", "generate_feedback", topic.folder]
    yield "nbgrader as it comes", measure(command, plain, USER="grader")
    yield "nbgrader, the course's pages", measure(command, root, USER="grader")
    for workers in (1, 2):
        yield f"course, {workers} process{'es' * (workers > 1)}", run(root, WRITE, topic.folder, str(workers))


def _differ(root: Path) -> None:
    """Have every student's answers be code that nobody else wrote."""
    for number, path in enumerate(sorted(root.glob("autograded/*/*/*.ipynb"))):
        nb = nbformat.read(path, as_version=4)
        for cell in nb.cells:
            if cell.metadata.get("nbgrader", {}).get("solution"):
                cell.source += f"\n# by student {number}"
        path.chmod(0o644)
        nbformat.write(nb, path)
