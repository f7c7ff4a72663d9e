"""The page on large classes shows the numbers that were measured."""

from __future__ import annotations

import pytest

from website.architecture import PICTURES
from website.scale_curve import PAGE, draw, in_words, limit_of_workers, per_minute, read, table


def test_picture_and_table_are_made_of_the_measured_numbers() -> None:
    page = PAGE.read_text("utf-8")
    assert (PICTURES / "scale.svg").read_text("utf-8") == draw(), "the numbers have changed: run `make pictures`"
    assert table() in page and f"![{in_words(read())}](pictures/scale.svg)" in page


@pytest.mark.parametrize("line", read(), ids=lambda line: f"{line['workers']:.0f}")
def test_measured_classes_are_complete_and_no_faster_than_their_workers(line: dict[str, float]) -> None:
    assert line["graded"] == line["submissions"]
    assert per_minute(line) <= limit_of_workers(line)
