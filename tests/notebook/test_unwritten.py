"""A cell that needs an unwritten exercise says so in two sentences; every other error shows whole."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

COLAB = """
def on_imports(shell, kind, error, tb, tb_offset=None):
    shell._showtraceback(kind, error, [f"Install it: {error}"])


get_ipython().set_custom_exc((ImportError,), on_imports)
"""
"""Before a notebook begins, Colab has a handler of its own."""
BEGIN = "import torch\nfrom torch import nn\n\nfrom course import check, fit"
STUBS = '''
def softmax(x, dim):
    """Docstring."""
    # YOUR CODE HERE
    raise NotImplementedError()


def begun(x):
    # YOUR CODE HERE
    y = x + 1
    raise NotImplementedError()


class Layer(nn.Module):
    def __init__(self):
        # YOUR CODE HERE
        raise NotImplementedError()


def train(model, batches):
    # YOUR CODE HERE
    raise NotImplementedError()


class Shape:
    def area(self):
        raise NotImplementedError()


def refuses(x):
    # YOUR CODE HERE
    raise NotImplementedError("no such case")


def catches(x):
    try:
        begun(x)
    except NotImplementedError:
        raise ValueError("another error") from None


class Bare(nn.Module):
    pass
'''
UNWRITTEN = {
    "softmax(torch.ones(2), 0)": "softmax",
    "[begun(x) for x in range(3)]": "begun",
    "Layer()": "Layer.__init__",
    'fit("rnn_task", nn.Linear(1, 1), train)': "train",
}
WHOLE = {
    "Shape().area()": "in Shape.area",
    "refuses(1)": "no such case",
    "catches(1)": "another error",
    "Bare()(torch.ones(2))": 'is missing the required "forward" function',
    "raise NotImplementedError()": "Traceback",
}


def errors(folder: Path, *cells: str) -> dict[str, NotebookNode]:
    """For each of the cells, the error that a kernel sends for it."""
    nb = new_notebook(cells=[new_code_cell(source) for source in (COLAB, BEGIN, STUBS, *cells, "'went on'")])
    failed: list[str] = []
    NotebookClient(
        nb,
        allow_errors=True,
        on_cell_error=lambda cell, **_: failed.append(cell.source),
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    ).execute()
    assert failed == list(cells), "where a cell fails, Run All stops"
    assert nb.cells[-1].outputs[0].data["text/plain"] == "'went on'"
    found = {cell.source: [one for one in cell.outputs if one.output_type == "error"] for cell in nb.cells[3:-1]}
    assert all(len(sent) == 1 for sent in found.values()), found
    return {source: sent for source, (sent,) in found.items()}


@pytest.fixture(scope="module")
def met(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return errors(tmp_path_factory.mktemp("notebook"), *UNWRITTEN, *WHOLE, "import nowhere")


@pytest.mark.parametrize(("source", "name"), UNWRITTEN.items())
def test_what_is_unwritten_is_named(met: dict[str, NotebookNode], source: str, name: str) -> None:
    told = "\n".join(met[source].traceback)
    assert told.startswith(f"`{name}` is not written yet. It still says `raise NotImplementedError()`.\n")
    assert len(told.splitlines()) == 2 and "Traceback" not in told
    assert (met[source].ename, met[source].evalue) == ("NotImplementedError", "")  # the cell fails as ever


@pytest.mark.parametrize(("source", "words"), WHOLE.items())
def test_every_other_error_shows_whole(met: dict[str, NotebookNode], source: str, words: str) -> None:
    told = "\n".join(met[source].traceback)
    assert words in re.sub(r"\x1b\[[\d;]*m", "", told) and "Traceback" in told and "is not written yet" not in told


def test_who_handles_other_exceptions_still_does(met: dict[str, NotebookNode]) -> None:
    assert met["import nowhere"].traceback == ["Install it: No module named 'nowhere'"]


def test_nothing_changes_where_a_notebook_is_graded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    (error,) = errors(tmp_path, "begun(1)").values()
    assert "Traceback" in "\n".join(error.traceback)
