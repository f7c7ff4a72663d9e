"""In a student's own kernel, a name `check` that is no longer the course's is told below the cell that calls it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

CHECK = 'check("softmax", softmax)'
BEGIN = "from course import check\n\n\ndef softmax(x, dim):\n    return x.softmax(dim)"
AGAIN = "from course import check"
BELONGS = (
    "The name `check` now belongs to a value of yours (type {}), so nothing was checked. "
    "Give your value another name, and run `from course import check` again."
)
GONE = "The name `check` is gone from this notebook. Run its first code cell again, which imports it."

TOLD = {
    "import torch\ncheck = softmax(torch.ones(3), 0)": BELONGS.format("Tensor"),
    "from numpy.testing import assert_equal as check": BELONGS.format("function"),
    "def check(name, mine):\n    pass": BELONGS.format("function"),
    "for check in 'ab': pass": BELONGS.format("str"),
    "del check": GONE,
}
"""What happens to the name, and what is said below the check."""


def run(folder: Path, *cells: str) -> list[list[str]]:
    """What each cell shows: errors by their names, and texts."""
    nb = new_notebook(cells=[new_code_cell(source) for source in cells])
    where = {"metadata": {"path": str(folder)}}
    NotebookClient(nb, allow_errors=True, kernel_name="python3", resources=where).execute()
    return [[_text(output) for output in cell.outputs] for cell in nb.cells]


def _text(output: Any) -> str:
    return output.ename if output.output_type == "error" else output.get("text") or output.data["text/plain"]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """What is shown below the check after each change of the name, which is imported again before the next."""
    cells = [cell for change in TOLD for cell in (change, CHECK, AGAIN)]
    others = ("1 / 0", 'check("mine", 3)', "check = 5", 'check("mine", 3)', "%reset -f", CHECK)
    return run(tmp_path_factory.mktemp("notebook"), BEGIN, CHECK, *cells, *others)


def test_below_the_check_stands_what_became_of_the_name(shown: list[list[str]]) -> None:
    below = shown[3 : 3 + 3 * len(TOLD) : 3]
    assert [outputs[-1] for outputs in below] == list(TOLD.values())
    assert [outputs[:-1] for outputs in below] == [["TypeError"], ["AssertionError"], [], ["TypeError"], ["NameError"]]
    assert shown[-1] == ["NameError", GONE]


OTHERS = {
    "fit": "nothing was trained",
    "hint": "no hint was shown",
    "predict": "nothing was asked",
    "rubric": "no criteria were shown",
}


def test_so_it_is_with_what_else_takes_a_name_of_the_courses(tmp_path: Path) -> None:
    begin = "from course import check, fit, hint, predict, rubric\nimport torch"
    names = {"fit": "rnn_task", "hint": "softmax", "predict": "scores_without_scaling", "rubric": "rnn_question"}
    calls = [f'x = {name}("{given}")  # as it stands in a notebook' for name, given in names.items()]
    told = run(
        tmp_path, begin, "fit = hint = predict = rubric = torch.tensor(1.0)", *calls, "fit = 5\n# fit('rnn_task', 1, 2)"
    )
    for (name, lacks), shown in zip(OTHERS.items(), told[2:6], strict=True):
        start = f"The name `{name}` now belongs to a value of yours (type Tensor), so {lacks}. "
        assert shown[-1] == f"{start}Give your value another name, and run `from course import {name}` again."
    assert told[6] == []


def test_nothing_is_said_of_anything_else(shown: list[list[str]]) -> None:
    assert "The name `check`" not in "".join(shown[1])
    assert shown[-6:-2] == [["ZeroDivisionError"], ["Unknown"], [], ["TypeError"]]


def test_nothing_is_said_where_a_notebook_is_graded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert run(tmp_path, BEGIN, "check = 5", CHECK)[-1] == ["TypeError"]
