"""nbgrader's exchange on a machine that a class shares: feedback reaches the student whose work it is about."""

from __future__ import annotations

import logging
from pathlib import Path

import nbformat
import pytest
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeError
from nbgrader.exchange.default import ExchangeReleaseFeedback
from nbgrader.utils import get_username, notebook_hash

from course.grading.nbgrader_bridge.patches import guard_feedback
from tests.commands import run
from tests.grading.classes import given_out
from tests.grading.lesson import NAME, hand_in, make_course

PLACES = '\nc.CourseDirectory.course_id = "seq"\nc.Exchange.root = {!r}\n'


def release(root: Path, **secrets: str) -> tuple[dict[str, str], str]:
    """Release made-up feedback: the exchange's pages by name, and what was said. Who has no secret came elsewhere."""
    guard_feedback()
    for student, secret in secrets.items():
        folder = root / "course" / "feedback" / student / NAME
        folder.mkdir(parents=True)
        (folder / f"{NAME}.html").write_text(f"of {student}")
        if secret:
            (folder / "timestamp.txt").write_text("2027-01-31 12:00:00 UTC")
            (folder / "submission_secret.txt").write_text(secret)
    (root / "exchange" / "seq").mkdir(parents=True)
    coursedir = CourseDirectory(root=str(root / "course"), course_id="seq", assignment_id=NAME)
    exchange = ExchangeReleaseFeedback(coursedir=coursedir, root=str(root / "exchange"))
    heard: list[str] = []
    listener = logging.Handler(logging.WARNING)
    listener.emit = lambda record: heard.append(record.getMessage())  # type: ignore[method-assign]
    exchange.log.addHandler(listener)
    try:
        for step in (exchange.init_src, exchange.init_dest, exchange.copy_files):
            step()
    finally:
        exchange.log.removeHandler(listener)
    return {page.name: page.read_text() for page in (root / "exchange").rglob("*.html")}, "\n".join(heard)


def test_work_that_came_elsewhere_stops_nobodys_feedback(tmp_path: Path) -> None:
    pages, said = release(tmp_path, ada="one", bob="", **{"cy,dan": "two"})
    called = [f"{notebook_hash(secret=secret, notebook_id=NAME)}.html" for secret in ("one", "two")]
    assert pages == dict(zip(called, ("of ada", "of cy,dan"), strict=True))
    assert said.startswith("No feedback released for bob, because this work was not collected from the exchange. Send")


def test_where_none_came_from_it_the_command_fails(tmp_path: Path) -> None:
    with pytest.raises(ExchangeError, match="No feedback released for ada, bob"):
        release(tmp_path, ada="", bob="")


@pytest.mark.slow
def test_from_release_to_fetched_feedback(tmp_path: Path) -> None:
    """All of nbgrader's commands, with `course grade` among them; bob's work came by email."""
    root, desk, home = make_course(tmp_path / "course"), tmp_path / "desk", tmp_path / "home"
    exchange = tmp_path / "exchange"
    for folder in (desk, home, exchange):
        folder.mkdir()
    exchange.chmod(0o777)
    places = PLACES.format(str(exchange))
    (desk / "nbgrader_config.py").write_text(f"c = get_config(){places}")
    config = root / "nbgrader_config.py"
    config.write_text(config.read_text() + places)

    def nbgrader(folder: Path, command: str) -> str:
        done = run(folder, "nbgrader", command, NAME, HOME=str(home), JUPYTER_DATA_DIR=str(tmp_path / "data"))
        return done.stdout + done.stderr

    for folder, command in ((root, "generate_assignment"), (root, "release_assignment"), (desk, "fetch_assignment")):
        nbgrader(folder, command)
    nbformat.write(given_out(root), desk / NAME / f"{NAME}.ipynb")
    nbgrader(desk, "submit")
    nbgrader(root, "collect")
    hand_in(root, "bob", given_out(root))
    run(root, "course", "grade", NAME)
    nbgrader(root, "generate_feedback")
    assert "No feedback released for bob" in nbgrader(root, "release_feedback")
    nbgrader(desk, "fetch_feedback")
    (page,) = (desk / NAME / "feedback").rglob("*.html")
    assert page.read_bytes() == (root / "feedback" / get_username() / NAME / page.name).read_bytes()
    assert len(list(exchange.rglob("*.html"))) == 1
