"""What `docs/lectures.md` says of each system that the lectures name is true of the notebooks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from course.grading.course_files.course_folder import source_path
from course.syllabus import OURS

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "lectures.md").read_text("utf-8")
BODY, _, REST = TEXT.partition("\n## Only mentioned\n")
MENTIONED, _, ABSENT = REST.partition("\n## Not in the course\n")
ROW = r"^\| (.+?) \| ([A-E](?:, [A-E])*) \| (\d\d(?:, \d\d)*) \|"
TAUGHT = re.findall(rf"{ROW} (`.+`) \|$", BODY, re.M)
NAME = r"\w*[A-Z][\w-]*[A-Z0-9][\w-]*"
"""A name that is no common word: two capitals, or a capital and a digit."""


def _notebook(number: str) -> str:
    (topic,) = (topic for topic in OURS if topic.number == int(number))
    return source_path(ROOT, topic).read_text("utf-8")


@pytest.mark.parametrize("row", TAUGHT, ids=lambda row: row[0])
def test_a_system_is_exercised_where_the_page_says(row: tuple[str, ...]) -> None:
    _system, _lectures, numbers, exercises = row
    at = {item.name: f"{topic.number:02d}" for topic in OURS for item in topic.items}
    named = re.findall(r"`(\w+)`", exercises)
    assert {name: at.get(name) for name in named if at.get(name) not in numbers.split(", ")} == {}
    assert {at[name] for name in named} == {*numbers.split(", ")}, "a topic has no exercise in its row"


def test_every_topic_is_there_and_no_row_is_passed_over() -> None:
    assert {f"{topic.number:02d}" for topic in OURS} <= {number for row in TAUGHT for number in row[2].split(", ")}
    tables = BODY.partition("\n## ")[2] + REST
    rows = [line for line in tables.splitlines() if re.match(r"\|(?! system|-)", line)]
    assert len(rows) == len(TAUGHT) + len(re.findall(rf"{ROW}$", REST, re.M))


@pytest.mark.parametrize("row", re.findall(rf"{ROW}$", MENTIONED, re.M), ids=lambda row: row[0])
def test_a_notebook_names_what_is_mentioned(row: tuple[str, ...]) -> None:
    system, _lectures, numbers = row
    assert [number for number in numbers.split(", ") if system not in _notebook(number)] == []


def test_what_is_not_in_the_course_is_named_in_no_notebook() -> None:
    taught = {name for row in TAUGHT for name in re.findall(NAME, row[0])}
    absent = {name for system, *_ in re.findall(rf"{ROW}$", ABSENT, re.M) for name in re.findall(NAME, system)}
    found = {
        f"{name} in {topic.number:02d}"
        for topic in OURS
        for name in sorted(absent - taught)
        if re.search(rf"(?<![\w-]){name}(?![\w-])", source_path(ROOT, topic).read_text("utf-8"))
    }
    assert len(absent) > 30 and found == set(), "move these rows to 'Only mentioned'"
