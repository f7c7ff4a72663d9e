"""Grading a class and writing its feedback: nbgrader as it comes against this course, submissions a minute.

The same submissions, solved and with their weights, on the same machine in one run. nbgrader runs every cell; this
course leaves out the cells nothing graded depends on, and is measured a second time with all of them. `bare` is the
students' own code: the needed cells, and the calls of their functions that the hidden cases ask for, one notebook after
the other in one interpreter that has everything imported, judging nothing: no grader can be faster. `retrain` trains
anew instead of loading the weights. `saving alone` examines and saves them again from the results that are kept, while
somebody else writes to the gradebook all the time. `feedback` are the pages of the same class, in which each student's
answers are their own. Set BENCH_STUDENTS for other sizes than 24, and BENCH_CLASSES for the sizes of classes (50) that
are graded to see what a submission takes.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from bench._classes import make_class
from bench._feedback import pages
from bench._measure import Measured, measure
from course.course import Course
from course.syllabus import Topic

TOPICS = ("06_self_attention", "03_rnn")
STUDENTS = int(os.environ.get("BENCH_STUDENTS", "24"))
ALL = os.cpu_count() or 1
CLASSES = tuple(map(int, os.environ.get("BENCH_CLASSES", "50").split()))
RETRAINED = max(2, STUDENTS // 6)
REPOSITORY = Path(__file__).parents[1]

GRADE = """
import os, sys
from pathlib import Path
from course.course import course_in
from course.grading.classroom.grade_command import grade_topic
if __name__ == "__main__":
    _, topic, workers, policy, demonstrations, cores = sys.argv
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(cores)])
    settings = {"policy": policy, "demonstrations": demonstrations == "all", "timeout": 300}
    course = course_in(Path.cwd())
    sys.exit(grade_topic(course, course.find_topic(topic), workers=int(workers), settings=settings))
"""
SAVE = """
import shutil, sys, threading, time
from pathlib import Path
from nbgrader.api import Gradebook
from course.course import course_in
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.grade_class import grade_class
if __name__ == "__main__":
    course, over = course_in(Path.cwd()), threading.Event()
    topic = course.find_topic(sys.argv[1])
    room = Classroom(course, topic, {"timeout": 300})
    first = min(room.handed_in.submissions())
    shutil.rmtree(f"autograded/{first}")
    grade_class(room, workers=1, students=[first])  # with which all is imported
    shutil.rmtree("autograded")
    waits = []

    def write():
        while not over.is_set():
            started = time.monotonic()
            with Gradebook(room.coursedir().db_url) as gradebook:
                gradebook.update_or_create_student("somebody", first_name=str(started))
            waits.append(time.monotonic() - started)
            over.wait(0.01)

    other = threading.Thread(target=write)
    started = time.monotonic(), time.thread_time()
    other.start()
    grade_class(room, workers=1)
    spent = time.thread_time() - started[1]
    over.set()
    other.join()
    Path("spent.txt").write_text(f"{spent} {max(waits)}")
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
from course.course import Course
from course.hidden import find
import matplotlib
warm_up()
matplotlib.use("agg")
os.environ["NBGRADER_EXECUTION"] = "autograde"

@cache
def scripts(name):
    started = time.process_time()
    exercise = find(Course(), name)
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
    yield ["", "submissions/min", "against stock", "CPU s each", "beyond bare", "peak MB"]
    for name in TOPICS:
        topic = Course().find_topic(name)
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            yield from _topic(topic, Path(folder))


def _topic(topic: Topic, folder: Path) -> Iterator[list[str]]:
    def ours(
        label: str, workers: int, size: int, policy: str = "checkpoint", cells: str = "needed", cores: int = ALL
    ) -> list[str]:
        root = make_class(folder / label.replace(" ", "-"), topic, size)
        measured = run(root, GRADE, topic.folder, str(workers), policy, cells, str(cores))
        return _row(topic, label, size, measured, stock, bare)

    root = make_class(folder / "stock", topic, STUDENTS, stock=True)
    stock = measure([sys.executable, "-m", "nbgrader", "autograde", topic.folder], root, USER="grader")
    bare = _spent(make_class(folder / "bare", topic, STUDENTS), BARE)
    yield _row(topic, "nbgrader as it comes", STUDENTS, stock, stock, bare)
    yield ours("all cells, 2 workers", 2, STUDENTS, cells="all")
    yield ours("1 worker, 1 core", 1, STUDENTS, cores=1)
    yield ours("1 worker", 1, STUDENTS)
    yield ours("2 workers", 2, STUDENTS)
    yield ours("2 workers, retrain", 2, RETRAINED, policy="retrain")
    for size in CLASSES:
        yield ours(f"a class of {size}, 2 workers", 2, size)
    root = folder / "2-workers"
    saving = _spent(root, SAVE, topic.folder)
    yield _row(topic, "saving alone", STUDENTS, saving, stock, bare)
    if not saving.status:
        yield [f"{topic.folder}  longest wait of another writer, s", f"{_figures(root)[1]:.2f}", "", "", "", ""]
    yield _row(topic, "bare, 1 interpreter", STUDENTS, bare, stock, bare)
    yield from _feedback(topic, root)


def _feedback(topic: Topic, root: Path) -> Iterator[list[str]]:
    written = list(pages(root, topic, run))
    stock = written[0][1]
    for label, measured in written:
        row = _row(topic, f"feedback: {label}", STUDENTS, measured, stock, measured)
        yield [*row[:4], "", row[5]]


def _spent(root: Path, code: str, *arguments: str) -> Measured:
    """What a program says that it spent itself, without its beginning."""
    measured = run(root, code, *arguments)
    return measured if measured.status else replace(measured, seconds=_figures(root)[0], cpu=_figures(root)[0])


def _figures(root: Path) -> list[float]:
    return [float(figure) for figure in (root / "spent.txt").read_text().split()]


def run(root: Path, code: str, *arguments: str, repository: Path = REPOSITORY) -> Measured:
    """Run `code` as a program in a course's folder, with a repository's packages."""
    (root / "measured.py").write_text(code)
    command = [sys.executable, "measured.py", *arguments]
    return measure(command, root, PYTHONPATH=str(repository), OMP_NUM_THREADS="1")


def _row(topic: Topic, label: str, size: int, measured: Measured, stock: Measured, bare: Measured) -> list[str]:
    per_minute = 60 * size / measured.seconds
    ratio = per_minute / (60 * STUDENTS / stock.seconds)
    failed = " (failed)" if measured.status else ""
    each, peak = measured.cpu / size, measured.memory / 2**20
    beyond = each - bare.cpu / STUDENTS
    name = f"{topic.folder}  {label}{failed}"
    return [name, f"{per_minute:.1f}", f"{ratio:.1f}x", f"{each:.2f}", f"{beyond:.2f}", f"{peak:.0f}"]
