"""Grades a class: looks at every submission, executes them in parallel, saves one after the other to the gradebook.

Executing takes seconds a submission and happens in worker processes, which hand back outcomes in files. Saving is
nbgrader's own autograding, one submission at a time in this process: it finds each outcome made, and makes the
missing ones itself.
"""

from __future__ import annotations

import glob
import logging
import multiprocessing
import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat

from course.grading.gradebook import Scores, clear_scores, read_scores
from course.grading.preflight import examine
from course.grading.problem import Problem
from course.grading.release import is_registered, load_config, register
from course.judge.verdict import Verdict
from course.syllabus import Topic

if TYPE_CHECKING:
    from nbgrader.converters import Autograde

    from course.grading.task import Task


@dataclass(frozen=True)
class Graded:
    """What became of one student's submission; `reason` says why it was not graded."""

    student: str
    scores: Scores | None = None
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    reason: str = ""

    @property
    def complete(self) -> bool:
        """Whether everything the machine should decide was decided."""
        return not self.reason and all(verdict.kind != "not-graded" for verdict in self.verdicts.values())


class Classroom:
    """The submissions of one topic, and nbgrader's converter for them.

    Args:
        root: the course's folder.
        topic: what was submitted.
        settings: traits of `JudgedExecute`, such as `policy` or `timeout`, over those of the configuration.
    """

    def __init__(self, root: Path, topic: Topic, settings: dict[str, Any] | None = None) -> None:
        self.root, self.topic = root, topic
        self.config: Any = load_config(root)
        self.config.CourseDirectory.assignment_id = topic.folder
        for name, value in (settings or {}).items():
            self.config.JudgedExecute[name] = value
        if not is_registered(root, topic, self.coursedir().db_url):
            register(root, topic, self.coursedir().db_url)

    def coursedir(self, student: str = "*") -> Any:
        """nbgrader's view of the course, for one student or all."""
        from nbgrader.coursedir import CourseDirectory

        coursedir = CourseDirectory(config=self.config)
        coursedir.student_id = glob.escape(student) if student != "*" else student
        return coursedir

    def submissions(self) -> dict[str, Path]:
        """The folders handed in, by student."""
        coursedir = self.coursedir()
        step, folder = coursedir.submitted_directory, self.topic.folder
        pattern = coursedir.format_path(step, "(?P<student>.*)", folder, escape=True)
        found = sorted(glob.glob(coursedir.format_path(step, "*", folder)))  # noqa: PTH207, as nbgrader does
        matches = ((re.fullmatch(pattern, path), Path(path)) for path in found)
        return {match["student"]: path for match, path in matches if match}

    def autograded(self, student: str) -> Path:
        """The student's folder of graded work."""
        coursedir = self.coursedir()
        return Path(coursedir.format_path(coursedir.autograded_directory, student, self.topic.folder))

    def is_done(self, student: str, submission: Path) -> bool:
        """Whether the submission was graded before and has not been handed in anew since."""
        coursedir, graded = self.coursedir(), self.autograded(student)
        if not (graded / f"{self.topic.folder}.ipynb").is_file():
            return False
        new, old = (coursedir.get_existing_timestamp(str(folder)) for folder in (submission, graded))
        return not (new and old and new > old)

    def task(self, student: str, submission: Path) -> Task:
        """What executing the submission takes: exactly what nbgrader's own pass will ask for."""
        from course.grading.preprocessors import JudgedExecute

        converter = self._converter(student)
        path = str(submission / f"{self.topic.folder}.ipynb")
        resources = converter.init_single_notebook_resources(path)
        text, resources = converter.exporter.from_filename(path, resources=resources)
        nb = nbformat.reads(text, as_version=4)
        return JudgedExecute(config=self.config).task(nb, resources, self._files(converter, submission))

    def save(self, student: str, results: Path) -> str:
        """nbgrader's autograding of one submission; returns why it failed, or nothing."""
        from nbgrader.converters import Autograde
        from nbgrader.converters.base import NbGraderException

        config = self.config.copy()
        config.JudgedExecute.results = str(results)
        with quiet() as said:
            converter = Autograde(coursedir=self.coursedir(student), config=config)
            converter.force = True
            try:
                converter.start()
            except (NbGraderException, SystemExit) as error:
                return _reason(said, error)
        return ""

    def refuse(self, student: str) -> None:
        """Take back an earlier grading of a submission that can no longer be graded."""
        clear_scores(self.coursedir().db_url, self.topic.folder, student, [self.topic.folder])
        folder = self.autograded(student)
        for path in (folder, *folder.rglob("*")):
            if path.is_dir():
                path.chmod(0o755)
        shutil.rmtree(folder, ignore_errors=True)

    def result(self, student: str, notes: Sequence[str] = ()) -> Graded:
        """What the gradebook and the graded notebook say of a student."""
        from course.grading.execution import METADATA

        name = self.topic.folder
        scores = read_scores(self.coursedir().db_url, name, student, name)
        nb = nbformat.read(self.autograded(student) / f"{name}.ipynb", as_version=4)
        kept = nb.metadata.get(METADATA, {})
        verdicts = {key: Verdict.from_dict(dict(value)) for key, value in kept.get("verdicts", {}).items()}
        return Graded(student, scores, verdicts, kept.get("seconds", 0.0), tuple(notes))

    def _converter(self, student: str) -> Autograde:
        """nbgrader's converter, ready for its sanitising pass."""
        from nbconvert.exporters import NotebookExporter
        from nbgrader.converters import Autograde

        converter = Autograde(coursedir=self.coursedir(student), config=self.config)
        converter.exporter = NotebookExporter(parent=converter, config=converter.config)
        converter._sanitizing = True
        converter._init_preprocessors()
        return converter

    def _files(self, converter: Autograde, submission: Path) -> dict[str, bytes]:
        """The files beside the notebook: the student's, and over them those the instructor gives out."""
        from nbgrader.utils import find_all_files

        coursedir = converter.coursedir
        given = Path(coursedir.format_path(coursedir.source_directory, ".", self.topic.folder))
        kept = {given / name for name in converter.exclude_overwriting.get(self.topic.folder, [])}
        files: dict[str, bytes] = {}
        for folder in (submission, given):
            for name in find_all_files(str(folder), [*coursedir.ignore, "*.ipynb"]):
                path = Path(name)
                if path not in kept:
                    files[path.relative_to(folder).as_posix()] = path.read_bytes()
        return files


def grade_class(
    classroom: Classroom,
    *,
    students: Sequence[str] = (),
    workers: int | None = None,
    force: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
) -> list[Graded]:
    """Grade the submissions of a class, or of the `students` named, and return what became of each.

    Those graded before are left as they are unless `force` is given or they were handed in anew.

    Args:
        workers: processes that execute; by default as many as there are cores.
        progress: called with how many are done, how many there are, and whose work that was.

    Raises:
        Problem: nobody, or not one of those named, handed anything in.
    """
    submissions = classroom.submissions()
    missing = [student for student in students if student not in submissions]
    if missing or not submissions:
        raise Problem(f"there is no submission of {classroom.topic.folder} by {', '.join(missing) or 'anybody'}")
    chosen = {student: submissions[student] for student in students or submissions}
    notes, results = _look(classroom, chosen)
    todo = {s: chosen[s] for s in notes if force or not classroom.is_done(s, chosen[s])}
    with tempfile.TemporaryDirectory(prefix="course-results-") as folder:
        workers = max(1, min(workers or os.cpu_count() or 1, len(todo)))
        with _pool(workers) as pool:
            for done, student in enumerate(_execute_all(classroom, todo, Path(folder), pool, 2 * workers), 1):
                if progress:
                    progress(done, len(todo), student)
        for student in notes:
            reason = classroom.save(student, Path(folder)) if student in todo else ""
            if reason:
                classroom.refuse(student)
            results[student] = Graded(student, reason=reason) if reason else classroom.result(student, notes[student])
    return [results[student] for student in sorted(results)]


def fill(task: bytes, path: str) -> None:
    """Execute a task and leave its outcome in the file `path`, whole or not at all; runs in a worker process."""
    from course.grading.execution import execute

    outcome = execute(task)
    temporary = Path(f"{path}.{os.getpid()}")
    temporary.write_bytes(outcome)
    temporary.replace(path)


def _look(classroom: Classroom, chosen: dict[str, Path]) -> tuple[dict[str, list[str]], dict[str, Graded]]:
    """Notes on the submissions that can be graded, and what became of those that cannot."""
    notes: dict[str, list[str]] = {}
    refused: dict[str, Graded] = {}
    for student, folder in chosen.items():
        try:
            notes[student] = examine(folder, classroom.topic.folder)
        except Problem as problem:
            classroom.refuse(student)
            refused[student] = Graded(student, reason=str(problem))
    return notes, refused


def _execute_all(
    classroom: Classroom, todo: dict[str, Path], folder: Path, pool: Executor, ahead: int
) -> Iterator[str]:
    """Have the pool execute the submissions, never more than `ahead` at a time; yields students as they are done.

    What goes wrong here, nbgrader's own pass meets again and reports.
    """
    running: dict[Future, str] = {}
    for student, submission in todo.items():
        with quiet():
            try:
                task = classroom.task(student, submission)
                job = pool.submit(fill, task.to_bytes(), str(folder / f"{task.digest()}.zip"))
            except Exception:
                yield student
                continue
        running[job] = student
        while len(running) >= ahead:
            yield from _finished(running)
    while running:
        yield from _finished(running)


def _finished(running: dict[Future, str]) -> list[str]:
    done, _ = wait(running, return_when=FIRST_COMPLETED)
    return [running.pop(job) for job in done]


@contextmanager
def _pool(workers: int) -> Iterator[Executor]:
    """Worker processes, started afresh so that nothing of the grader's memory is in them; Ctrl-C ends them at once."""
    pool = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def quiet() -> Iterator[list[str]]:
    """Keep nbgrader's log off the screen and hand over the messages of its errors."""
    from traitlets.log import get_logger

    said: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(record.getMessage())

    logger, handler = logging.getLogger(get_logger().name), Keep(logging.ERROR)
    before = logger.propagate, list(logger.handlers)
    logger.handlers, logger.propagate = [handler], False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SQLAlchemy's, about how nbgrader fills its tables
            yield said
    finally:
        logger.propagate, logger.handlers = before


def _reason(said: Sequence[str], error: BaseException) -> str:
    """What nbgrader's log says happened: the last line of its traceback, without the exception's name."""
    lines = [message.strip().splitlines()[-1] for message in said if message.lstrip().startswith("Traceback")]
    reason = (lines or list(said) or [str(error)])[0].strip()
    return re.sub(r"^[\w.]*(Error|Exception|Problem): ", "", reason)
