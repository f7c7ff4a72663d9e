"""Cells that only show something are left out of grading, and nothing that graded work could depend on."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course.grading.needless import needless
from course.grading.notebooks import build, source_path
from course.grading.preprocessors import plain_sources
from course.syllabus import TOPICS

ROOT = Path(__file__).parents[2]

SOLUTION = "def softmax(x, dim):\n    x = x - shift\n    return x.exp() / x.exp().sum(dim, keepdim=True)"


def notebook(*plain: str, solution: str = SOLUTION) -> nbformat.NotebookNode:
    marked = new_code_cell(solution, metadata={"nbgrader": {"grade_id": "softmax-solution", "solution": True}})
    graded = new_code_cell("check('softmax', softmax)", metadata={"nbgrader": {"grade_id": "softmax", "grade": True}})
    return new_notebook(cells=[new_markdown_cell("# Title"), *map(new_code_cell, plain), marked, graded])


def left_out(*plain: str, solution: str = SOLUTION, given: set[str] | None = None) -> list[str]:
    nb = notebook(*plain, solution=solution)
    return [nb.cells[index].source for index in needless(nb, set(plain) if given is None else given)]


@pytest.mark.parametrize(
    "cell",
    [
        "show.rnn.curve(softmax)",
        "x = torch.ones(3)\nplt.plot(x)",
        "for n in range(9):\n    print(softmax(torch.ones(n), 0))",
        "other = [x for shift in range(3)]",
        "def shifted(shift):\n    return shift",
        "seed(3)\nmodel = nn.Linear(3, 3)\nmodel.requires_grad_(False)",
    ],
)
def test_what_only_shows_something_is_left_out(cell):
    assert left_out(cell) == [cell]


@pytest.mark.parametrize(
    "cell",
    [
        "shift = 3",
        "shift, other = 3, 4",
        "for shift in range(3):\n    pass",
        "with open('f') as shift:\n    pass",
        "def shift():\n    pass",
        "shift.data = 0",
        "shift[0] = 1",
        "shift.fill_(0)",
        "torch.nn.init.zeros_(shift)",
        "(shift := 3)",
        "if True:\n    del shift",
        "import shift",
        "from course import show",
        "torch.set_default_dtype(torch.float64)",
    ],
)
def test_what_graded_work_depends_on_runs(cell):
    assert left_out(cell) == []


def test_dependence_passes_through_other_cells():
    chain = ("start = 1", "middle = start + 1", "shift = middle", "plot = start")
    assert left_out(*chain) == ["plot = start"]


def test_students_own_and_changed_cells_run():
    assert left_out("print(1)", "print(2)", given={"print(2)"}) == ["print(2)"]


def test_what_students_own_cells_need_runs():
    assert left_out("table = 1", "print(table)", given={"table = 1"}) == []


@pytest.mark.parametrize("way", ["globals()['table']", "eval('table')", "get_ipython().user_ns", "In[1]", "%run x"])
def test_names_reached_in_other_ways_make_everything_run(way):
    assert left_out("table = 1", solution=f"shift = 0\n{way}") == []


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.folder)
def test_every_notebook_of_the_course_leaves_some_of_its_showing_out(topic, tmp_path):
    nb = build(source_path(ROOT, topic), topic)
    path = tmp_path / "nb.ipynb"
    nbformat.write(nb, path)
    given = plain_sources(path, 0)
    out = needless(nb, given)
    assert len(out) > len(given) / 5
    sources = [nb.cells[index].source for index in out]
    assert not any("import " in source.splitlines()[0] for source in sources)
    assert all(nb.cells[index].cell_type == "code" and "nbgrader" not in nb.cells[index].metadata for index in out)
