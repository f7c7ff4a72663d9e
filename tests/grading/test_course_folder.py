"""A course is found from anywhere in it, and one in whose folder nbgrader would get lost is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import make_url

from course.course import find_course
from course.grading.course_folder import demand_course
from course.grading.problem import Problem


def make_course(folder: Path) -> Path:
    (folder / "solutions").mkdir(parents=True)
    (folder / "nbgrader_config.py").touch()
    return folder


def test_a_course_is_found_from_below(tmp_path):
    root = make_course(tmp_path / "50% off, c'est #1 {é}")
    assert demand_course(find_course(root / "solutions")) == root
    assert make_url(f"sqlite:///{root}/gradebook.db?timeout=60").database == f"{root}/gradebook.db"
    with pytest.raises(Problem, match="is not inside a course"):
        demand_course(find_course(tmp_path))


@pytest.mark.parametrize(
    ("name", "signs"), [("a[1]", r"\[ \]"), ("why?", r"\?"), ("*", r"\*"), ("deep%20learning", "%")]
)
def test_a_folder_that_means_something_else_to_nbgrader_is_refused(tmp_path, name, signs):
    """`deep%20learning/gradebook.db` is `deep learning/gradebook.db` to SQLAlchemy 2.1: another course's, perhaps."""
    with pytest.raises(Problem, match=f"nbgrader cannot work in .*. Rename the folder without {signs}$"):
        demand_course(find_course(make_course(tmp_path / name)))
