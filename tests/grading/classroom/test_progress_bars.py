"""A log file gets a line now and then. What everything took is kept in a table, and a spoilt one costs nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from course.grading.classroom.progress_bars import Lines, show_progress
from course.grading.classroom.timings import Timings
from course.grading.execution.task import Outcome
from tests.original import find_topic

RNN = find_topic("rnn")


def noted(root: Path) -> Timings:
    """The table of a class of two, one of which the machine failed."""
    timings = Timings.of(root, RNN)
    timings.note("ada", Outcome(b"", seconds=1.5), kept=False)
    timings.note("bea", Outcome(b"", fault="no kernel"), kept=False)
    timings.write()
    return timings


def test_a_fault_is_known_the_next_time_until_it_is_gone(tmp_path):
    noted(tmp_path)
    again = Timings.of(tmp_path, RNN)
    assert [again.fault(student) for student in ("ada", "bea", "cleo")] == ["", "no kernel", ""]
    again.note("bea", Outcome(b""), kept=False)
    assert again.fault("bea") == ""


@pytest.mark.parametrize(
    "spoilt", [b"student,fault\nad\xe9,x\n", b"student\n" + b"x" * 200_000, b"student,fault\n\0,x\n", b"ada\n", b""]
)
def test_a_spoilt_table_is_begun_anew(tmp_path, spoilt):
    path = noted(tmp_path).path
    path.write_bytes(spoilt)
    assert Timings.of(tmp_path, RNN).fault("bea") == ""
    noted(tmp_path)
    assert Timings.of(tmp_path, RNN).fault("bea") == "no kernel"


def test_a_log_file_gets_a_line_now_and_then(monkeypatch, capsys):
    monkeypatch.setattr(Lines, "EVERY", 0.0)
    with show_progress(RNN.folder) as progress:
        progress.begin(3)
        progress.done("ada", Outcome(b""))
        monkeypatch.setattr(Lines, "EVERY", 60.0)
        progress.done("bea", Outcome(b"", fault="no kernel"))
        monkeypatch.setattr(Lines, "EVERY", 0.0)
        progress.done("cleo", None)
    first, last = [line.partition(" ")[2] for line in capsys.readouterr().err.splitlines()]
    assert first == "03_rnn: 1 of 3 done" and last == "03_rnn: 3 of 3 done, 1 of them failed"
