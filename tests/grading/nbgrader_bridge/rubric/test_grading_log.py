"""Who graded what, written by several graders at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from course.grading.nbgrader_bridge.rubric.grading_log import Answer, GradingLog, Save, add_save

ADA = Answer("06_self_attention", "ada", "self_attention_question")


def test_no_save_of_several_graders_is_lost(tmp_path: Path) -> None:
    def save(number: int) -> None:
        log = GradingLog(tmp_path)
        with log.writing() as connection:
            seen = len(log.saves(ADA))
            add_save(connection, ADA, Save(f"grader {number % 4}", float(seen), None, "Gut – ja.", ["first", "second"]))

    with ThreadPoolExecutor(4) as graders:
        list(graders.map(save, range(40)))
    saves = GradingLog(tmp_path).saves(ADA)
    assert [one.points for one in saves] == list(range(40)), "each saw all saves before its own"
    assert {one.grader for one in saves} == {f"grader {number}" for number in range(4)}
    assert saves[0].comment == "Gut – ja." and saves[0].criteria == ("first", "second")


def test_a_save_that_fails_leaves_nothing(tmp_path: Path) -> None:
    log = GradingLog(tmp_path)
    with pytest.raises(OSError, match="full"), log.writing() as connection:
        add_save(connection, ADA, Save("ann", 1.0, None, None))
        raise OSError("full")
    assert log.saves(ADA) == []
