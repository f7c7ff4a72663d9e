"""Make the task that executes a submission, read exactly as nbgrader's own autograding reads it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from course.grading.classroom.classroom import Classroom

if TYPE_CHECKING:
    from nbgrader.converters import Autograde

    from course.grading.execution.task import Task


def make_task(classroom: Classroom, student: str, submission: Path) -> Task:
    """What executing the submission takes: exactly what nbgrader's own pass will ask for; an attempt may lie elsewhere.

    A sanitised notebook that is the only one is kept until the student is done with: nbgrader need not make it
    twice.
    """
    from course.grading.nbgrader_bridge.judged_execute import JudgedExecute

    converter, file = _converter(classroom, student), f"{classroom.topic.folder}.ipynb"
    resources = converter.init_single_notebook_resources(str(classroom.submitted(student) / file))
    resources["nbgrader"]["released"] = classroom.released
    nb, resources = converter.exporter.from_filename(str(submission / file), resources)
    task = JudgedExecute(config=classroom.config).task(nb, resources, files_beside(classroom, submission))
    if converter.pre_convert_hook is None and len(list(submission.glob("*.ipynb"))) == 1:
        classroom.sanitized[student] = task.notebook.decode()
    return task


def _converter(classroom: Classroom, student: str) -> Autograde:
    """nbgrader's converter, ready for its sanitising pass, of which it hands over the notebook and not its text."""
    from nbgrader.converters import Autograde

    from course.grading.nbgrader_bridge.sanitise import ReadMended

    converter = Autograde(coursedir=classroom.coursedir(student), config=classroom.config)
    converter.exporter = ReadMended(parent=converter, config=converter.config)
    converter._sanitizing = True
    converter._init_preprocessors()
    return converter


def files_beside(classroom: Classroom, submission: Path) -> dict[str, bytes]:
    """The files beside the notebook: the student's, and over them those the instructor gives out."""
    from nbgrader.utils import find_all_files

    coursedir = classroom.coursedir()
    given = Path(coursedir.format_path(coursedir.source_directory, ".", classroom.topic.folder))
    kept = {given / name for name in classroom.not_overwritten}
    files: dict[str, bytes] = {}
    for folder in (submission, given):
        for name in find_all_files(str(folder), [*coursedir.ignore, "*.ipynb"]):
            path = Path(name)
            if path not in kept:
                files[path.relative_to(folder).as_posix()] = path.read_bytes()
    return files
