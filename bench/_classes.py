"""Classes to measure with: solved notebooks, no two the same, each with the weights of one training."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import nbformat

from course.course import course_in, find_course
from course.grading.authoring.source import build, refresh
from course.grading.course_folder import notebook_path, source_path
from course.grading.demo.run_demo import train
from course.grading.release.make_release import register
from course.syllabus import Topic
from tests.original import ORIGINAL

STOCK = """
c = get_config()
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "assignments"
c.Execute.timeout = 300
"""


def make_class(
    root: Path, topic: Topic, size: int, *, trained: bool = True, stock: bool = False, endings: Sequence[str] = ("",)
) -> Path:
    """A course in `root` for one topic, with submissions by so many students.

    Args:
        trained: whether they hand in weights.
        stock: whether the course is configured as nbgrader comes, without ours.
        endings: code that stands below the first solution, with one student after the other.
    """
    repository = find_course().root
    (root / "solutions").mkdir(parents=True)
    shutil.copy(source_path(repository, topic), root / "solutions")
    shutil.copy(repository / "nbgrader_config.py", root)
    refresh(course_in(root), (topic,))
    register(course_in(root), topic)
    if stock:
        (root / "nbgrader_config.py").write_text(STOCK)
    nb = nbformat.read(notebook_path(root, topic), as_version=4)
    written = next(cell for cell in nb.cells if cell.metadata.get("nbgrader", {}).get("solution"))
    source = written.source
    weights = checkpoints(topic, repository) if trained else {}
    for number in range(size):
        written.source = f"{source}{endings[number % len(endings)]}\n# by student {number}"
        folder = root / "submitted" / f"student{number:04}" / topic.folder
        folder.mkdir(parents=True)
        nbformat.write(nb, folder / f"{topic.folder}.ipynb")
        for path, content in weights.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_bytes(content)
    return root


@cache
def checkpoints(topic: Topic, repository: Path) -> dict[str, bytes]:
    """The weights that one run of the solved notebook leaves behind."""
    return train(ORIGINAL, build(ORIGINAL, source_path(repository, topic), topic), topic)
