"""Find the instructor's course on this disk, and the files in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from course.grading.problem import Problem

if TYPE_CHECKING:
    from course.syllabus import Topic  # which a faulty course.toml keeps from being imported

UNFIT = "?*[]"
"""What a path must not hold: patterns of files, and what an address of a database ends at."""


def find_root(start: Path | None = None) -> Path:
    """The nearest folder at or above `start` (the working folder) that holds nbgrader_config.py and solutions/.

    Raises:
        Problem: there is none, or nbgrader could not find its way in a folder of that name.
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
    """The course's folder or, where a student has only notebooks, the working folder."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if is_course(folder)), here)


def is_course(folder: Path) -> bool:
    """Whether a folder is a course's."""
    return (folder / "nbgrader_config.py").is_file() and (folder / "solutions").is_dir()


def demand_fit(folder: Path) -> None:
    """Refuse a folder whose name nbgrader gets lost in.

    Raises:
        Problem: it holds one of `UNFIT`, or what stands for another letter in an address, as %20 does.
    """
    found = set(str(folder)) & set(UNFIT)
    if unquote(str(folder)) != str(folder):
        found.add("%")
    if found:
        raise Problem(f"nbgrader cannot work in {folder}. Rename the folder without {' '.join(sorted(found))}")


def source_path(root: Path, topic: Topic) -> Path:
    """Where the topic is written by hand, e.g. `solutions/03_rnn.py`; an instructor's own topics have a folder."""
    if topic.own:
        return root / "exercises" / topic.folder / "notebook.py"
    return root / "solutions" / f"{topic.folder}.py"


def notebook_path(root: Path, topic: Topic) -> Path:
    """Where nbgrader reads the built notebook, e.g. `solutions/03_rnn/03_rnn.ipynb`."""
    return root / "solutions" / topic.folder / f"{topic.folder}.ipynb"


def released_at(topic: Topic) -> str:
    """Where the released notebook stands in the repository, e.g. `assignments/03_rnn/03_rnn.ipynb`."""
    return f"assignments/{topic.folder}/{topic.folder}.ipynb"


def release_path(root: Path, topic: Topic) -> Path:
    """Where the released notebook is committed, e.g. `assignments/03_rnn/03_rnn.ipynb`."""
    return root / released_at(topic)
