"""Demand the folder of the instructor's course, and find the files in it."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

from course.course import Course, is_course
from course.grading.problem import Problem
from course.syllabus import Topic

UNFIT = "?*[]"
"""Characters that a path must not contain: glob patterns, and the end of a path in a database URL."""


def demand_course(course: Course) -> Path:
    """Return the folder of a course, which has nbgrader_config.py and solutions/.

    Raises:
        Problem: there is no such folder, or nbgrader cannot work in a folder of that name.
    """
    if not is_course(course.root):
        raise Problem(
            f"{course.root} is not inside a course, because no folder above it holds nbgrader_config.py and "
            "solutions/. Change to the course's folder, and run it there"
        )
    demand_fit(course.root)
    return course.root


def demand_fit(folder: Path) -> None:
    """Raise a Problem for a folder whose path nbgrader cannot handle.

    Raises:
        Problem: the path contains a character of `UNFIT`, or a percent escape of URLs such as %20.
    """
    found = set(str(folder)) & set(UNFIT)
    if unquote(str(folder)) != str(folder):
        found.add("%")
    if found:
        raise Problem(f"nbgrader cannot work in {folder}. Rename the folder without {' '.join(sorted(found))}")


def source_path(root: Path, topic: Topic) -> Path:
    """Return the path of a topic's source, e.g. `solutions/03_rnn.py`; an instructor's own topics have a folder."""
    if topic.own:
        return root / "exercises" / topic.folder / "notebook.py"
    return root / "solutions" / f"{topic.folder}.py"


def notebook_path(root: Path, topic: Topic) -> Path:
    """Return the path of the built notebook for nbgrader, e.g. `solutions/03_rnn/03_rnn.ipynb`."""
    return root / "solutions" / topic.folder / f"{topic.folder}.ipynb"


def released_at(topic: Topic) -> str:
    """Return the released notebook's relative path in the repository, e.g. `assignments/03_rnn/03_rnn.ipynb`."""
    return f"assignments/{topic.folder}/{topic.folder}.ipynb"


def release_path(root: Path, topic: Topic) -> Path:
    """Return the path of the released notebook below `root`, e.g. `assignments/03_rnn/03_rnn.ipynb`."""
    return root / released_at(topic)
