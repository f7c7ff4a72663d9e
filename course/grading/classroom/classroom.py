"""One topic of a class: its configuration, its submissions, and where their files are."""

from __future__ import annotations

import glob
import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any

from course.course import Course
from course.grading.authoring.source import current
from course.grading.classroom.handed_in import HandedIn
from course.grading.execution.result_store import Store
from course.grading.gradebook.released_notebook import ReleasedNotebook, read_released
from course.grading.gradebook.scores import due_of
from course.grading.nbgrader_bridge.config_file import load_config
from course.grading.nbgrader_bridge.course_of import hand_on
from course.grading.nbgrader_bridge.patches import cache_lookups
from course.grading.own_cells import own_tests_released, unreleased
from course.grading.release.make_release import is_registered, register
from course.syllabus import Topic


class Classroom:
    """The submissions of one topic, and the configuration of nbgrader that they are graded with.

    Args:
        course: the course of the class.
        topic: the topic of the submissions.
        settings: traits of `JudgedExecute`, such as `policy` or `timeout`, that override the configuration.
    """

    def __init__(self, course: Course, topic: Topic, settings: dict[str, Any] | None = None) -> None:
        cache_lookups()
        self.course, self.root, self.topic = course, course.root, topic
        self.config: Any = load_config(self.root)
        hand_on(self.config, course)
        self.config.CourseDirectory.assignment_id = topic.folder
        for name, value in (settings or {}).items():
            self.config.JudgedExecute[name] = value
        self.config.Exporter.optimistic_validation = True  # validate once a pass, not after each step
        self.sanitized: dict[str, str] = {}
        """Sanitised notebooks as text, by student, kept until they are saved so that nbgrader does not redo them."""
        self.forgotten = False
        """Whether the gradebook was lost, with all manual points, because it lacks a topic that was graded before."""
        if not is_registered(self.root, topic, self.coursedir().db_url):
            self.forgotten = bool(glob.glob(str(self.autograded("*") / f"{topic.folder}.ipynb")))  # noqa: PTH207
            register(course, topic, self.coursedir().db_url)

    def coursedir(self, student: str = "") -> Any:
        """Return nbgrader's `CourseDirectory` for one student or for all."""
        if not student:
            return self._everybody
        return self._view(glob.escape(student))

    @cached_property
    def _everybody(self) -> Any:
        return self._view("*")

    def _view(self, student_id: str) -> Any:
        from nbgrader.coursedir import CourseDirectory

        coursedir = CourseDirectory(config=self.config)
        coursedir.student_id = student_id
        return coursedir

    @property
    def handed_in(self) -> HandedIn:
        """Return the topic's submissions in `submitted/`, misplaced ones included."""
        return HandedIn(self.course, self.coursedir(), self.topic)

    def submitted(self, student: str) -> Path:
        """Return the folder of the student's submission that counts."""
        coursedir = self.coursedir()
        return Path(coursedir.format_path(coursedir.submitted_directory, student, self.topic.folder))

    def autograded(self, student: str) -> Path:
        """Return the student's folder of graded work."""
        coursedir = self.coursedir()
        return Path(coursedir.format_path(coursedir.autograded_directory, student, self.topic.folder))

    @cached_property
    def released(self) -> ReleasedNotebook:
        """Return the topic's notebook as the gradebook has it."""
        return read_released(self.coursedir().db_url, self.topic.folder, self.topic.folder)

    @cached_property
    def not_overwritten(self) -> list[str]:
        """Return the files that the configuration lets students replace by versions of their own."""
        from nbgrader.converters import Autograde

        names: list[str] = Autograde(config=self.config).exclude_overwriting.get(self.topic.folder, [])
        return names

    def environment(self) -> dict[str, str]:
        """Return the environment variables of this class's kernels, and fill the cache of the corpora they read."""
        from course.grading.execution.corpora_cache import fill_cache
        from course.grading.kernel_edition import assemble
        from course.grading.kernels.environment import added, environment
        from course.grading.nbgrader_bridge.judged_execute import JudgedExecute

        fill_cache(self.topic)
        settings = JudgedExecute(config=self.config)
        edition = assemble(self.course.outline.public, [self.topic])
        with tempfile.TemporaryDirectory() as home:
            more = added(settings.environment, settings.gpu)
            return environment(Path(home), edition, None, settings.policy, more)

    def changed(self) -> list[str]:
        """Return a line for each difference between `course.toml` and the release: points, and the due date."""
        if self.course.is_original:
            return []
        released = {cell.name: cell.max_score for cell in self.released.grade_cells}
        asked = [(item, released.get(item.name, item.points)) for item in self.topic.in_source]
        told = [f"{item.name} {item.points:g} and not {points:g}" for item, points in asked if points != item.points]
        due, known = self.topic.due, due_of(self.coursedir().db_url, self.topic.folder)
        if due is not None and due != known:
            before = f"{known.astimezone(due.tzinfo):%Y-%m-%d %H:%M %z}" if known else "without a date"
            told.append(f"due {due:%Y-%m-%d %H:%M %z} and not {before}")
        return told

    def unreleased(self) -> list[str]:
        """Return the instructor's own cells whose tests or points in the source differ from the release."""
        nb = current(self.course, self.topic)
        return unreleased(self.course, nb, self.topic, self.released) if nb is not None else []

    def demonstrated(self) -> list[str]:
        """Return the instructor's own tests that need every demonstration to run, each with the reason."""
        from course.grading.execution.skippable_cells import unsure
        from course.grading.nbgrader_bridge.judged_execute import JudgedExecute

        if self.topic.own or JudgedExecute(config=self.config).demonstrations:
            return []
        reasons = {name: unsure(source) for name, (source, _) in own_tests_released(self.course, self.released).items()}
        return [f"{name} {reason}" for name, reason in reasons.items() if reason]

    @property
    def store(self) -> Store | None:
        """Return the store of execution results, or None if the configuration has none."""
        from course.grading.nbgrader_bridge.judged_execute import JudgedExecute

        return JudgedExecute(config=self.config).store()
