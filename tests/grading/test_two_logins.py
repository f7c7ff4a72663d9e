"""Graders with logins of their own, in a course's folder that their group may write into."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook
from traitlets.config import Config

from course.files import write_atomically
from course.grading.gradebook.class_secret import class_secret
from course.grading.gradebook.topic_lock import topic_lock
from course.grading.machine.faults import Fault
from course.grading.nbgrader_bridge.rubric.grading_log import GradingLog
from course.grading.nbgrader_bridge.rubric.marks import AnswerMarks
from course.grading.release.course_config import configure_course
from course.outline import read_outline
from tests.commands import output_of
from tests.grading.lesson import NAME, make_course
from tests.grading.rubric_class import QUESTION, db_url, kept, waiting_class
from tests.grading.sandbox.child import become, in_child

ANN, BEN, GRADERS = 60_001, 60_002, 60_000

as_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can be two users")


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A class with a rubric, made by Ann, whose folder belongs to the group of graders."""
    root = waiting_class(tmp_path / "course", "ada", "bob")
    for path in (root, *root.rglob("*")):
        os.chown(path, ANN, GRADERS)
        if path.is_dir():
            path.chmod(0o2775)
    return root


def as_user(user: int, root: Path, act: Callable[[Path], Any]) -> Any:
    """What `act` returns for a grader whose files are, as usual, nobody else's to write."""

    def work() -> Any:
        become(user, root, GRADERS)
        os.umask(0o022)
        configure_course(Config(), str(root / "nbgrader_config.py"))
        return act(root)

    return in_child(work)


def take(root: Path, number: int) -> Callable[[Path], None]:
    """What takes a criterion of the course in `root`, as formgrader's page does."""
    rubric = read_outline(root / "course.toml").rubrics[NAME][QUESTION]

    def act(root: Path) -> None:
        with Gradebook(db_url(root)) as gradebook:
            notebook = gradebook.find_submission_notebook(NAME, NAME, "ada")
            marks = AnswerMarks(gradebook, notebook, QUESTION, rubric, GradingLog(root))
            change = {"version": marks.version, "criterion": rubric[number].wording, "take": True}
            marks.change(change, f"grader {number}")

    return act


@as_root
@pytest.mark.parametrize(("first", "second"), [(ANN, BEN), (BEN, ANN)])
def test_both_save_points_for_one_answer(first: int, second: int, shared: Path) -> None:
    as_user(ANN, shared, lambda root: Gradebook(db_url(root)).close())  # an older gradebook gets its rights here
    as_user(first, shared, take(shared, 0))
    as_user(second, shared, take(shared, 1))
    points, comment, _ = kept(shared, "ada")
    assert points == 1.25 and comment is not None and comment.count("\n") == 1
    for name in ("graded_by.db", "gradebook.db"):
        about = (shared / name).stat()
        assert (about.st_gid, about.st_mode & 0o060) == (GRADERS, 0o060), name


def lock(root: Path) -> None:
    with topic_lock(root, NAME):
        pass


@as_root
@pytest.mark.parametrize(
    "act",
    [
        lock,
        lambda root: class_secret(db_url(root)),
        lambda root: write_atomically(root / ".course" / "results" / NAME / "one", b"kept"),
        lambda root: write_atomically(root / "reports" / f"{NAME}.html", b"a page"),
    ],
    ids=["the lock of a topic", "the class's secret", "a result", "a report"],
)
def test_what_one_made_the_other_can_use_and_replace(act: Callable[[Path], Any], shared: Path) -> None:
    assert as_user(ANN, shared, act) == as_user(BEN, shared, act)
    made = [path for path in shared.rglob("*") if path.stat().st_mtime >= (shared / "course.toml").stat().st_mtime]
    assert all(path.stat().st_gid == GRADERS for path in made)
    assert all(path.stat().st_mode & stat.S_IWGRP for path in made if path.is_dir())


@as_root
def test_a_database_that_the_other_may_not_write_is_named(shared: Path) -> None:
    as_user(ANN, shared, take(shared, 0))
    (shared / "graded_by.db").chmod(0o644)

    again = take(shared, 1)

    def refused(root: Path) -> str:
        try:
            again(root)
        except Fault as fault:
            return str(fault)
        return ""

    told = f"{shared}/graded_by.db may not be written by you. Have its owner run `chmod g+w` on it"
    assert as_user(BEN, shared, refused).startswith(told)
    assert kept(shared, "ada")[0] == 0.75
    as_user(ANN, shared, take(shared, 2))  # whose next save gives the group its rights
    assert as_user(BEN, shared, refused) == "" and kept(shared, "ada")[0] == 2.0


@pytest.mark.parametrize(("folder", "file", "secret"), [(0o2775, 0o664, 0o660), (0o755, 0o644, 0o600)])
def test_what_is_made_has_the_rights_of_the_folder(folder: int, file: int, secret: int, tmp_path: Path) -> None:
    root = make_course(tmp_path / "course")
    (root / "gradebook.db").unlink()
    root.chmod(folder)
    program = (
        "import os\nfrom pathlib import Path\nos.umask(0o022)\nfrom nbgrader.api import Gradebook\n"
        "from course.grading.nbgrader_bridge.config_file import load_config\n"
        "url = load_config(Path()).CourseDirectory.db_url\nGradebook(url).close()\n"
        "from course.grading.gradebook.class_secret import class_secret\nclass_secret(url)\n"
        "from course.grading.nbgrader_bridge.rubric.grading_log import GradingLog\n"
        "with GradingLog(Path()).writing():\n    pass\n"
    )
    (root / "program.py").write_text(program)
    output_of(root, "program")
    found = {name: (root / name).stat().st_mode & 0o777 for name in ("gradebook.db", "graded_by.db", ".course-secret")}
    assert found == {"gradebook.db": file, "graded_by.db": file, ".course-secret": secret}
