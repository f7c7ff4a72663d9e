"""Find the folder of the instructor's course and the files in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from course.grading.problem import Problem

if TYPE_CHECKING:
    from course.syllabus import Topic  # a faulty course.toml makes this import fail

UNFIT = "?*[]"
"""Characters that a path must not contain: glob patterns, and the end of a path in a database URL."""


def find_root(start: Path | None = None) -> Path:
    """Return the nearest folder at or above `start` (the working folder) with nbgrader_config.py and solutions/.

    Raises:
        Problem: there is no such folder, or nbgrader cannot work in a folder of that name.
    """
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        if is_course(folder):
            demand_fit(folder)
            return folder
    raise Problem(
        f"{start} is not inside a course, because no folder above it holds nbgrader_config.py and solutions/. "
        "Change to the course's folder, and run it there"
    )


def nearest_root() -> Path:
    """Return the course's folder or, if a student has only notebooks, the working folder."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if is_course(folder)), here)


def is_course(folder: Path) -> bool:
    """Whether a folder is the root of a course."""
    return (folder / "nbgrader_config.py").is_file() and (folder / "solutions").is_dir()


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
