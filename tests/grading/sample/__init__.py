"""A small made-up topic in a course of its own, so that the house can be tested without a real lecture."""

from __future__ import annotations

import shutil
from pathlib import Path

from course.syllabus import Item, Topic

SAMPLE = Topic(
    99,
    "sample",
    "Doubling",
    "A lecture nobody gave",
    (
        Item("double", 2, 5),
        Item("Counter", 3, 10),
        Item("sample_task", 4, 20, "task"),
        Item("sample_question", 2, 10, "question"),
    ),
)

_HERE = Path(__file__).parent
_REPOSITORY = _HERE.parents[2]


def make_course(root: Path, source: str | None = None) -> Path:
    """Lay out a course in `root` that holds the sample topic (its source replaced by `source` if given)."""
    (root / "solutions").mkdir(parents=True)
    text = (_HERE / "99_sample.py").read_text("utf-8") if source is None else source
    (root / "solutions" / "99_sample.py").write_text(text, "utf-8")
    shutil.copy(_REPOSITORY / "nbgrader_config.py", root)
    return root


def sample_source() -> str:
    """The text of the sample topic's source."""
    return (_HERE / "99_sample.py").read_text("utf-8")
