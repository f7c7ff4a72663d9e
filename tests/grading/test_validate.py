"""nbgrader's Validate says of a notebook what `check` says in it."""

from __future__ import annotations

import linecache
import re
from typing import Any

import nbformat
import pytest
from nbgrader.validator import Validator

from course.judge.report import text
from course.notebook.checking import public_verdict
from tests.grading.lesson import NAME, answers, deleted, find, first, make_course, solved

BLANK = "{definition}\n    # YOUR CODE HERE\n    raise NotImplementedError()"
GIVEN = {
    "softmax": None,  # as it is in the solution
    "attention_cost": "def attention_cost(n, d):\n    return {'self_attention': n * d * d, 'recurrent': n * n * d}",
    "crossover_length": BLANK.format(definition="def crossover_length(d):"),
    "attention_for_one": "def attention_for_one(query, keys, values):\n    return 1 / 0",
}


def _squeezed(said: str) -> str:
    """Without colours, and without where lines end: nbgrader folds them."""
    return "".join(re.sub(r"\x1b\[[\d;]*m", "", said).split())


@pytest.fixture(scope="module")
def validated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What Validate has found in a notebook with a right answer, a wrong one, none, and one that fails."""
    course = make_course(tmp_path_factory.mktemp("class") / "course")
    nb = solved(course)
    deleted("usual")(nb)  # an instructor's ordinary test, which needs the answer that is wrong here
    answers({name: source for name, source in GIVEN.items() if source})(nb)
    path = tmp_path_factory.mktemp("student") / f"{NAME}.ipynb"
    nbformat.write(nb, path)
    found = Validator(ignore_checksums=True).validate(str(path))
    return {"found": found, "nb": nb}


def _verdicts(nb: nbformat.NotebookNode) -> dict[str, Any]:
    """What `check` says in the same notebook."""
    scope: dict[str, Any] = {}
    for number, cell in enumerate(nb.cells):
        if cell.cell_type == "code" and not cell.metadata.get("nbgrader", {}).get("grade"):
            name = f"<cell {number}>"
            linecache.cache[name] = (len(cell.source), None, cell.source.splitlines(True), name)
            exec(compile(cell.source, name, "exec"), scope)
    return {name: public_verdict(name, scope[name]) for name in GIVEN}


def test_it_fails_what_check_fails_and_nothing_else(validated: dict[str, Any]) -> None:
    failed = {
        match[1] for entry in validated["found"]["failed"] if (match := re.match(r'check\("(\w+)"', entry["source"]))
    }
    verdicts = _verdicts(validated["nb"])
    assert failed == {name for name, verdict in verdicts.items() if verdict.kind != "passed"}
    assert failed == {"attention_cost", "crossover_length", "attention_for_one"}
    assert set(validated["found"]) == {"failed"}


@pytest.mark.parametrize("name", [name for name, source in GIVEN.items() if source])
def test_it_gives_the_same_report(name: str, validated: dict[str, Any]) -> None:
    (entry,) = [entry for entry in validated["found"]["failed"] if entry["source"].startswith(f'check("{name}"')]
    report = text(_verdicts(validated["nb"])[name], public=True)
    assert _squeezed(report) in _squeezed(entry["raw_error"]), entry
    assert find(validated["nb"], name).source == entry["source"]


def test_a_cell_that_clears_the_environment_hides_nothing(tmp_path) -> None:
    nb = solved(make_course(tmp_path / "course"))
    answers({"softmax": "def softmax(x, dim):\n    return x"})(nb)
    first("import os\nos.environ.clear()")(nb)
    path = tmp_path / f"{NAME}.ipynb"
    nbformat.write(nb, path)
    failed = Validator(ignore_checksums=True).validate(str(path))["failed"]
    assert 'check("softmax", softmax)' in [entry["source"] for entry in failed]
