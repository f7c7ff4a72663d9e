"""`course progress` prints at the shell what `progress()` shows in a notebook, for all notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from course.course import Course
from course.notebook import course_map
from course.notebook.folder import choose_path
from course.notebook.standing import notebook_of, path_called, path_chosen_in, standing_of
from course.problem import Problem
from course.study_paths import paths_through
from course.syllabus import Unknown

MOST_NAMED = 4
"""The most folders that are listed in the message that asks to choose one."""


def find_home(course: Course, folder: Path) -> Path:
    """Return the folder of the course's notebooks: `folder`, or else its parent, or its only subfolder with any.

    Raises:
        Problem: there is no such folder, or several subfolders have notebooks.
    """
    if not folder.is_dir():
        raise Problem(f"{folder} is no folder. Name the one with your notebooks, such as sequence-models")
    folder = folder.resolve()
    around = next((place for place in (folder, folder.parent) if has_notebooks(course, place)), None)
    if around is not None:
        return around
    below = sorted(place for place in folder.iterdir() if place.is_dir() and has_notebooks(course, place))
    if not below:
        raise Problem(f"{folder} has no notebooks of the course. Name the folder with yours, such as sequence-models")
    if len(below) > 1:
        names = ", ".join(place.name for place in below[:MOST_NAMED])
        raise Problem(f"several folders here have notebooks ({names}). Name one: course progress {below[0].name}")
    return below[0]


def has_notebooks(course: Course, folder: Path) -> bool:
    """Return whether a folder contains the folder of any of the course's notebooks."""
    return any(notebook_of(topic, folder).is_file() for topic in course.topics)


def choose(course: Course, name: str, home: Path) -> None:
    """Save which study path the map in `home` shows, or none if `name` is empty.

    Raises:
        Problem: this course has no study path of that name, or `home` cannot be written.
    """
    try:
        path_called(course.topics, name)
    except Unknown as error:
        raise Problem(str(error)) from None
    if not choose_path(name, home):
        raise Problem(f"{home} cannot remember the path. Check that you may write in its folder .course")


def describe(course: Course, home: Path) -> Sequence[str]:
    """Return the lines that `course progress` prints about the notebooks in `home`."""
    topics, path = course.topics, path_chosen_in(course.topics, home)
    lines = [course_map.text(topics, {topic.name: standing_of(topic, home) for topic in topics}, path)]
    if path is None and paths_through(topics):
        lines.append("Four paths go through the course in six weeks. `course progress --path language` chooses one.")
    return lines
