"""Answers in cells of the student's own: a text below the untouched question, code above the untouched stub."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell

from course.course import course_in
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.grade_class import grade_class
from course.grading.classroom.graded import Graded
from course.grading.classroom.summary import notes, table
from course.grading.course_folder import notebook_path
from course.grading.intake.answers_elsewhere import cells_beside, note_on, shadowed
from course.grading.intake.copied_cells import show_only
from course.grading.report import findings

from ..lesson import NAME, TOPIC, answers, find, hand_in, make_course

QUESTION = "self_attention_question"
TEXT = "Because the variance of a scalar product grows with the width of the vectors."
BLANK = {"nbgrader": {"grade": True, "grade_id": QUESTION, "points": 2, "solution": True}}
CHECK = {"nbgrader": {"grade": True, "grade_id": "softmax", "points": 2, "solution": False}}
SOFTMAX = (
    "def softmax(x, dim):\n    powers = (x - x.amax(dim, keepdim=True)).exp()\n"
    "    return powers / powers.sum(dim, keepdim=True)"
)
STUB = "def softmax(x, dim):\n    raise NotImplementedError()"


def beside(*around: NotebookNode, given: frozenset[str] = frozenset()) -> list[int]:
    """The cells found beside an untouched question that stands between a check and these."""
    cells = [new_code_cell("check()", metadata=CHECK), new_markdown_cell("Why?")]
    cells += [new_markdown_cell("YOUR ANSWER HERE", metadata=BLANK), *around]
    return cells_beside(cells, 2, given | {"Why?"})


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        ([new_markdown_cell(TEXT)], [3]),
        ([new_raw_cell(TEXT)], [3]),
        ([new_code_cell(TEXT)], [3]),
        ([new_code_cell(f"# {TEXT}")], [3]),
        ([new_code_cell(f'"""{TEXT}"""')], [3]),
        ([new_markdown_cell("Given."), new_markdown_cell(TEXT)], [4]),
        ([new_markdown_cell("Given.\n")], []),
        ([new_markdown_cell("  ")], []),
        ([new_markdown_cell("YOUR ANSWER HERE")], []),
        ([new_code_cell("x = 1"), new_code_cell("%time f()"), new_code_cell("")], []),
        ([new_code_cell("check()", metadata=CHECK), new_markdown_cell(TEXT)], []),
    ],
)
def test_new_text_beside_a_question(cells: list[NotebookNode], found: list[int]) -> None:
    assert beside(*cells, given=frozenset({"Given."})) == found


def test_text_above_the_question_counts_and_a_blank_copy_does_not() -> None:
    stub = new_code_cell(STUB)
    show_only(stub)
    cells = [stub, new_markdown_cell("Why? Because."), new_markdown_cell("YOUR ANSWER HERE", metadata=BLANK)]
    assert cells_beside(cells, 2, {"Why?"}) == [1]


def test_code_beside_an_answer_in_code_that_a_person_reads() -> None:
    cells = [new_code_cell("raise NotImplementedError()", metadata=BLANK), new_code_cell("x = 1")]
    assert cells_beside(cells, 0, set()) == [1]


def test_the_note_is_one_line_however_long_the_text_is() -> None:
    told = note_on([new_markdown_cell("One\ntwo " + "three " * 99)], [0])
    assert told.isprintable() and len(told) < 160 and "cell 1 ('One two three" in told


def test_an_untouched_stub_that_replaces_an_answer_above_it_is_told() -> None:
    marks = {"nbgrader": {"grade_id": "softmax-solution", "solution": True}}
    stub, mine = new_code_cell(STUB, metadata=deepcopy(marks)), new_code_cell("def softmax(x, dim):\n    return x")
    stub.metadata.nbgrader.checksum = _checksum(stub)
    told = "cell 1 defines softmax, but the untouched cell 2 below it defines softmax again and replaces it"
    assert list(shadowed([mine, stub])) == [told]
    assert list(shadowed([stub, mine])) == [], "the answer runs last, and counts"
    answered = new_code_cell("def softmax(x, dim):\n    return x + 0", metadata=stub.metadata)
    assert list(shadowed([mine, answered])) == [] == list(shadowed([answered, mine, stub])), "a blank copy does not run"


def _checksum(cell: NotebookNode) -> str:
    from nbgrader.utils import compute_checksum

    return compute_checksum(cell)


# -- a class -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with a text below the question that depends on the topics of the class."""
    root = make_course(tmp_path_factory.mktemp("class") / "course")
    nb = nbformat.read(notebook_path(root, TOPIC), as_version=4)
    _below_the_question("> <!-- without: 99_none -->\n> Given to this class.")(nb)
    nbformat.write(nb, notebook_path(root, TOPIC))
    return root


@pytest.fixture(scope="module")
def graded(root: Path) -> dict[str, Graded]:
    """Ada answers in a cell of her own, Bob nowhere, Cy above a blank notebook that he pasted below.

    `EMPTIED` deleted the text of the question, and all but the last two wrote nothing in its place.
    Beside the question, the release has a text that its source does not have.
    """
    from course.grading.release.make_release import render

    given = nbformat.read(render(course_in(root), TOPIC, root / "given"), as_version=4)
    assert "> Given to this class." in [cell.source for cell in given.cells]
    given.cells.insert(given.cells.index(find(given, QUESTION)) + 1, new_markdown_cell("What the release makes of it."))
    released = root / "assignments" / NAME / f"{NAME}.ipynb"
    released.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(given, released)
    hand_in(root, "ada", deepcopy(given), _below_the_question(TEXT))
    hand_in(root, "bob", deepcopy(given))
    hand_in(root, "cy", deepcopy(given), answers({"softmax": SOFTMAX}), _pasted)
    for student, text in EMPTIED.items():
        nb = deepcopy(given)
        find(nb, QUESTION).source = find(nb, QUESTION).source + "\n \n" if text is None else text
        hand_in(root, student, nb, *MORE.get(student, ()))
    return {work.student: work for work in grade_class(Classroom(course_in(root), TOPIC, {"timeout": 20}), workers=2)}


EMPTIED = {"dan": "", "eve": " \n\n", "fay": None, "gus": "", "hal": ""}
"""What their question's cell holds; None is the text that was released, with blanks below it."""


def _below_the_question(text: str):
    def edit(nb: NotebookNode) -> None:
        nb.cells.insert(nb.cells.index(find(nb, QUESTION)) + 1, new_markdown_cell(text))

    return edit


def _with_a_picture(nb: NotebookNode) -> None:
    find(nb, QUESTION).attachments = {"sketch.png": {"image/png": "iVBORw0KGgo="}}


MORE = {"gus": (_with_a_picture,), "hal": (_below_the_question(TEXT),)}
"""Where an answer of those who emptied the cell may be all the same."""


def _pasted(nb: NotebookNode) -> None:
    blank = deepcopy(nb.cells)
    for number, cell in enumerate(blank):
        cell.id = f"pasted-{number}"
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "softmax-solution":
            cell.source = STUB
            cell.metadata.nbgrader.checksum = _checksum(cell)
    nb.cells += blank


def test_an_answer_in_a_cell_of_its_own_waits_for_a_person(root: Path, graded: dict[str, Graded]) -> None:
    from nbgrader.api import Gradebook

    ada = graded["ada"]
    assert ada.scores is not None and ada.scores.cells[QUESTION] is None
    (note,) = ada.notes
    assert note.startswith(f"{QUESTION}: The cell for the answer is untouched, but cell ") and TEXT[:30] in note
    assert f"ada: {note}" in notes([ada]) and "–" in table(TOPIC, [ada])[1][0]
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        assert book.find_grade(QUESTION, NAME, NAME, "ada").needs_manual_grade, "formgrader lists it"
        assert book.find_comment(QUESTION, NAME, NAME, "ada").auto_comment in note, "and says where to look"
        assert not book.find_grade(QUESTION, NAME, NAME, "bob").needs_manual_grade
        assert book.find_comment(QUESTION, NAME, NAME, "bob").auto_comment == "No response."
    (row,) = [work for work in findings.collect(Classroom(course_in(root), TOPIC)).graded if work.student == "ada"]
    assert row.notes == (note,), "the report says it, too"


def test_nobody_waits_who_wrote_nothing(graded: dict[str, Graded]) -> None:
    bob = graded["bob"]
    assert bob.scores is not None and bob.scores.cells[QUESTION] == 0.0 and bob.notes == ()


def test_a_blank_notebook_below_takes_no_points(graded: dict[str, Graded]) -> None:
    cy = graded["cy"]
    assert cy.scores is not None and cy.scores.cells["softmax"] == cy.scores.maxima["softmax"]
    (note,) = cy.notes
    assert note.startswith("cells were copied, and the last changed copy of each is graded: softmax-solution (cell ")


@pytest.mark.parametrize("student", EMPTIED)
def test_an_emptied_question_has_a_zero_unless_an_answer_may_be_there(
    student: str, root: Path, graded: dict[str, Graded]
) -> None:
    from nbgrader.api import Gradebook

    waits, scores = student in MORE, graded[student].scores
    assert scores is not None and scores.cells[QUESTION] == (None if waits else 0.0)
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        assert book.find_grade(QUESTION, NAME, NAME, student).needs_manual_grade == waits
        said = book.find_comment(QUESTION, NAME, NAME, student).auto_comment
    assert (said == "No response.") != waits and ("beside it is new" in (said or "")) == (student == "hal")
