"""Find the submissions in `submitted/`, including those with a wrong name or in a wrong place."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from course.course import Course
from course.grading.classroom.graded import Graded
from course.grading.intake.untrusted import everything, printable, refuse_name
from course.grading.problem import Problem
from course.syllabus import Topic

LOCKED = "{} may not be read by you, so work in it is not graded. Change its rights"


class HandedIn:
    """The submissions of one topic, in the folders that nbgrader's `coursedir` names."""

    def __init__(self, course: Course, coursedir: Any, topic: Topic) -> None:
        self._course, self._coursedir, self._topic = course, coursedir, topic

    def submissions(self) -> dict[str, Path]:
        """Return the submitted folders by student, without those that `misnamed` reports."""
        return {student: path for student, path in self.handed_in().items() if not _unfit(student)}

    def misnamed(self) -> list[Graded]:
        """Return the submitted folders that have an invalid student name or cannot be read, each with the reason."""
        handed_in = self.handed_in()
        unfit = [Graded(printable(student), reason=reason) for student in handed_in if (reason := _unfit(student))]
        return unfit + [Graded(printable(path.name), reason=LOCKED.format(path)) for path in self._locked()]

    def _locked(self) -> list[Path]:
        """Return the unreadable folders that might hold this topic's work: students' folders, or `submitted/`."""
        work = Path(self._place("*", self._topic.folder))
        students = map(Path, sorted(glob.glob(str(work.parent))))  # noqa: PTH207
        folders = [path for path in (work.parent.parent, *students) if path.is_dir()]
        return [path for path in folders if not os.access(path, os.R_OK | os.X_OK)]

    def handed_in(self) -> dict[str, Path]:
        """Return each student's submitted folder, readable or not."""
        pattern = self._place("(?P<student>.*)", self._topic.folder, escape=True)
        everywhere = self._place("*", self._topic.folder)
        found = sorted(glob.glob(everywhere, include_hidden=True))  # noqa: PTH207, as nbgrader does
        matches = ((re.fullmatch(pattern, path, re.DOTALL), Path(path)) for path in found)
        return {match["student"]: path for match, path in matches if match}

    def unknown_topics(self) -> list[str]:
        """Return the names of submitted folders that look like a topic's name but are not one."""
        found = glob.glob(self._place("*", "*"))  # noqa: PTH207
        known = {topic.folder for topic in self._course.topics}
        names = {Path(path).name for path in found if Path(path).is_dir()} - known
        return [printable(name) for name in sorted(names) if re.fullmatch(r"\d\d_\w+", name)]

    def misplaced(self) -> Iterator[Graded]:
        """Yield notebooks that seem to belong to this topic but lie where nbgrader does not look for them."""
        name, handed_in = self._topic.folder, self.handed_in()
        for folder in sorted(glob.glob(self._place("*", "."))):  # noqa: PTH207
            place = Path(folder)
            if place.name in handed_in or not place.is_dir():
                continue
            for path in everything(place, deepest=2):
                if path.suffix == ".ipynb" and get_close_matches(path.stem.lower(), [name], cutoff=0.8):
                    there = printable(str(path.relative_to(place.parent)))
                    right = printable(f"{place.name}/{name}/{name}.ipynb")
                    yield Graded(printable(place.name), reason=f"{there} belongs at {right}")

    def _place(self, student: str, topic: str, **options: Any) -> str:
        return str(self._coursedir.format_path(self._coursedir.submitted_directory, student, topic, **options))


def _unfit(student: str) -> str:
    """Return why `student` is no valid student name, or an empty string if the name is valid."""
    try:
        refuse_name(student)
    except Problem as problem:
        return str(problem)
    return ""
