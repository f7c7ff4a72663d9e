"""The bar of full marks in reports is the bar of a case, and every training task shows one."""

from __future__ import annotations

import pytest

from course.exercise.laws import LAWS
from course.syllabus import OURS
from tests.original import find

TASKS = [item.name for topic in OURS for item in topic.items if item.kind == "task"]


@pytest.mark.parametrize("name", TASKS)
def test_the_bar_of_full_marks_is_one_of_a_case(name: str) -> None:
    cases = find(name).cases()
    shown = [use for case in cases if case.public for use in case.laws if "full" in use.params]
    assert shown
    for use in shown:
        measure = LAWS[use.name].measure
        assert measure is not None
        alike = (other for case in cases for other in case.laws if other.name == use.name)
        assert use.params["full"] in [other.params[measure.bar] for other in alike]
