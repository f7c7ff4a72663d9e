"""Pages of feedback by several processes: they are nbgrader's own, whole or not there, and one keeps no other away."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from course import cli
from course.grading.classroom.write_feedback import DIED, Feedback
from tests.commands import output_of
from tests.grading.lesson import NAME

OWN_SETTINGS = """
from nbgrader.preprocessors import NbGraderPreprocessor

class Shout(NbGraderPreprocessor):
    def preprocess(self, nb, resources):
        nb.cells[0].source += "\\n\\n" + resources["nbgrader"]["student"].upper() + str(resources["nbgrader"]["score"])
        return nb, resources

c.GenerateFeedback.preprocessors.insert(3, Shout)
c.GenerateFeedback.post_convert_hook = lambda **_: open("hooks.txt", "a").write("after\\n")
c.GenerateFeedback.permissions = 640
c.LateSubmissionPlugin.penalty_method = "zero"
"""
DIES = """
import os, time
from nbgrader.preprocessors import NbGraderPreprocessor

class Dies(NbGraderPreprocessor):
    def preprocess(self, nb, resources):
        if resources["nbgrader"]["student"] == "dan":
            {}
        return nb, resources

c.GenerateFeedback.preprocessors.append(Dies)
"""


@pytest.fixture
def course(graded_class: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A class that is graded, ada, bea, cy, dan and eve, without feedback."""
    root = shutil.copytree(graded_class, tmp_path / "course")
    monkeypatch.chdir(root)
    return root


def configure(root: Path, text: str) -> None:
    with (root / "nbgrader_config.py").open("a") as config:
        config.write(text)


def files(root: Path) -> dict[str, tuple[int, bytes]]:
    """What lies in `feedback/`, with the rights of each file."""
    found = (path for path in (root / "feedback").rglob("*") if path.is_file())
    return {str(path.relative_to(root)): (path.stat().st_mode, path.read_bytes()) for path in found}


def test_pages_are_those_of_nbgrader(course: Path) -> None:
    """With an instructor's own step, hook, rights and rule for late work, whose penalties are counted once."""
    configure(course, OWN_SETTINGS)
    with Gradebook(f"sqlite:///{course}/gradebook.db") as book:
        book.update_or_create_assignment(NAME, duedate="2026-03-10 12:00:00 UTC")
        book.update_or_create_submission(NAME, "bea", timestamp="2026-03-11 12:00:00 UTC")
    output_of(course, "nbgrader", "generate_feedback", NAME)
    theirs, hooks = files(course), (course / "hooks.txt").read_text()
    assert len(theirs) > 5 and hooks == "after\n" * 5
    shutil.rmtree(course / "feedback")
    with Gradebook(f"sqlite:///{course}/gradebook.db") as book:
        book.find_submission_notebook(NAME, NAME, "bea").late_submission_penalty = 0.5
        book.db.commit()
    feedback = Feedback(course, NAME)
    assert feedback.write(feedback.graded(), workers=2) == {}
    assert files(course) == theirs and (course / "hooks.txt").read_text() == hooks * 2


def test_one_process_writes_the_same_pages(course: Path) -> None:
    feedback = Feedback(course, NAME)
    assert feedback.write(["ada", "eve"], workers=2) == {}
    by_two = files(course)
    assert feedback.write(["ada", "eve"], workers=1) == {} and files(course) == by_two
    submitted = (course / "submitted" / "ada" / NAME / f"{NAME}.ipynb").read_text("utf-8")
    page = (course / "feedback" / "ada" / NAME / f"{NAME}.html").read_text("utf-8")
    assert "install the course where it is missing" in submitted and "install the course" not in page


def test_a_page_that_cannot_be_written_is_told(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The others have theirs. Graded anew, nobody's page is written twice."""
    (course / "feedback").mkdir()
    (course / "feedback" / "bea").write_text("a file where a folder should be")
    line = ["grade", NAME, "--student", "ada", "--student", "bea", "--student", "cy", "--feedback", "--workers", "2"]
    assert cli.main(line) == 1
    said = capsys.readouterr().out
    assert f"Feedback\n  2 pages were written to feedback/<student>/{NAME}/{NAME}.html\n" in said
    assert "\n  bea: the page could not be written: " in said
    page = course / "feedback" / "ada" / NAME / f"{NAME}.html"
    written = page.stat().st_mtime_ns
    (course / "feedback" / "bea").unlink()
    assert cli.main(line) == 0
    assert "Feedback\n  1 page was written to " in capsys.readouterr().out
    assert cli.main(line) == 0
    said = capsys.readouterr().out
    assert "Feedback\n  Every page is newer than its grading. If you gave points or comments since, run " in said
    assert page.stat().st_mtime_ns == written


def test_a_process_that_dies_takes_one_page_with_it(course: Path) -> None:
    configure(course, DIES.format("os._exit(1)"))
    assert Feedback(course, NAME).write(["ada", "bea", "cy", "dan"], workers=2) == {"dan": DIED}
    assert sorted(path.parts[-3] for path in course.glob("feedback/*/*/*.html")) == ["ada", "bea", "cy"]
    assert not (course / "feedback" / "dan" / NAME).exists()


class Stop:
    """Asks for an end as soon as one page is there."""

    def begin(self, total: int) -> None: ...

    def done(self, student: str, outcome: object) -> None:
        raise KeyboardInterrupt


def test_an_end_leaves_no_half_page(course: Path) -> None:
    configure(course, DIES.format("time.sleep(600)"))
    with pytest.raises(KeyboardInterrupt):
        Feedback(course, NAME).write(["ada", "dan"], workers=2, progress=Stop())
    assert {path.parts[-3] for path in course.glob("feedback/*/*/*")} == {"ada"}


def test_a_notebook_of_ones_own_has_no_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["grade", "my.ipynb", "--feedback"]) == 2
    assert "a page of feedback belongs to a class. Leave --feedback out" in capsys.readouterr().err
