"""Which copy of a cell is graded, as students copy cells and paste whole notebooks below their own."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbgrader.utils import compute_checksum

from course.course import course_in
from course.grading.cells import grade_id
from course.grading.gradebook.released_notebook import ReleasedNotebook, read_released
from course.grading.intake.copied_cells import choose_by_marks, notes_on_copies
from course.grading.intake.untouched import checksum, is_untouched
from course.grading.nbgrader_bridge.config_file import load_config
from course.grading.nbgrader_bridge.sanitise import Repair
from course.grading.release.make_release import render
from course.grading.report import findings
from course.grading.self_study.grade_one import mark_exercises

from ..lesson import NAME, TOPIC, answers, find, make_course

MINE = "def softmax(x, dim):\n    return x.softmax(dim)"
QUESTION = "self_attention_question"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_course(tmp_path_factory.mktemp("class") / "course")


@pytest.fixture(scope="module")
def given(root: Path) -> NotebookNode:
    """The lesson as it is given out, with nbgrader's checksums."""
    return nbformat.read(render(course_in(root), TOPIC, root / "given"), as_version=4)


@pytest.fixture(scope="module")
def gradebook(root: Path) -> ReleasedNotebook:
    return read_released(load_config(root).CourseDirectory.db_url, NAME, NAME)


def solved_and(given: NotebookNode, *below: NotebookNode) -> NotebookNode:
    """The lesson with an answer and a text of the student's, and other cells pasted below."""
    nb = deepcopy(given)
    answers({"softmax": MINE})(nb)
    find(nb, QUESTION).source = "Because of the variance."
    for number, cell in enumerate(deepcopy(list(below))):
        cell.id = f"pasted-{number}"
        nb.cells.append(cell)
    return nb


def graded(nb: NotebookNode, gradebook: ReleasedNotebook) -> dict[str, int]:
    Repair().repair(nb, gradebook)
    return {grade_id(cell): index for index, cell in enumerate(nb.cells) if grade_id(cell)}


def test_the_checksum_is_nbgraders(given: NotebookNode) -> None:
    marked = [cell for cell in given.cells if grade_id(cell)]
    assert len(marked) == 10
    for cell in marked:
        assert is_untouched(cell) and checksum(cell, cell.source) == compute_checksum(cell), grade_id(cell)
    windows = {**find(given, QUESTION), "source": "YOUR ANSWER HERE\r\n"}
    assert is_untouched(windows) and not is_untouched({**windows, "source": "Because."})


def test_a_blank_notebook_pasted_below_solved_work_leaves_it_graded(
    given: NotebookNode, gradebook: ReleasedNotebook
) -> None:
    nb = solved_and(given, *given.cells)
    before = len(given.cells)
    chosen = choose_by_marks(nb.cells).graded
    place = graded(nb, gradebook)
    assert place == chosen, "the note tells what is graded"
    assert max(place[name] for name in ("softmax-solution", "softmax", QUESTION)) < before
    stubs = [cell for cell in nb.cells[before:] if cell.cell_type == "code" and "def softmax" in cell.source]
    assert stubs == [], "run below the answer, the stub would take its place"
    (shown,) = [cell for cell in nb.cells[before:] if "def softmax" in cell.source]
    assert shown.cell_type == "markdown" and "was not run" in shown.source
    nbformat.validate(nb)


def test_the_rest_is_answered_in_the_pasted_notebook(given: NotebookNode, gradebook: ReleasedNotebook) -> None:
    second = deepcopy(given)
    answers({"attention_cost": "def attention_cost(n, d):\n    return {}"})(second)
    nb = solved_and(given, *second.cells)
    place, before = graded(nb, gradebook), len(given.cells)
    assert place["softmax"] < before <= min(place["attention_cost-solution"], place["attention_cost"])


@pytest.mark.parametrize(
    ("sources", "counts"),
    [
        ((MINE, None), 0),
        ((None, MINE), 1),
        ((MINE, "def softmax(x, dim):\n    return x"), 1),
        ((MINE, "  "), 0),
        ((None, None), 1),
    ],
    ids=["blank below", "blank above", "two answers", "emptied below", "both blank"],
)
def test_of_two_copies(sources, counts: int, given: NotebookNode, gradebook: ReleasedNotebook) -> None:
    nb = deepcopy(given)
    first = find(nb, "softmax-solution")
    copy = deepcopy(first)
    copy.id = "copy"
    for cell, source in zip((first, copy), sources, strict=True):
        cell.source = source or cell.source
    at = nb.cells.index(first)
    nb.cells.insert(at + 1, copy)
    assert graded(nb, gradebook)["softmax-solution"] == at + counts


def test_a_copy_of_an_earlier_release_is_blank_too(given: NotebookNode, gradebook: ReleasedNotebook) -> None:
    """Its text is no longer the gradebook's, and its checksum still says that nobody wrote in it."""
    old = find(deepcopy(given), QUESTION)
    old.source = "Write here."
    old.metadata.nbgrader.checksum = compute_checksum(old)
    nb = solved_and(given, old)
    assert graded(nb, gradebook)[QUESTION] < len(given.cells)


def test_the_note_names_the_cells_that_count(given: NotebookNode) -> None:
    nb = solved_and(given, find(given, "softmax-solution"), find(given, "softmax"))
    at = nb.cells.index(find(nb, "softmax-solution")) + 1
    told = f"cells were copied, and the last changed copy of each is graded: softmax-solution (cell {at})"
    assert list(notes_on_copies(nb.cells)) == [told]
    assert list(notes_on_copies(given.cells)) == []
    (blank,) = notes_on_copies([*given.cells, find(given, QUESTION)])
    assert blank.endswith(f"the last copy of each is graded: {QUESTION} (cell {len(given.cells) + 1})")


def test_one_notebook_alone_and_the_report_read_the_same_copies(given: NotebookNode) -> None:
    nb = solved_and(given, *given.cells)
    assert findings.answers_of(nb, None, frozenset())["softmax"] == MINE
    last = len(given.cells)
    mark_exercises(nb, TOPIC)
    answer, check = (index for index, cell in enumerate(nb.cells) if grade_id(cell) in ("softmax-solution", "softmax"))
    assert answer < check < last
    assert not [cell for cell in nb.cells[last:] if cell.cell_type == "code" and "def softmax" in cell.source]
