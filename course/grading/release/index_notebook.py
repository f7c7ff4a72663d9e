"""The course's home notebook, `assignments/index.ipynb`, made from the syllabus."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from course.course import Course
from course.grading.course_files import setup_cell
from course.grading.course_files.catalogue import six_weeks
from course.grading.course_files.course_folder import source_path
from course.grading.course_files.own_cells import OwnCell, own_cells_released
from course.grading.release.source import KERNEL, write
from course.notebook.standing import NOT_HERE
from course.study_paths import paths_through
from course.syllabus import OURS, Topic

if TYPE_CHECKING:
    from nbformat import NotebookNode

NOTEBOOK = "index.ipynb"

_OPENING = """\
# {title}

{range}, in {number} that {tell} you, while you work, what your numbers show.

The cell with `progress()` draws the map of the course. It shows what leads to what and how far you are, and each name
opens its notebook. The times are those of the exercises, and reading takes additional time. Run that cell again
whenever you come back."""

_CODE = """\
from course import progress

progress()"""

_REVIEW = """\
## Two minutes of review

`review()` asks up to five questions about code that you wrote some weeks ago, and about predictions that turned out
wrong. The questions come from the notebooks. After a check has passed, `explain("softmax")` there asks about your own
code for that exercise."""

_REVIEW_CODE = """\
from course import review

review()"""

_TABLE = """\
## Lectures and points

The map shows how long each notebook takes. This list adds its lecture and its points. Its links
open the notebooks where no code runs, such as on GitHub.

{table}{six_weeks}"""


def write_home(course: Course) -> Path:
    """Write the home notebook of the topics that have a source, and return its path.

    Topics that have not been released are named, without a link.
    """
    topics = [topic for topic in course.topics if source_path(course.root, topic).is_file()]
    folder = course.root / "assignments"
    folder.mkdir(exist_ok=True)
    released = [topic for topic in topics if (folder / _beside(topic)).is_file()]
    own = {topic.name: own_cells_released(course.root, topic) for topic in released}
    write(_notebook(course, topics, released, own), folder / NOTEBOOK)
    return folder / NOTEBOOK


Own = Mapping[str, Sequence[OwnCell]]
"""An instructor's own graded cells in the notebooks that are released, by topic."""


def _notebook(course: Course, topics: Sequence[Topic], released: Sequence[Topic], own: Own) -> NotebookNode:
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

    paths = f"\n\n## If you have six weeks\n\n{six_weeks()}" if paths_through(topics) else ""
    table = _TABLE.format(table=_table(topics, released, own), six_weeks=paths)
    cells = [
        new_markdown_cell(_opening(course.outline.title, topics)),
        new_code_cell(_CODE),
        new_markdown_cell(_REVIEW),
        new_code_cell(_REVIEW_CODE),
        new_markdown_cell(table),
    ]
    for cell in cells:
        cell.id = hashlib.sha256(cell.source.encode()).hexdigest()[:16]
    notebook = new_notebook(cells=cells, metadata={"kernelspec": dict(KERNEL), "language_info": {"name": "python"}})
    setup_cell.put(notebook, f"assignments/{NOTEBOOK}", course.is_original)
    return notebook


def _opening(title: str, topics: Sequence[Topic]) -> str:
    """Return the first text: an introduction to our own course, or the topics' titles in an instructor's course."""
    number, tell = (f"{len(topics)} notebooks", "tell") if len(topics) != 1 else ("one notebook", "tells")
    titles = list(dict.fromkeys(topic.title for topic in (*topics[:1], *topics[-1:])))
    between = f"From {' to '.join(titles)}" if len(titles) > 1 else "".join(titles)
    if tuple(topics) == OURS:
        between = "From counting characters to GPT, BERT and state spaces"
    return _OPENING.format(title=title, range=between, number=number, tell=tell)


def _beside(topic: Topic) -> str:
    """Return the path of the topic's notebook, relative to the home notebook."""
    return f"{topic.folder}/{topic.folder}.ipynb"


def _table(topics: Sequence[Topic], released: Sequence[Topic], own: Own) -> str:
    rows = ["| | notebook | lecture | exercises | points |", "|--:|:--|:--|--:|--:|"]
    for topic in topics:
        link = f"[{topic.title}]({_beside(topic)})" if topic in released else f"{topic.title}, {NOT_HERE}"
        added = own.get(topic.name, ())
        kinds = [*(item.kind for item in topic.items), *(cell.kind for cell in added)]
        exercises = sum(kind != "question" for kind in kinds)
        points = topic.points + sum(cell.points for cell in added)
        rows.append(
            f"| {'' if topic.number is None else topic.number} | {link} | {topic.lecture} | {exercises} | {points:g} |"
        )
    return "\n".join(rows)
