"""What a notebook uses is looked at whatever it does, and charged to the cell that used it."""

from __future__ import annotations

import sys

import pytest

from course.grading.sandbox.confines import Allowance
from course.grading.warm import watch as watches
from course.grading.warm.watch import Watch

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="kernels are watched on Linux only")


def test_a_cell_does_not_pay_for_an_earlier_ones_process_that_ended(monkeypatch, tmp_path):
    """The time of an orphan is nobody's any more once it is gone: the sum that is looked at becomes less."""
    spent = 30.0
    monkeypatch.setattr(watches, "_cpu", lambda pids: spent)
    watch = Watch(Allowance(), str(tmp_path), lambda: [])
    watch.cell(60.0)
    assert watch.look() is None
    spent = 2.0
    watch.cell(5.0)
    assert watch.look() is None
    spent = 36.0
    excess = watch.look()
    assert excess is not None and (excess.what, excess.used) == ("cpu", 6.0)
