"""How a command ends that is asked to: with its own status and one sentence, wherever the signal meets it."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from course.grading.machine import shutdown

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no signals of this kind")

MEETING = """
import logging, signal, sys, time
from contextlib import suppress
from course import cli
from course.grading.course_files import catalogue

class Cursor:
    def close(self):
        signal.raise_signal(signal.SIGTERM)

    def __del__(self):
        self.close()

def in_a_library(topics, root):
    try:
        Cursor.close(None)
    except BaseException:
        logging.getLogger("library").error("cannot go on", exc_info=True)
        raise

def in_a_library_that_fails_at_it(topics, root):
    try:
        Cursor.close(None)
    finally:
        raise ValueError("a closed database")

def in_a_library_that_forgets_why_it_fails(topics, root):
    with suppress(BaseException):
        Cursor.close(None)
    raise TypeError("expected a message argument")

def as_an_object_is_thrown_away(topics, root):
    Cursor()
    time.sleep(60)

catalogue.overview = {met}
sys.exit(cli.main(["list"]))
"""


@pytest.mark.parametrize(
    "met",
    [
        "in_a_library",
        "in_a_library_that_fails_at_it",
        "in_a_library_that_forgets_why_it_fails",
        "as_an_object_is_thrown_away",
    ],
)
def test_wherever_the_signal_meets_it_the_command_ends_with_one_sentence(met: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEETING.format(met=met)], cwd=ROOT, capture_output=True, text=True, timeout=50
    )
    assert (done.returncode, done.stderr) == (143, "course list: stopped\n")


def test_a_terminal_that_is_closed_may_say_so_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Linux tells the leader of a session, and then its group: the second time must not end the tidying up."""
    monkeypatch.setattr(shutdown, "terminals", [])
    monkeypatch.setattr(shutdown, "asked", [])
    monkeypatch.setattr(shutdown.logging, "disable", lambda: None)
    before = signal.signal(signal.SIGHUP, shutdown.terminate)
    try:
        with pytest.raises(shutdown.Terminated):
            signal.raise_signal(signal.SIGHUP)
        signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("heard")
def test_what_is_held_back_is_heard_once_and_afterwards() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt):
        with shutdown.delay_signals():
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
            done.append("before")
        done.append("after")
    assert done == ["before"] and signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("heard")
def test_what_is_held_back_is_heard_though_the_work_fails() -> None:
    with pytest.raises(KeyboardInterrupt) as ended, shutdown.delay_signals():
        signal.raise_signal(signal.SIGINT)
        raise ValueError("a fault")
    assert isinstance(ended.value.__context__, ValueError)


def test_what_else_is_lost_is_told_as_ever() -> None:
    code = "from course import cli\ncli.main(['list'])\nclass Lost:\n    def __del__(self): 1 / 0\nLost()"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "ZeroDivisionError" in done.stderr
