"""How many right answers can be asked about, and how far one comes who reads the choices and no code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from course.syllabus import OURS
from tests.hidden.answers import answers
from tests.questions.measured import EXERCISES, Measured, enough_of_each_kind, guessed, measure, measure_all

SAMPLE = ("build_vocab", "lstm_cell", "scaled_dot_product_attention", "ssm_scan")


@pytest.mark.parametrize("exercise", SAMPLE)
def test_right_answers_can_be_asked_about(exercise: str) -> None:
    answer = answers("alternatives", EXERCISES[exercise], exercise)[0]
    found = measure(exercise, answer)
    assert len(found.questions) >= 3, found.why_none
    assert all(question.about == answer.__name__ for question in found.questions)


ELSEWHERE = """
from tests.questions.made_up import COUNT, COUNT_CALLS, SOFTMAX, SOFTMAX_CALLS, asked
print([question.to_plain() for pair in ((COUNT, COUNT_CALLS), (SOFTMAX, SOFTMAX_CALLS)) for question in asked(*pair)])
"""


def test_another_process_asks_the_same() -> None:
    said = {
        subprocess.run(
            [sys.executable, "-c", ELSEWHERE],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1 and "'key'" in said.pop()


@pytest.fixture(scope="module")
def found() -> list[Measured]:
    return list(measure_all(range(1, len(OURS) + 1)))


@pytest.mark.slow
def test_nearly_all_answers_can_be_asked_about_and_no_rule_guesses_the_key(found: list[Measured]) -> None:
    asked = [one for one in found if one.questions]
    assert len(asked) >= 0.93 * len(found), [(one.exercise, one.answer, one.why_none) for one in found if one.why_none]
    for kind, rules in guessed(enough_of_each_kind(asked)).items():
        assert max(rules.values()) <= 0.35, (kind, rules)


@pytest.mark.slow
def test_a_second_program_finds_the_same_keys(found: list[Measured], tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(f"{one.as_json()}\n" for one in found))
    command, environment = (sys.executable, "-m", "tests.questions.checked_again", path), {"PYTHONHASHSEED": "77"}
    ran = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    number, mistakes = re.findall(r"\d+", ran.stdout.splitlines()[-1])
    assert (int(number) > 1000, mistakes) == (True, "0"), ran.stdout[:4000] + ran.stderr[-2000:]
