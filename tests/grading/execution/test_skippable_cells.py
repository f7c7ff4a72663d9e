"""Cells that only show something are left out of grading, and nothing that graded work could depend on."""

from __future__ import annotations

import ast
import contextlib
import io
from pathlib import Path

import hypothesis
import nbformat
import pytest
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course.grading.course_files.course_folder import source_path
from course.grading.execution.skippable_cells import skippable, unsure
from course.grading.nbgrader_bridge.autograde_steps import plain_sources
from course.grading.release.source import build
from course.syllabus import OURS
from tests.original import ORIGINAL

ROOT = Path(__file__).parents[3]

SOLUTION = "def softmax(x, dim):\n    x = x - shift\n    return x.exp() / x.exp().sum(dim, keepdim=True)"


def notebook(*plain: str, solution: str = SOLUTION) -> nbformat.NotebookNode:
    marked = new_code_cell(solution, metadata={"nbgrader": {"grade_id": "softmax-solution", "solution": True}})
    graded = new_code_cell("check('softmax', softmax)", metadata={"nbgrader": {"grade_id": "softmax", "grade": True}})
    return new_notebook(cells=[new_markdown_cell("# Title"), *map(new_code_cell, plain), marked, graded])


def plain(*cells: str) -> nbformat.NotebookNode:
    return new_notebook(cells=[new_code_cell(cell) for cell in cells])


def left_out(*plain: str, solution: str = SOLUTION, given: set[str] | None = None) -> list[str]:
    nb = notebook(*plain, solution=solution)
    return [nb.cells[index].source for index in skippable(nb, set(plain) if given is None else given)]


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
    ("taken", "out"),
    [
        ("total = sum([shift for shift in range(3)])", True),
        ("table = {shift: [shift for shift in range(2)] for shift in 'ab'}", True),
        ("total = sum([shift for shift in shift])", False),
        ("total = sum([n for n in range(3) if n < shift])", False),
        ("total = [shift for shift in range(3)] + [shift]", False),
        ("total = [shift for shift in range(3)] + [n for n in range(3) if n < shift]", False),
        ("total = [[shift for shift in range(n)] for n in range(3) if n < shift]", False),
    ],
)
def test_a_comprehension_has_variables_of_its_own(taken, out):
    nb = notebook("shift = slow()", solution=f"{taken}\ndef softmax(x, dim):\n    return total")
    assert skippable(nb, {"shift = slow()"}) == ((1,) if out else ())


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


def test_what_is_bound_only_after_its_last_use_is_left_out():
    assert skippable(plain("a = 1", "b = a", "a = 3", "print(b)"), {"a = 1", "a = 3", "b = a"}) == (2,)


def test_a_function_needs_what_is_bound_after_it():
    cells = ("def f():\n    return a", "a = 3", "b = 3", "print(f())")
    assert skippable(plain(*cells), set(cells[:3])) == (2,)


@pytest.mark.parametrize(
    "change",
    [
        "train(model)",
        "train(models=[model])",
        "model.load_state_dict(weights)",
        "model.bias.data.zero_()",
        "model[0] = 3",
        "model.bias = 3",
        "model += 1",
        "[p.zero_() for p in model.parameters()]",
        "for p in model.parameters():\n    p.zero_()",
        "for block in model.blocks:\n    for p in block.parameters():\n        p.zero_()",
        "initialise(model.parameters())",
        "@model.register\ndef hook(x):\n    return x",
    ],
)
def test_what_changes_a_thing_that_has_other_names_runs(change):
    """The student's `layers` are the model's, so it matters what becomes of it afterwards."""
    cells = ("model = Net()", "layers = model.layers", change, "print(layers)")
    assert skippable(plain(*cells), {cells[0], change}) == ()


@pytest.mark.parametrize("change", ["sys.path.append('helpers')", "os.environ['WAY'] = 'x'", "random.seed(3)"])
def test_what_changes_a_module_runs(change):
    cells = (f"import {change.split('.', 1)[0]}", change, "print(shift)")
    assert skippable(plain(*cells), set(cells[:2])) == ()


def test_a_cell_that_is_no_python_makes_everything_run():
    cells = ("data = 1", "%%time\nmodel = fit(data)", "b = 2", "print(model)")
    assert skippable(plain(*cells), set(cells[:3])) == ()


def test_a_function_that_is_called_like_a_comprehension_is_a_function():
    cells = ("def listcomp():\n    return a", "a = 3", "listcomp()")
    assert skippable(plain(*cells), {"a = 3"}) == ()


NAMES = st.sampled_from("abcd")
STATEMENTS = st.one_of(
    st.builds("{0} = {1}".format, NAMES, st.integers(0, 9)),
    st.builds("{0} = {1} + {2}".format, NAMES, NAMES, NAMES),
    st.builds("{0} = [{1} + k for k in range(2)][-1]".format, NAMES, NAMES),
    st.builds("for {0} in range({1}):\n    {2} = {0}".format, NAMES, st.integers(1, 3), NAMES),
    st.builds("def f_{0}():\n    return {1}".format, NAMES, NAMES),
    st.builds("{0} = f_{1}()".format, NAMES, NAMES),
    st.builds("{0} += {1}".format, NAMES, NAMES),
    st.builds("print({0} := {1})".format, NAMES, NAMES),
    st.builds("k = [{0} := j for j in ({1}, 2)]".format, NAMES, NAMES),
    st.builds("match ({0}, 2):\n    case ({1}, k):\n        pass".format, NAMES, NAMES),
    st.builds("class C:\n    {0} = {0} + 1".format, NAMES),
    st.builds("print({0})".format, NAMES),
)
CELLS = st.lists(st.lists(STATEMENTS, min_size=1, max_size=3).map("\n".join), min_size=1, max_size=12)


@hypothesis.given(CELLS, st.data())
def test_what_a_student_sees_is_the_same_with_and_without_what_is_left_out(cells, data):
    """Random notebooks in which some cells are the student's: they note what they see of every name they mention."""
    begin = "a = b = c = d = 1\ndef f_a(): return a\ndef f_b(): return b\ndef f_c(): return c\ndef f_d(): return d"
    theirs = data.draw(st.sets(st.integers(0, len(cells) - 1), min_size=1), "the student's")
    given = {begin} | {cell for index, cell in enumerate(cells) if index not in theirs}
    written = [
        f"{cell}\n# of the student\nseen.append(({noted},))" if index in theirs else cell
        for index, cell in enumerate(cells)
        for noted in [", ".join(sorted({letter for letter in "abcd" if f"{letter} =" in cell} | {"a"}))]
    ]
    nb = plain(begin, *written)
    out = skippable(nb, given)
    everything = [cell.source for cell in nb.cells]
    assert seen([cell for index, cell in enumerate(everything) if index not in out]) == seen(everything)


def trainings(source: str) -> int:
    """How many calls of `fit` a cell makes as it runs."""
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    later = {node for function in functions for node in ast.walk(function)}
    called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call) and node not in later]
    return sum(isinstance(name, ast.Name) and name.id == "fit" for name in called)


def seen(cells: list[str]) -> list[tuple[int, ...]]:
    noted: list[tuple[int, ...]] = []
    names = {"seen": noted}
    for cell in cells:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(cell, names)
    return noted


def test_students_own_and_changed_cells_run():
    assert left_out("print(1)", "print(2)", given={"print(2)"}) == ["print(2)"]


def test_what_students_own_cells_need_runs():
    assert left_out("table = 1", "print(table)", given={"table = 1"}) == []


@pytest.mark.parametrize(
    "way",
    [
        "globals()['table']",
        "eval('table')",
        "'table' in dir()",
        "sys.modules['__main__'].table",
        "sys.modules[__name__].table",
        "from __main__ import table as here",
        "softmax.__globals__['table']",
        "_oh[1]",
        "def bind():\n    global table\n    table = 2",
        "get_ipython().user_ns",
        "import IPython\nIPython.get_ipython().user_ns['table']",
        "from IPython import get_ipython as shell\nshell()",
        "import __main__ as here\nhere.table",
        "sys._getframe().f_globals['table']",
        "In[1]",
        "%run x",
    ],
)
def test_names_reached_in_other_ways_make_everything_run(way):
    assert left_out("table = 1", solution=f"shift = 0\n{way}") == []


def test_a_cell_too_deep_to_be_read_makes_everything_run():
    assert left_out("table = 1", solution="shift = " + " + ".join(["0"] * 5000)) == []


def test_the_cells_given_out_are_the_plain_ones(tmp_path):
    nb = notebook("table = 1")
    nb.cells.append(new_code_cell("assert table", metadata={"nbgrader": {"grade_id": "mine", "grade": True}}))
    nbformat.write(nb, tmp_path / "theirs.ipynb")
    assert plain_sources(tmp_path / "theirs.ipynb", 0) == {"table = 1"}


def with_own_test(*plain: str, test: str) -> list[str]:
    """What of the given cells runs where an instructor tests something below them."""
    nb = notebook(*plain)
    nb.cells.append(new_code_cell(test, metadata={"nbgrader": {"grade_id": "mine", "grade": True, "locked": True}}))
    out = skippable(nb, set(plain), {len(nb.cells) - 1})
    return [cell for index, cell in enumerate(plain, 1) if index not in out]


DEMO = "picture = slow()\nplt.plot(picture)"


@pytest.mark.parametrize(
    "needed",
    [
        ("model = Net()", "losses = train(model)"),
        ("model = Net()", "losses = model.train_once()"),
        ("model = Net()", "losses = [train(m) for m in [model]]"),
        ("model = {}", "def note(x):\n    model[x] = 1", "def twice(x):\n    note(x)", "kept = twice(3)"),
        ("model = {}", "class Note:\n    def __init__(self):\n        model.update(a=1)", "kept = Note()"),
        ("start = 1", "model = start + 1"),
    ],
)
def test_what_an_own_test_needs_runs_and_no_demonstration(needed):
    assert with_own_test(DEMO, *needed, test="assert model") == [*needed]


def test_a_cell_that_only_sets_a_seed_runs_before_an_own_test():
    cells = ("torch.manual_seed(0)", "seed(1)\na = torch.rand(3)")
    assert with_own_test(*cells, test="assert softmax(torch.randn(3), 0)") == ["torch.manual_seed(0)"]
    assert left_out(*cells) == [*cells]


def test_what_is_only_called_by_an_own_test_is_not_changed_by_being_shown():
    assert with_own_test("compared = compare(softmax)", DEMO, test="assert softmax(1, 0)") == []


@pytest.mark.parametrize(
    ("test", "why"),
    [
        ("%matplotlib inline\nassert 1", "is not plain Python"),
        ("assert globals()['table']", "uses globals"),
        ("from helpers import *\nassert table", "imports *"),
    ],
)
def test_where_nobody_can_tell_what_an_own_test_needs_everything_runs(test, why):
    assert unsure(test) == why
    assert with_own_test(DEMO, test=test) == [DEMO]
    assert unsure("from math import pi\nassert pi > 3") == ""


@pytest.mark.parametrize("topic", OURS, ids=lambda topic: topic.folder)
def test_an_own_test_of_an_exercise_has_no_demonstration_run(topic, tmp_path):
    nb = build(ORIGINAL, source_path(ROOT, topic), topic)
    nbformat.write(nb, tmp_path / "nb.ipynb")
    given = plain_sources(tmp_path / "nb.ipynb", 0)
    name = next(item.name for item in topic.items if item.kind == "exercise")
    marks = {"nbgrader": {"grade_id": "mine", "grade": True, "locked": True}}
    before = set(skippable(nb, given))
    nb.cells.append(new_code_cell(f"assert callable({name})", metadata=marks))
    assert len(skippable(nb, given, {len(nb.cells) - 1})) >= 0.8 * len(before)


@pytest.mark.parametrize("topic", OURS, ids=lambda topic: topic.folder)
def test_every_notebook_of_the_course_leaves_some_of_its_showing_out(topic, tmp_path):
    nb = build(ORIGINAL, source_path(ROOT, topic), topic)
    path = tmp_path / "nb.ipynb"
    nbformat.write(nb, path)
    given = plain_sources(path, 0)
    out = skippable(nb, given)
    assert len(out) > len(given) / 5
    sources = [nb.cells[index].source for index in out]
    assert not any("import " in source.splitlines()[0] for source in sources)
    graded = [index for index, cell in enumerate(nb.cells) if cell.cell_type == "code" and index not in out]
    trained = sum(trainings(nb.cells[index].source) for index in graded)
    assert trained == sum(item.budget is not None for item in topic.items), "no rival to compare with is trained"
    assert all(nb.cells[index].cell_type == "code" and "nbgrader" not in nb.cells[index].metadata for index in out)
