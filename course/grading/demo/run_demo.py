"""`course demo`: grade a made-up class from end to end, and compare the verdicts with the expected ones."""

from __future__ import annotations

import shutil
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import nbformat

from course.course import Course
from course.grading.authoring.source import refresh
from course.grading.cells import notebook_bytes
from course.grading.classroom import summary
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.grade_class import grade_class
from course.grading.classroom.graded import Graded
from course.grading.classroom.progress_bars import show_progress
from course.grading.classroom.write_feedback import write_all
from course.grading.course_folder import demand_course, notebook_path, source_path
from course.grading.demo.made_up_students import MadeUpStudent, made_up_students, text_of
from course.grading.execution.execute import execute
from course.grading.execution.task import Limits, Outcome, Task
from course.grading.execution.time_limits import own_limits
from course.grading.problem import Problem
from course.grading.release.make_release import render
from course.syllabus import Topic

PATIENCE = {"timeout": 25, "call_timeout": 10.0}
"""Shorter time limits than a class gets, so that the endless loop in the demo stops sooner."""


def run(course: Course, topic: Topic, folder: Path | None = None, workers: int | None = None) -> int:
    """Make a class for `topic` in `folder`, grade it, and print the results; returns 0 if all are as expected."""
    started = time.monotonic()
    course = make_course(course, topic, folder)
    root = course.root
    print(f"A class for {topic.folder} in {root}")
    print("  solving the notebook once, training included ...", flush=True)
    solution = nbformat.read(notebook_path(root, topic), as_version=4)
    checkpoints = train(course, solution, topic)
    group = make_class(course, topic, solution, checkpoints)
    print(f"  grading {len(group)} submissions ...\n", flush=True)
    with show_progress(topic.folder) as progress:
        graded = grade_class(Classroom(course, topic, dict(PATIENCE)), workers=workers, progress=progress)
    summary.show(topic, graded)
    page = write_feedback(root, topic, workers)
    surprises = compare(group, graded)
    print(f"\nFeedback: {page.parent.parent.parent}\n  for example {page}")
    print(f"\n{len(group)} submissions in {time.monotonic() - started:.0f} s, ", end="")
    print("every verdict as expected" if not surprises else "NOT as expected:")
    print("".join(f"  {surprise}\n" for surprise in surprises), end="")
    return int(bool(surprises))


def compare(group: list[MadeUpStudent], graded: list[Graded]) -> list[str]:
    """Return a line for each verdict that is not the expected one."""
    by_student = {work.student: work for work in graded}
    surprises: list[str] = []
    for pupil in group:
        graded_work = by_student.get(pupil.name)
        surprises += pupil.surprises(graded_work) if graded_work else [f"{pupil.name} was passed over"]
    return surprises


def write_feedback(root: Path, topic: Topic, workers: int | None = None) -> Path:
    """Write nbgrader's feedback for all graded work; returns the page with the most hints."""
    pages, _ = write_all(root, topic.folder, workers=workers)
    return max(pages.values(), key=lambda page: page.read_text(encoding="utf-8").count("Look here"))


def make_course(course: Course, topic: Topic, folder: Path | None) -> Course:
    """Return the course in another folder, which has only this topic's source and the configuration."""
    if folder is not None and folder.exists() and any(folder.iterdir()):
        raise Problem(f"{folder} is not empty. Name an empty folder, or one that does not exist yet")
    source = source_path(demand_course(course), topic)
    if not source.is_file():
        raise Problem(f"there is no {source}")
    root = (folder or Path(tempfile.mkdtemp(prefix="course-demo-"))).resolve()
    (root / "solutions").mkdir(parents=True)
    source_path(root, topic).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, source_path(root, topic))
    shutil.copy(course.root / "nbgrader_config.py", root)
    made = replace(course, root=root)
    refresh(made, (topic,))
    return made


def train(course: Course, solution: nbformat.NotebookNode, topic: Topic) -> dict[str, bytes]:
    """Execute the solved notebook with training, and return the checkpoints by relative path."""
    limits = own_limits(course, solution, Limits(120.0))
    about = course.outline.public, str(course.root)
    task = Task(
        topic.folder, notebook_bytes(solution), policy="retrain", limits=limits, outline=about[0], root=about[1]
    )
    outcome = Outcome.from_bytes(execute(task.to_bytes()))
    if outcome.fault:
        raise Problem(outcome.fault)
    return {path: content for path, content in outcome.files.items() if path.startswith("checkpoints/")}


def make_class(
    course: Course, topic: Topic, solution: nbformat.NotebookNode, checkpoints: dict[str, bytes]
) -> list[MadeUpStudent]:
    """Release the notebook, and write the submissions of all made-up students."""
    from course.hidden import find

    root = course.root
    release = nbformat.read(render(course, topic, root / "assignments"), as_version=4)
    group = made_up_students(topic, solution, release, partial(find, course))
    for pupil in group:
        folder = root / "submitted" / pupil.name / topic.folder
        folder.mkdir(parents=True)
        (folder / (pupil.file or f"{topic.folder}.ipynb")).write_text(text_of(pupil.notebook), encoding="utf-8")
        for path, content in checkpoints.items() if pupil.trained else ():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_bytes(content)
    return group
