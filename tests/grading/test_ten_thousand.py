"""A class of ten thousand on a real Dask cluster whose workers replay results: memory stays what it is."""

from __future__ import annotations

import pytest

from bench import scale
from bench._recorded import record
from tests.original import find_topic

pytest.importorskip("distributed")

A_SUBMISSION = 0.012
"""Megabytes that the grader may keep of each: its verdicts wait for the summary."""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_class(tmp_path, monkeypatch):
    monkeypatch.setattr(scale, "EACH", 625)
    monkeypatch.setattr(scale, "MOST", 10_000)
    topic = find_topic("self_attention")
    measured = scale.measure(tmp_path, topic, 16, record(tmp_path / "recorded", topic), 0.5)
    print(measured)
    assert measured.graded == measured.submissions == 10_000
    assert measured.scheduler_late < 1.25 * measured.scheduler_early
    between = measured.submissions * 2 / 3  # the middles of the first third and of the last lie so far apart
    assert measured.client_late - measured.client_early < A_SUBMISSION * between
