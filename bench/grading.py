"""Grading a class: nbgrader as it comes against this course, submissions a minute.

The same submissions, solved and with their weights, on the same machine in one run. nbgrader runs every cell; this
course leaves out the cells nothing graded depends on, and is measured a second time with all of them. `bare` is the
students' own code: the needed cells, and the calls of their functions that the hidden cases ask for, one notebook after
the other in one interpreter that has everything imported, judging nothing: no grader can be faster. `retrain` trains
anew instead of loading the weights. Set BENCH_STUDENTS for other sizes than 24.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from bench._classes import make_class
from bench._measure import Measured, measure
from course.syllabus import Topic, find_topic

TOPICS = ("06_self_attention", "03_rnn")
STUDENTS = int(os.environ.get("BENCH_STUDENTS", "24"))
ALL = os.cpu_count() or 1
RETRAINED = max(2, STUDENTS // 6)
REPOSITORY = Path(__file__).parents[1]

GRADE = """
import os, sys
from pathlib import Path
from course.grading.classroom.grade_command import grade_topic
from course.syllabus import find_topic
if __name__ == "__main__":
    _, topic, workers, policy, demonstrations, cores = sys.argv
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(cores)])
    settings = {"policy": policy, "demonstrations": demonstrations == "all", "timeout": 300}
    sys.exit(grade_topic(Path.cwd(), find_topic(topic), workers=int(workers), settings=settings))
"""
BARE = """
import contextlib, io, os, time
from functools import cache
from pathlib import Path
import nbformat
from course.exercise.runner import run
from course.grading.execution.skippable_cells import skippable
from course.grading.nbgrader_bridge.judged_execute import plain_sources
from course.grading.kernels.zygote import warm_up
from course.hidden import find
import matplotlib
warm_up()
matplotlib.use("agg")
os.environ["NBGRADER_EXECUTION"] = "autograde"

@cache
def scripts(name):
    started = time.process_time()
    exercise = find(name)
    found = [case.script(exercise.forbidden) for case in exercise.cases(7)]
    drawing.append(time.process_time() - started)
    return found

def check(name, answer):
    for script in scripts(name):
        run(script, answer)

drawing, spent = [], 0.0
for path in sorted(Path.cwd().glob("submitted/*/*/*.ipynb")):
    nb = nbformat.read(path, as_version=4)
    given = next(Path.cwd().glob("solutions/*/*.ipynb"))
    skip = skippable(nb, plain_sources(given, 0))
    os.chdir(path.parent)
    names = {"__name__": "__main__", "check": check}
    started = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        for index, cell in enumerate(nb.cells):
            if cell.cell_type == "code" and index not in skip:
                exec(compile(cell.source.replace("check,", ""), "cell", "exec"), names)
    spent += time.process_time() - started
    os.chdir(path.parents[3])
Path("spent.txt").write_text(str(spent - sum(drawing)))
"""


def rows() -> Iterator[list[str]]:
    """A row for each way of grading, topic by topic."""
    yield ["", "submissions/min", "against stock", "CPU s each", "peak MB"]
    for name in TOPICS:
        topic = find_topic(name)
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            yield from _topic(topic, Path(folder))


def _topic(topic: Topic, folder: Path) -> Iterator[list[str]]:
    def ours(
        label: str, workers: int, size: int, policy: str = "checkpoint", cells: str = "needed", cores: int = ALL
    ) -> list[str]:
        root = make_class(folder / label.replace(" ", "-"), topic, size)
        return _row(topic, label, size, run(root, GRADE, topic.folder, str(workers), policy, cells, str(cores)), stock)

    root = make_class(folder / "stock", topic, STUDENTS, stock=True)
    stock = measure([sys.executable, "-m", "nbgrader", "autograde", topic.folder], root, USER="grader")
    yield _row(topic, "nbgrader as it comes", STUDENTS, stock, stock)
    yield ours("all cells, 2 workers", 2, STUDENTS, cells="all")
    yield ours("1 worker, 1 core", 1, STUDENTS, cores=1)
    yield ours("1 worker", 1, STUDENTS)
    yield ours("2 workers", 2, STUDENTS)
    yield ours("2 workers, retrain", 2, RETRAINED, policy="retrain")
    root = make_class(folder / "bare", topic, STUDENTS)
    bare = run(root, BARE)
    if not bare.status:
        spent = float((root / "spent.txt").read_text())
        bare = replace(bare, seconds=spent, cpu=spent)
    yield _row(topic, "bare, 1 interpreter", STUDENTS, bare, stock)


def run(root: Path, code: str, *arguments: str, repository: Path = REPOSITORY) -> Measured:
    """Run `code` as a program in a course's folder, with a repository's packages."""
    (root / "measured.py").write_text(code)
    command = [sys.executable, "measured.py", *arguments]
    return measure(command, root, PYTHONPATH=str(repository), OMP_NUM_THREADS="1")


def _row(topic: Topic, label: str, size: int, measured: Measured, stock: Measured) -> list[str]:
    per_minute = 60 * size / measured.seconds
    ratio = per_minute / (60 * STUDENTS / stock.seconds)
    failed = " (failed)" if measured.status else ""
    each, peak = measured.cpu / size, measured.memory / 2**20
    name = f"{topic.folder}  {label}{failed}"
    return [name, f"{per_minute:.1f}", f"{ratio:.1f}x", f"{each:.2f}", f"{peak:.0f}"]
