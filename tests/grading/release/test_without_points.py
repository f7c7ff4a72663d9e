"""Exercises without points in a notebook: optional, or taken out."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from course.grading.release.class_text import OPTIONAL, mark, needed_by, window, without


def cells() -> list[NotebookNode]:
    """Two exercises, of which the second uses the first, and a question."""

    def marked(cell: NotebookNode, name: str, solution: bool, grade: bool) -> NotebookNode:
        cell.metadata["nbgrader"] = {"grade_id": name, "solution": solution, "grade": grade}
        return cell

    return [
        new_markdown_cell("# Sums\n\nText.\n\n```python\n# no heading\n```\n\n## Exercise: `plus`\n\nAdd `a` and `b`."),
        marked(new_code_cell("def plus(a, b):\n    return a + b"), "plus-solution", True, False),
        marked(new_code_cell('check("plus", plus)'), "plus", False, True),
        new_markdown_cell("## Exercise: `twice`\n\nUse `plus`."),
        marked(new_code_cell("def twice(a):\n    return plus(a, a)"), "twice-solution", True, False),
        marked(new_code_cell('check("twice", twice)'), "twice", False, True),
        new_code_cell("plus(1, 2)"),
        new_markdown_cell("No heading here."),
        marked(new_markdown_cell("A model answer."), "sums_question", True, True),
        new_markdown_cell("## Going further"),
    ]


def sources(found: list[NotebookNode]) -> list[str]:
    return [cell.source for cell in found]


def test_what_is_taken_out_takes_the_text_that_asks_for_it():
    left = sources(without(cells(), {"plus", "twice"}))
    assert left[0] == "# Sums\n\nText.\n\n```python\n# no heading\n```"
    assert left[1:] == ["plus(1, 2)", "No heading here.", "A model answer.", "## Going further"]


def test_a_text_without_a_heading_stays():
    assert "No heading here." in sources(without(cells(), {"sums_question"}))
    assert "A model answer." not in sources(without(cells(), {"sums_question"}))


def test_a_question_takes_the_cell_that_asks_for_its_rubric():
    asked = [*cells(), new_code_cell('rubric("sums_question")'), new_code_cell('rubric("other_question")')]
    left = sources(without(asked, {"sums_question"}))
    assert left[-2:] == ["## Going further", 'rubric("other_question")']
    assert sources(without(asked, {"twice"}))[-2:] == ['rubric("sums_question")', 'rubric("other_question")']


def test_what_is_optional_says_so_in_its_heading():
    marked = cells()
    mark(marked, {"plus"}, OPTIONAL)
    assert marked[0].source.endswith(f"## Exercise: `plus`, {OPTIONAL}\n\nAdd `a` and `b`.")
    assert sources(marked[1:]) == sources(cells()[1:])
    mark(marked, {"sums_question"}, OPTIONAL)
    assert marked[7].source == "No heading here.\n\n*Optional (no points).*"


def test_a_window_is_told_in_the_zone_of_the_class():
    due = datetime(2027, 3, 28, 23, 59, tzinfo=ZoneInfo("Europe/Berlin"))
    opens = datetime(2027, 3, 1, 9, 0, tzinfo=due.tzinfo)
    assert window(opens, due) == (
        "*Opens on Monday, 01 March 2027, 09:00. Due on Sunday, 28 March 2027, 23:59 (Europe/Berlin).*"
    )
    assert window(opens, None) == "*Opens on Monday, 01 March 2027, 09:00 (Europe/Berlin).*"
    assert window(None, due.replace(tzinfo=UTC)) == "*Due on Sunday, 28 March 2027, 23:59 (UTC).*"
    assert window(None, None) == ""


def test_who_needs_what():
    assert list(needed_by(cells(), "plus")) == ["twice", "plus(1, 2)"]
    assert list(needed_by(cells(), "twice")) == [] and list(needed_by(cells(), "sums_question")) == []
