"""Execute one notebook and have the judge grade its exercises: read a task as bytes, return an outcome as bytes."""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

from nbformat import NotebookNode

import course
from course.course import Course, is_course
from course.data.cache import cache_folder
from course.grading.course_files.cells import (
    checks_in,
    exercises_in,
    notebook_bytes,
    read_notebook,
    topics_of,
)
from course.grading.execution import corpora_cache
from course.grading.execution.cell_end import KernelFault
from course.grading.execution.corpora_cache import GRADERS
from course.grading.execution.examination import Examination, origins
from course.grading.execution.fingerprints import fingerprint
from course.grading.execution.judged_outputs import record
from course.grading.execution.notebook_run import NotebookRun
from course.grading.execution.task import Outcome, Task
from course.grading.intake.untrusted import read_files, remove, write_files
from course.grading.kernels.environment import added, environment
from course.grading.kernels.protocol import Order
from course.grading.machine.faults import FULL_TEXTS, advice_for
from course.grading.sandbox.probe import Tier, required, strongest
from course.grading.sandbox.spec import Confines, distinct
from course.judge.verdict import Verdict
from course.notebook.unfinished import judged_early, unfinished
from course.problem import Problem
from course.syllabus import Topic

CLASS = (
    *("submitted", "attempts", "autograded", "feedback", "downloaded", "solutions", "source", "exercises", "reports"),
    *(".course", "gradebook.db", ".course-secret", "nbgrader_config.py", "grades.csv", "exports", "tests", ".git"),
)
"""Names in a course's folder that students must not read: nbgrader's usual ones and the course's."""


EXCHANGE = Path("/usr/local/share/nbgrader/exchange")
"""nbgrader's default folder for submissions on a shared machine."""


def class_paths() -> list[Path]:
    """Return the existing files and folders of a class that students must not read.

    They lie in the working folder and those above it, the course's folder, the cache and the exchange. The package
    with the hidden tests is one of them, and a kernel's supervisor cannot find it, because it imports another package.
    """
    here, package = Path.cwd(), Path(course.__file__).resolve().parent
    folders = distinct([here, *here.parents, *filter(is_course, package.parents)])
    parts = [Path(up, name) for up in folders for name in CLASS]
    kept = [cache_folder() / name for name in GRADERS]
    tests = [package] if (package / "hidden").is_dir() else []
    return [path for path in (*parts, *kept, EXCHANGE, *tests) if path.exists()]


LEFT_BEHIND = ("__pycache__", ".course", ".ipynb_checkpoints", ".ipython")
"""Names of files and folders that are dropped after an execution."""

_WRITTEN = 64 * 2**20


def execute(data: bytes) -> bytes:
    """Execute the task in `data` and return its outcome, with one retry after a fault of the machine."""
    task = Task.from_bytes(data)
    outcome = _execute_once(task)
    if outcome.fault:
        outcome = _execute_once(task)
    return outcome.to_bytes()


def _execute_once(task: Task) -> Outcome:
    started = time.monotonic()
    try:
        tier = required() if task.isolated else strongest()
    except Problem as problem:
        return Outcome(task.notebook, fault=str(problem))
    nb, course = read_notebook(task.notebook), task.course
    names = exercises_in(course, nb)
    if task.engine and task.engine != (here := fingerprint(topics_of(course, checks_in(course, nb).values()))):
        return Outcome(task.notebook, fault=f"this machine has the course in state {here}, and not in {task.engine}")
    outcome = Outcome(b"", isolation=tier.label, worker=f"{platform.node()}:{os.getpid()}")
    try:
        examination = Examination(nb, names, task)
    except (OSError, RuntimeError) as error:  # the machine has no more files, threads or disk
        return Outcome(task.notebook, fault=f"the judge could not listen: {advice_for(error) or error}")
    try:
        with closing(examination), private_folder(task.files) as private:
            room = shutil.disk_usage(private).free
            run = _run(nb, task, examination, private, tier)
            _demand_room(task, private, min(room, shutil.disk_usage(private).free), complaints_of(nb, examination))
            outcome = replace(outcome, why_cold=run.why_cold, files=_new_files(task, private / "work"))
            if examination.session is not None:
                outcome = replace(outcome, origins=origins(examination.session.weights, task, outcome.files))
            outcome = replace(outcome, unfinished=_unfinished(course, examination.verdicts, private / "work"))
            if (handle := run.handle) is not None:
                outcome = replace(outcome, memory=handle.memory, cpu=round(handle.cpu, 2))
    except KernelFault as error:
        outcome = replace(outcome, fault=str(error))
    except OSError as error:
        outcome = replace(outcome, fault=advice_for(error) or str(error))
    verdicts = tuple(
        judged_early(verdict, outcome.unfinished.get(name, "")) for name, verdict in examination.verdicts.items()
    )
    seconds = round(time.monotonic() - started, 3)
    outcome = replace(outcome, verdicts=verdicts, spent=examination.spent, seconds=seconds)
    record(course, nb, examination.names, outcome, of_the_course=course.topic_in(task.name) is not None)
    return replace(outcome, notebook=notebook_bytes(nb))


@contextmanager
def private_folder(files: dict[str, bytes]) -> Iterator[Path]:
    """Make a folder for one notebook, with its `files` in `work` and with a `home`, and remove it afterwards.

    Raises:
        KernelFault: the folder cannot be made.
    """
    with ExitStack() as stack:
        try:
            private = Path(tempfile.mkdtemp(prefix="course-"))
            stack.callback(remove, private)
            for name in ("work", "home"):
                (private / name).mkdir()
            write_files(files, private / "work")
        except (OSError, ValueError) as error:
            raise KernelFault(f"the notebook's folder could not be made: {advice_for(error) or error}") from error
        yield private


ROOM = 512 * 2**20
"""Bytes that must be free on the disk for a notebook without a disk limit."""


def _demand_room(task: Task, private: Path, room: int, complaints: str) -> None:
    """Report a full disk as a fault of the machine if it had less room than a notebook may use.

    An error in the notebook is not enough, because any code can raise one: the disk itself is measured.

    Raises:
        KernelFault: `complaints` mention a full disk or quota, and the measurement confirms it.
    """
    needed = task.limits.allowance.disk or ROOM
    no_space, no_quota = (text in complaints for text in FULL_TEXTS)
    if no_quota and _is_over_quota(private, needed):
        what = "your quota was used up on the disk"
    elif no_space and room < needed:
        what = "no space was left on the disk"
    else:
        return
    disk = next(place for place in private.parents if place.is_mount())
    raise KernelFault(f"{what} of {disk} while the notebook ran. Make room there, or set TMPDIR to another folder")


def _is_over_quota(folder: Path, size: int) -> bool:
    """Whether a quota refuses a file of that size. Only an attempt shows how much of a quota is left."""
    if not hasattr(os, "posix_fallocate"):  # macOS
        return False
    with tempfile.TemporaryFile(dir=folder) as file:
        try:
            os.posix_fallocate(file.fileno(), 0, size)
        except OSError as error:
            return error.errno == errno.EDQUOT
    return False


def complaints_of(nb: NotebookNode, examination: Examination) -> str:
    """Return the error messages of all cells and the messages of all verdicts, one a line."""
    outputs = (output for cell in nb.cells for output in cell.get("outputs", ()))
    errors = (f"{output.get('evalue')}" for output in outputs if output.output_type == "error")
    return "\n".join([*errors, *(verdict.message for verdict in examination.verdicts.values())])


def _run(nb: NotebookNode, task: Task, examination: Examination, private: Path, tier: Tier) -> NotebookRun:
    work, home, edition = private / "work", private / "home", _edition(task, nb)
    number = _told(task.seed)
    more = {"COURSE_NUMBER": str(number), **added(task.environment, task.gpu)}
    variables = environment(home, edition, examination.address, task.policy, more)
    run = NotebookRun(
        nb,
        limits=task.limits,
        order=Order(tier.name, _confines(task, private, edition, examination), str(work), variables, number),
        sockets=private,
        skip=task.skip,
        enter=examination.enter,
        leave=examination.leave,
        **task.client,
    )
    examination.interrupt = run.interrupt
    run.run()
    return run


def _told(seed: int) -> int:
    """Return the seed of a kernel's random numbers: the same at each grading, a hash that does not reveal `seed`."""
    return int.from_bytes(hashlib.sha256(f"kernel:{seed}".encode()).digest()[:4], "big") % 2**31


def _edition(task: Task, nb: NotebookNode) -> Path:
    """Return this process's edition of the course with the keys of the notebook's topics.

    If its folder was removed, it is assembled again.
    """
    course = task.course
    named = topics_of(course, checks_in(course, nb).values())
    topics = tuple(topic for topic in course.topics if topic in named or topic.folder == task.name)
    if not assembled(course.outline.public, topics).is_dir():
        assembled.cache_clear()
    return assembled(course.outline.public, topics)


@cache
def assembled(outline: str, topics: tuple[Topic, ...]) -> Path:
    """Return the edition that graded kernels import, with the keys of `topics`, assembled once a process.

    `outline` is the public part of an instructor's outline.
    """
    from course.grading.execution.kernel_edition import assemble

    return assemble(outline, topics)


def _confines(task: Task, private: Path, edition: Path, examination: Examination) -> Confines:
    """Return what the notebook's sandbox shows: the edition of the course, the corpora, the judge's socket."""
    judge = [] if examination.address is None else [Path(examination.address).parent]
    readable = [edition, *corpora_cache.for_students(), *judge]
    allowance = replace(task.limits.allowance, cpu=task.limits.notebook)
    return Confines(str(private), tuple(map(str, readable)), task.gpu, allowance, tuple(map(str, class_paths())))


def _unfinished(course: Course, verdicts: Mapping[str, Verdict], work: Path) -> dict[str, str]:
    """Return a sentence for each training task that lost points and whose training a time limit ended."""
    from course.notebook.checkpoint import Unfit, read_record

    said = {}
    lost = (name for name, verdict in verdicts.items() if verdict.kind != "passed")
    for name in (name for name in lost if course.item_of(name).budget):
        with suppress(Unfit):
            said[name] = unfinished(read_record(work / "checkpoints" / f"{name}.safetensors"))
    return {name: sentence for name, sentence in said.items() if sentence}


def _new_files(task: Task, work: Path) -> dict[str, bytes]:
    """Return the files that the student's code wrote or changed, at most `_WRITTEN` bytes of them."""
    present = read_files(work, ignore=LEFT_BEHIND, limit=_WRITTEN)
    return {path: content for path, content in present.items() if task.files.get(path) != content}
