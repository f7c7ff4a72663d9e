"""Models that answer wrongly in ways that no misconception of `reasoning_task` knows by name."""

from __future__ import annotations

from course.data import calculator
from course.hidden.reasoning.reasoning_task import Pupil

always_zero = Pupil(lambda line: "=0")
never_ends = Pupil(lambda line: "=" * 30)
hands_the_line_back = Pupil(lambda line: "=" + line[:5])
without_a_sign = Pupil(lambda line: str(calculator.value(line)))

MUTANTS = [always_zero, never_ends, hands_the_line_back, without_a_sign]
