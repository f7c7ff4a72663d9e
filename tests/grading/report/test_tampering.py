"""What is noticed in a submission, and what is left alone."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from course.grading.report.tampering import signs
from course.judge.verdict import Verdict

CHECK = 'check("softmax", softmax)'
IMPORTS = "import torch\nfrom torch import nn"
FROM_A_FILE = "reads numbers from a file: safetensors.torch.load_file"


def locked(source: str = CHECK, name: str = "softmax", **metadata):
    return new_code_cell(source, metadata={"nbgrader": {"grade_id": name, "locked": True, "grade": True}, **metadata})


def noticed(
    *cells, given: frozenset[str] = frozenset(), verdicts: tuple[Verdict, ...] = (), forbidden: bool = False
) -> list[str]:
    released = {"softmax": CHECK, "cost": "check()"}
    cells = (new_code_cell(IMPORTS), *cells)
    forbids = {"softmax": ("torch.softmax",)} if forbidden else {}
    decided = {verdict.exercise: verdict for verdict in verdicts}
    found = signs("ada", new_notebook(cells=list(cells)), released, given | {IMPORTS}, decided, forbids)
    return [sign.what for sign in found]


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("import socket", "imports socket, which opens sockets"),
        ("from urllib.request import urlopen", "imports urllib.request, which asks for web pages"),
        ("import os\nos._exit(0)", "uses os._exit, which ends the process"),
        ("x = open('/proc/self/environ')", "names the path /proc"),
        ("get_ipython().ast_transformers.append(1)", "changes how cells run: get_ipython().ast_transformers"),
        ("torch.allclose = lambda *a: True", "replaces torch.allclose"),
        ("def check(name, answer):\n    return 100", "defines check anew"),
        ("check = print", "defines check anew"),
        ("%%time\nimport socket", "imports socket, which opens sockets"),
        ("model.load_state_dict(torch.load('mine.pt'))", "reads numbers from a file: torch.load"),
        ("from safetensors.torch import load_file as get\nw = get('a.safetensors')", FROM_A_FILE),
        (f"w = {[number / 7 for number in range(300)]}", "holds 300 numbers, written out"),
        (f"w = decode('{'QUJD' * 400}')", "holds a string of 1,600 characters without a space"),
        (f"w = '{'0.125 -3.5 ' * 200}'.split()", "holds a string of 2,200 characters, most of them digits"),
    ],
)
def test_code_that_reaches_for_the_grader(source, what):
    assert noticed(locked(), locked("check()", "cost"), new_code_cell(source)) == [what]


@pytest.mark.parametrize("depth", [300, 700, 20_000])
@pytest.mark.parametrize("deep", ["x + ", "x if torch else ", "-", "f(x)("])
def test_code_nested_without_end_keeps_nothing_else_from_being_read(deep, depth):
    deep = f"x = {deep * depth}torch" + ")" * depth * deep.endswith("(")
    deep += f"\ny = torch{'.b' * depth}"
    cells = (locked(), locked("check()", "cost"), new_code_cell(deep), new_code_cell("import socket"))
    assert noticed(*cells, forbidden=True) == ["imports socket, which opens sockets"]
    solution = new_code_cell(deep, metadata={"nbgrader": {"grade_id": "softmax-solution", "solution": True}})
    verdict = Verdict("softmax", "passed", 2, 2)
    assert noticed(solution, locked(), locked("check()", "cost"), verdicts=(verdict,), forbidden=True) == []


@pytest.mark.parametrize("deep", ["x = a{}", "x = get_ipython(){}.run_cell('torch')", "torch{} = 1"])
def test_nor_does_code_that_can_just_be_read(deep):
    """Some depth can be read where it is read first, and not where the stack is a few calls higher."""
    for depth in range(100, 340):
        source = deep.format("[0]" * depth)
        solution = new_code_cell(source, metadata={"nbgrader": {"grade_id": "softmax-solution", "solution": True}})
        cells = (solution, locked(), locked("check()", "cost"), new_code_cell("import socket"))
        found = noticed(*cells, verdicts=(Verdict("softmax", "passed", 2, 2),), forbidden=True)
        assert found[-1] == "imports socket, which opens sockets"


@pytest.mark.parametrize(
    "source",
    [
        "import torch\nmodel.weight.data = torch.zeros(3)",
        "self.table = nn.Embedding(3, 4)",
        "x.grad = None",
        "load('grammar')",
        "class Model:\n    def fit(self, ids):\n        return self",
        "def f(x):\n    load = x.sum()\n    return load",
        "try:\n    from course import check\nexcept ImportError:\n    raise",
        "nn.Embedding.from_pretrained(torch.eye(3))",
        "def f(:",
        "'''A text\nabout /proc and other places.'''",
    ],
)
def test_ordinary_code_is_left_alone(source):
    assert noticed(locked(), locked("check()", "cost"), new_code_cell(source)) == []


def test_what_was_given_out_is_left_alone():
    assert (
        noticed(
            locked(), locked("check()", "cost"), new_code_cell("import inspect"), given=frozenset({"import inspect"})
        )
        == []
    )


def test_locked_cells():
    assert noticed(locked("1"), locked("check()", "cost")) == ["edited 1 locked cell (softmax), which grading restored"]
    assert noticed(locked(CHECK + "\n"), locked("check()", "cost")) == []
    assert noticed(locked()) == ["deleted 1 locked cell (cost), which grading restored"]
    assert noticed(new_code_cell("1")) == ["every locked cell had lost nbgrader's metadata, which grading restored"]
    assert noticed(locked(tags=["skip-execution"]), locked("check()", "cost"))[0].startswith("tagged 1 locked cell")


def test_forbidden_calls():
    verdict = Verdict("softmax", "forbidden", 0, 2, "`torch.softmax` is what this exercise is about.")
    assert noticed(locked(), locked("check()", "cost"), verdicts=(verdict,)) == [
        "made a forbidden call, which earned nothing: `torch.softmax` is what this exercise is about."
    ]
