"""A cell that asks for a name before the cell that makes it has run says which cell that is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

MAKE = """def rnn_cell(x):
    return x


class Reader:
    pass


number = 3
hs, last = [1], 2"""
RECORD = 'record = fit(\n    "rnn_task", Reader, train)'
USE = "def uses(x):\n    return rnn_cell(x)\n\ndef slips(x):\n    return x + number"
BEGIN = f"from course import check, fit, show\n\n{USE}"
WAITS = {
    'check("rnn_cell", rnn_cell)': "def rnn_cell(x):",
    'check("rnn_task", record.model)': "record = fit(",
    "show.rnn.states(hs[0], list('ab'))": "hs, last = [1], 2",
    "model = record.model.cpu()": "record = fit(",
    'fit("rnn_task", lambda: Reader(), print)': "class Reader:",
    "[last for _ in range(2)]": "hs, last = [1], 2",
    "uses(1)": "def rnn_cell(x):",
    "print(  record)  # not in the file": "record = fit(",
}
"""Cells, and the line that makes what they wait for."""
WHOLE = {
    "rnn_cel": "rnn_cel",
    'check("rnn_cell", Raeder)': "Raeder",
    "slips(1)": "number",
    "later + 1": "later",
    "raise NameError(\"name 'record' is not defined\")": "record",
    "def f():\n    del rnn_cell\nf()": "rnn_cell",
}
"""Cells whose error is a slip of the student's, by the name that is missing."""


def errors(folder: Path, *cells: str) -> dict[str, str]:
    """For each cell, what a kernel shows of its error."""
    nb = new_notebook(cells=[new_code_cell(source) for source in (BEGIN, *cells)])
    where = {"metadata": {"path": str(folder)}}
    NotebookClient(nb, allow_errors=True, kernel_name="python3", resources=where).execute()
    return {cell.source: _told(cell.outputs) for cell in nb.cells[1:]}


def _told(outputs: list[NotebookNode]) -> str:
    (error,) = (output for output in outputs if output.output_type == "error")
    assert error.ename in ("NameError", "UnboundLocalError"), "the cell fails as ever"
    return re.sub(r"\x1b\[[\d;]*m", "", "\n".join(error.traceback))


@pytest.fixture(scope="module")
def met(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("notebook")
    below = [*(cell for cell in WAITS if "not in the file" not in cell), *WHOLE, "later = 5"]
    nb = new_notebook(cells=[new_code_cell(source) for source in (BEGIN, MAKE, RECORD, *below)])
    nbformat.write(nb, folder / "03_rnn.ipynb")
    (folder / "spoiled.ipynb").write_text("{]")
    return errors(folder, *WAITS, *WHOLE)


@pytest.mark.parametrize(("source", "line"), WAITS.items())
def test_the_line_is_shown_that_makes_the_name(met: dict[str, str], source: str, line: str) -> None:
    first, shown = met[source].split("\n")
    assert re.fullmatch(r"`\w+` does not exist yet. Run the cell with this line first, and let it finish.", first)
    assert shown == f"    {line}" and re.search(rf"\b{first.split('`')[1]}\b", source + USE)


@pytest.mark.parametrize(("source", "name"), WHOLE.items())
def test_a_slip_shows_whole(met: dict[str, str], source: str, name: str) -> None:
    assert "Traceback" in met[source] and name in met[source] and "does not exist yet" not in met[source]


def test_without_the_file_a_cell_of_the_courses_still_says_what_it_waits_for(tmp_path: Path) -> None:
    given = ('check("rnn_task", record.model)', "show.rnn.states(record, list('ab'))")
    told = errors(tmp_path, *given, "record")
    waits = "`record` does not exist yet. Run the cell that makes it first, and let it finish."
    assert [told[source] for source in given] == [waits, waits]
    assert "Traceback" in told["record"]


def test_an_interrupted_training_leaves_a_record_to_wait_for(tmp_path: Path) -> None:
    loop = "def loop(model, batches):\n    _thread.interrupt_main()\n    list(batches)"
    loop = f"import _thread\nfrom torch import nn\n\n{loop}"
    call, asks = 'record = fit("rnn_task", nn.Linear(1, 1), loop)', 'check("rnn_task", record.model)'
    nb = new_notebook(cells=[new_code_cell(source) for source in (BEGIN, loop, call, asks)])
    nbformat.write(nb, tmp_path / "03_rnn.ipynb")
    where = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(nb, allow_errors=True, kernel_name="python3", resources=where).execute()
    assert nb.cells[2].outputs[-1].ename == "KeyboardInterrupt"
    assert _told(nb.cells[3].outputs).endswith(f"let it finish.\n    {call}")


def test_nothing_changes_where_a_notebook_is_graded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    (told,) = errors(tmp_path, 'check("rnn_task", record.model)').values()
    assert "Traceback" in told
