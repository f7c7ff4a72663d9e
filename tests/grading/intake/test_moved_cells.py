"""Cells that were moved: a check is judged below the cell that defines what it needs, wherever that is."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from course.course import course_in
from course.grading.authoring.source import build
from course.grading.cells import grade_id, notebook_bytes, read_notebook
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.grade_class import grade_class
from course.grading.classroom.graded import Graded
from course.grading.classroom.make_task import make_task
from course.grading.classroom.summary import notes
from course.grading.classroom.write_feedback import Feedback
from course.grading.course_folder import released_at
from course.grading.execution.task import Task
from course.grading.intake.grader_notes import as_handed_in, is_note, notes_in
from course.grading.intake.moved_cells import find_late, in_order
from course.grading.intake.submit import gaps
from course.grading.release.make_release import render
from course.grading.self_study.grade_one import Marked, mark_exercises
from course.syllabus import OURS, Topic
from tests.original import ORIGINAL

from ..lesson import NAME, TOPIC, answers, before, find, hand_in, make_course
from .test_locked_cells import ALL, FULL, HELPER, OTHERS, SOFTMAX, USING_A_HELPER, points

Edit = Callable[[NotebookNode], None]
REPOSITORY = Path(__file__).parents[3]


def code(source: str) -> NotebookNode:
    return new_code_cell(source)


def answer(source: str, name: str) -> NotebookNode:
    return new_code_cell(source, metadata={"nbgrader": {"grade_id": f"{name}-solution", "solution": True}})


def check(name: str, what: str = "") -> NotebookNode:
    marks = {"grade_id": name, "grade": True, "solution": False, "locked": True, "points": 1}
    return new_code_cell(f"check({name!r}, {what or name})", metadata={"nbgrader": marks})


STUB = answer("def f(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()", "f")
IMPORT = code("from course import check, fit")


@pytest.mark.parametrize(
    ("cells", "order"),
    [
        ([answer("def f(x): return x", "f"), check("f")], [0, 1]),
        ([check("f"), answer("def f(x): return x", "f")], [1, 0]),
        ([check("f"), code("x = 1"), answer("def f(x): return x", "f"), code("f(x)")], [1, 2, 0, 3]),
        ([STUB, check("f"), code("def f(x): return x")], [0, 2, 1]),
        ([STUB, check("f"), code("x = 2")], [0, 1, 2]),
        ([answer("def f(x): return g(x)", "f"), check("f"), code("def g(x): return x")], [0, 2, 1]),
        ([answer("def f(x): return g(x)", "f"), check("f"), code("g = h"), code("h = abs")], [0, 3, 2, 1]),
        ([code("r = fit('t', M)"), check("t", "r.model"), answer("class M: pass", "t")], [2, 0, 1]),
        (
            [answer("class M(B): pass", "t"), code("r = fit('t', M)"), check("t", "r.model"), code("class B: pass")],
            [3, 0, 1, 2],
        ),
        ([answer("def f(x): return np.abs(x)", "f"), check("f"), code("import numpy as np")], [0, 2, 1]),
        ([answer("def f(x): return sum(x)", "f"), check("f"), code("sum = 3")], [0, 1, 2]),
        ([answer("class F:\n    def x(self): return 1", "F"), check("F"), code("x = 3")], [0, 1, 2]),
        ([answer("def f(x): return [y for y in x]", "f"), check("f"), code("y = 3")], [0, 1, 2]),
        ([code("from a import *"), answer("def f(x): return g(x)", "f"), check("f"), code("g = 3")], [0, 1, 2, 3]),
        ([code("%run a.py"), answer("def f(x): return g(x)", "f"), check("f"), code("g = 3")], [0, 1, 2, 3]),
        ([code("exec('g = 1')"), answer("def f(x): return g(x)", "f"), check("f"), code("g = 3")], [0, 1, 2, 3]),
        ([code("%matplotlib inline"), check("f"), answer("def f(x): return x", "f")], [0, 2, 1]),
        ([code("b = a"), check("f", "b"), code("a = c"), code("c = b")], [0, 1, 2, 3]),
        ([code("f(3)"), check("f"), answer("def f(x): return x", "f")], [0, 2, 1]),
        ([check("f"), code("f = = 3")], [0, 1]),
    ],
    ids=[
        "in order",
        "answer below its check",
        "further down",
        "own cell below an untouched stub",
        "nothing written",
        "helper below",
        "what a helper needs is below, too",
        "fit above its classes",
        "base class at the end",
        "import at the end",
        "a builtin's name",
        "a method's name",
        "a comprehension's name",
        "import of everything",
        "code from a file",
        "exec",
        "a magic above",
        "cells that need one another",
        "what no check needs stays",
        "no Python",
    ],
)
def test_where_a_check_is_judged(cells: list[NotebookNode], order: list[int]) -> None:
    sources = [cell.source for cell in [IMPORT, *cells]]
    ordered = [cell["source"] for cell in in_order([IMPORT, *cells]) if cell["source"] in sources]
    assert ordered == [IMPORT.source, *(cells[index].source for index in order)]


def test_a_given_definition_is_nobodys_answer() -> None:
    """An instructor may give a solution further down, for those who found none."""
    cells = [IMPORT, STUB, check("f"), code("def f(x): return x")]
    assert find_late(cells) and not find_late(cells, given={cells[-1].source})
    del cells[1]
    assert not find_late(cells, given={cells[-1].source}), "an answer's cell may be gone"
    own = [IMPORT, check("test"), code("def g(): return 1")]
    own[1].source = "assert g() == 1"
    assert find_late(own, {own[-1].source}) and not find_late(own, {own[-1].source}, answers={"g"})


@pytest.mark.parametrize("topic", OURS, ids=lambda topic: topic.name)
def test_our_own_notebooks_stay_as_they_are(topic: Topic) -> None:
    """Blank as they are given out, and solved."""
    source = REPOSITORY / "solutions" / f"{topic.folder}.py"
    assert find_late(nbformat.read(REPOSITORY / released_at(topic), as_version=4).cells) == []
    assert find_late(build(ORIGINAL, source, topic).cells) == []


# -- a class -----------------------------------------------------------------------------------------------------------


def moved(name: str, above: str = "") -> Edit:
    """Drag a cell to another one, or to the end."""

    def edit(nb: NotebookNode) -> None:
        cell = find(nb, name)
        nb.cells.remove(cell)
        nb.cells.insert(nb.cells.index(find(nb, above)) if above else len(nb.cells), cell)

    return edit


def at_the_end(source: str) -> Edit:
    return lambda nb: nb.cells.append(new_code_cell(source))


def imports_at_the_end(nb: NotebookNode) -> None:
    nb.cells.append(nb.cells.pop(next(i for i, cell in enumerate(nb.cells) if "import torch" in cell.source)))


CHAIN = "def crossover_length(d):\n    return RATIO * d"

CLASS: dict[str, list[Edit]] = {
    "plain": [answers(ALL)],
    "below": [answers(ALL), moved("softmax", above="softmax-solution")],
    "at the end": [answers(ALL), moved("softmax-solution")],
    "own cell": [answers(OTHERS), at_the_end(SOFTMAX)],
    "helper": [answers({**ALL, "softmax": USING_A_HELPER}), at_the_end(HELPER)],
    "imports": [answers(ALL), imports_at_the_end],
    "chain": [
        answers({**ALL, "crossover_length": CHAIN}),
        before("crossover_length", "RATIO = ratio()"),
        at_the_end("def ratio():\n    return 2.0"),
    ],
    "for own test": [answers(ALL), moved("attention_cost-solution")],
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_course(tmp_path_factory.mktemp("class") / "course")


@pytest.fixture(scope="module")
def given(root: Path) -> NotebookNode:
    return nbformat.read(render(course_in(root), TOPIC, root / "given"), as_version=4)


@pytest.fixture(scope="module")
def graded(root: Path, given: NotebookNode) -> dict[str, Graded]:
    for student, edits in CLASS.items():
        hand_in(root, student, deepcopy(given), *edits)
    return {work.student: work for work in grade_class(Classroom(course_in(root), TOPIC, {"timeout": 20}), workers=2)}


@pytest.mark.parametrize("student", CLASS)
def test_a_moved_cell_costs_no_points(student: str, graded: dict[str, Graded]) -> None:
    assert points(graded[student]) == FULL


@pytest.mark.parametrize(
    ("student", "told"),
    [
        ("below", "the check of softmax (cell 5) needs softmax, which cell 6 (`def softmax(x, dim):"),
        (
            "at the end",
            "the check of softmax (cell 5) and the check of attention_for_one (cell 13) need softmax, which",
        ),
        ("own cell", "the check of softmax (cell 6) and the check of attention_for_one (cell 14) need softmax, which"),
        ("helper", "the check of softmax (cell 6) and the check of attention_for_one (cell 14) need shifted_powers, "),
        ("imports", "the check of attention_for_one (cell 13) needs math, which cell 18 (`import math import torch"),
        ("chain", "cell 11 and the check of crossover_length (cell 12) need "),
        ("for own test", "the check of attention_cost (cell 8) and the check of usual (cell 17) need attention_cost, "),
    ],
)
def test_the_place_is_named(student: str, told: str, graded: dict[str, Graded], given: NotebookNode, tmp_path) -> None:
    work = graded[student]
    (note,) = work.notes
    assert note.startswith(told) and note.endswith(" run after that") and f"{student}: {note}" in notes([work])
    nb = deepcopy(given)
    for edit in CLASS[student]:
        edit(nb)
    (gap,) = [gap for gap in gaps(nb.cells, TOPIC, tmp_path) if " defines below " in gap]
    assert gap.startswith(told) and gap.endswith(" up"), "course submit says it beforehand"


def test_who_moved_nothing_hears_nothing(graded: dict[str, Graded]) -> None:
    assert graded["plain"].notes == ()


def test_the_page_of_feedback_names_it(graded: dict[str, Graded], root: Path) -> None:
    assert Feedback(root, NAME).write(["below"], workers=1) == {}
    page = (root / "feedback" / "below" / NAME / f"{NAME}.html").read_text()
    assert page.count("needs softmax, which cell 6") == 2, "at the top, and where the check is judged"


def test_the_work_is_the_same_as_before_cells_were_put_in_order(graded: dict[str, Graded], root: Path) -> None:
    """Points that were given by hand before stay."""
    classroom = Classroom(course_in(root), TOPIC, {"timeout": 20})
    task = make_task(classroom, "at the end", classroom.submitted("at the end"))
    nb = read_notebook(task.notebook)
    own, added = as_handed_in(nb.cells)
    submitted = nbformat.read(classroom.submitted("at the end") / f"{NAME}.ipynb", as_version=4)
    assert [grade_id(cell) for cell in own] == [grade_id(cell) for cell in submitted.cells]
    assert [grade_id(cell) for cell in nb.cells] != [grade_id(cell) for cell in submitted.cells]
    assert added == [cell.source for cell in nb.cells if is_note(cell)]
    nb.cells = nbformat.from_dict(own)
    assert task.is_of(Task("", notebook_bytes(nb), task.files).submission())


def test_one_notebook_alone_is_put_in_order_too(given: NotebookNode) -> None:
    nb = deepcopy(given)
    for edit in CLASS["at the end"]:
        edit(nb)
    mark_exercises(nb, TOPIC)
    cells = in_order(nb.cells)
    ordered = [cell["source"] for cell in cells]
    assert ordered.index('check("softmax", softmax)') > ordered.index(SOFTMAX)
    (note,) = notes_in(cells)
    assert f"Note: {note}." in Marked(TOPIC, (), 1.0, (note,)).text()
