"""What everything took is kept in a table, and a table that is spoilt costs nobody anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from course.grading.classroom.timings import Timings
from course.grading.execution.task import Outcome
from course.syllabus import find_topic

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
