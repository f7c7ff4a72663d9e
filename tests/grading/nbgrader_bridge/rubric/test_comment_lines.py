"""Criteria in a comment, and their sum: what a grader typed stays, byte for byte."""

from __future__ import annotations

from itertools import permutations

import pytest

from course.grading.nbgrader_bridge.rubric.comment_lines import (
    renewed,
    taken_in,
    typed_in,
    with_criterion,
    without_criterion,
)
from course.grading.nbgrader_bridge.rubric.points import points_of, starts_full
from course.outline import Criterion

SCALE, SOFTMAX, MIXED = Criterion("Names (the) scale.", 0.75), Criterion("Softmax", 1.0), Criterion("Mixed up", -0.5)
ALL, HALF, NONE = (Criterion(text, points, "Proof") for text, points in (("all", 1), ("half", 0.5), ("none", 0)))
RUBRIC = (SCALE, SOFTMAX, ALL, HALF, NONE, MIXED)
TYPED = ["", "Nice.", "\nBegins with an empty line", "Two\n\nparagraphs\n", "- a list\n- of mine", "Softmax (+1)"]


@pytest.mark.parametrize("typed", TYPED)
@pytest.mark.parametrize("order", list(permutations((SCALE, SOFTMAX, MIXED))))
def test_criteria_come_on_lines_of_their_own_and_go_without_a_trace(typed: str, order: tuple[Criterion, ...]) -> None:
    comment = typed
    for criterion in order:
        comment = with_criterion(comment, RUBRIC, criterion)
    lines = ["- Names (the) scale. (+0.75)", "- Softmax (+1)", "- Mixed up (−0.5)"]
    assert comment == "\n".join([*lines, *(["", typed] if typed else [])])
    assert taken_in(comment, RUBRIC) == [SCALE, SOFTMAX, MIXED]
    for criterion in order:
        comment = without_criterion(comment, RUBRIC, criterion)
    assert comment == typed


def test_of_a_group_one_criterion_is_taken() -> None:
    comment = with_criterion(with_criterion("- mine", RUBRIC, SOFTMAX), RUBRIC, ALL)
    assert with_criterion(comment, RUBRIC, NONE) == "- Softmax (+1)\n- Proof: none\n\n- mine"


def test_text_that_was_typed_around_a_line_stays() -> None:
    comment = "Before\n- Softmax (+1)\n\n\nafter"
    assert without_criterion(comment, RUBRIC, SOFTMAX) == "Before\n\n\nafter"
    assert with_criterion(comment, RUBRIC, SCALE) == "Before\n- Names (the) scale. (+0.75)\n- Softmax (+1)\n\n\nafter"


def test_a_criterion_is_known_by_its_text_when_its_points_changed() -> None:
    before = "- Softmax (+0.25)\r\n- Proof: half (−2)\n\nSoftmax is fine."
    assert taken_in(before, RUBRIC) == [SOFTMAX, HALF]
    assert renewed(before, RUBRIC) == "- Softmax (+1)\n- Proof: half (+0.5)\n\nSoftmax is fine."


def test_what_was_typed_is_found_by_paragraphs() -> None:
    comment = "- Softmax (+1)\n- What the rubric said once (+0.5)\n\nRead  it again.\n\n\nTwo\nlines.\n\nTwo\nlines.\n"
    assert typed_in(comment, RUBRIC) == ["Read  it again.", "Two\nlines."]


@pytest.mark.parametrize(
    ("taken", "points"),
    [([], 0), ([SCALE], 0.75), ([SCALE, SOFTMAX, MIXED], 1.25), ([SCALE, SOFTMAX, ALL], 2), ([MIXED], 0), ([NONE], 0)],
)
def test_points_add_up_between_nothing_and_the_maximum(taken: list[Criterion], points: float) -> None:
    assert not starts_full(RUBRIC) and points_of(RUBRIC, taken, 2.0) == points


@pytest.mark.parametrize(("taken", "points"), [([], 2), ([0], 1.5), ([0, 1], 0), ([2], 2), ([0, 1, 2], 0)])
def test_deductions_are_from_full_points(taken: list[int], points: float) -> None:
    rubric = Criterion("a", -0.5), Criterion("b", -1.75), Criterion("Nice.", 0)
    assert starts_full(rubric) and points_of(rubric, [rubric[n] for n in taken], 2.0) == points
