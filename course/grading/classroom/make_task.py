"""Make the task that executes a submission, reading the submission exactly as nbgrader's autograding does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from course.grading.classroom.classroom import Classroom

if TYPE_CHECKING:
    from nbgrader.converters import Autograde

    from course.grading.execution.task import Task


def make_task(classroom: Classroom, student: str, submission: Path) -> Task:
    """Return the task that nbgrader's own pass will make for `submission`, which may be an attempt in another folder.

    If the submission has only one notebook, its sanitised text is cached until it is saved, so that nbgrader need not
    make it again.
    """
    from course.grading.nbgrader_bridge.autograde_steps import JudgedExecute

    converter, file = _converter(classroom, student), f"{classroom.topic.folder}.ipynb"
    resources = converter.init_single_notebook_resources(str(classroom.submitted(student) / file))
    resources["nbgrader"]["released"] = classroom.released
    nb, resources = converter.exporter.from_filename(str(submission / file), resources)
    task = JudgedExecute(config=classroom.config).task(nb, resources, files_beside(classroom, submission))
    if converter.pre_convert_hook is None and len(list(submission.glob("*.ipynb"))) == 1:
        classroom.sanitized[student] = task.notebook.decode()
    return task


def _converter(classroom: Classroom, student: str) -> Autograde:
    """Return nbgrader's converter, set up for its sanitising pass and to return the notebook instead of its text."""
    from nbgrader.converters import Autograde

    from course.grading.nbgrader_bridge.sanitise import ReadMended

    converter = Autograde(coursedir=classroom.coursedir(student), config=classroom.config)
    converter.exporter = ReadMended(parent=converter, config=converter.config)
    converter._sanitizing = True
    converter._init_preprocessors()
    return converter


def files_beside(classroom: Classroom, submission: Path) -> dict[str, bytes]:
    """Return the files beside the notebook: the student's, overwritten by those that the instructor gives out."""
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
