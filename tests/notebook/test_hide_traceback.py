"""A slip in a call shows the notebook's own line and one sentence; an error of ours that nobody meant shows whole."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

BEGIN = """from torch import nn

from course import check, fit, hint, progress


def rnn_cell(x):
    return x


class ElmanClassifier(nn.Module):
    pass


def mine():
    return check("chess", rnn_cell)


def broken(*given):
    raise ArithmeticError("mine")
"""
TAKES = "check takes an exercise's name, in quotes, and what you wrote for it: "
TOPIC = "no exercise is called '03_rnn'. That is a topic, with the exercises rnn_cell, rnn_forward, bptt, "
FIRST = "the first argument must be an exercise's name in quotes, such as "
SLIPS = {
    "check()": f"{TAKES}check('count_ngrams', count_ngrams)",
    'check("bptt")': f"{TAKES}check('bptt', bptt)",
    "check(ElmanClassifier)": f"{TAKES}check('ElmanClassifier', ElmanClassifier)",
    "check(nn.Linear(2, 1).weight.detach().numpy())": f"{TAKES}check('count_ngrams', count_ngrams)",
    'check("rnn_task")': f"{TAKES}check('rnn_task', record.model)",
    'check("bptt", rnn_cell, 3)': f"{TAKES}check('bptt', bptt)",
    'check(name="bptt", anwser=3)': f"{TAKES}check('bptt', bptt)",
    'check("03_rnn")': TOPIC,
    'check("03_rnn", rnn_cell)': TOPIC,
    'check("Rnn_cell")': "no exercise is called 'Rnn_cell'. Did you mean 'rnn_cell'?",
    'check("rnn_question")': "'rnn_question' is graded by a person, so there is nothing to check",
    'check("rnn_cell", None)': "check('rnn_cell', …) takes what you wrote, the function or class itself, but got None",
    "check(rnn_cell, rnn_cell)": f"{FIRST}'rnn_cell', but it is rnn_cell itself",
    "hint(nn.Linear(1, 1))": f"{FIRST}'count_ngrams', but it is Linear(in_features=1, out_features=1, bias=True)",
    "check(nn.Linear(2, 1).weight.detach().numpy(), rnn_cell)": f"{FIRST}'count_ngrams', but it is array(",
    'hint("rnn")': TOPIC.replace("03_rnn", "rnn"),
    'progress("chess")': "no topic is called 'chess'",
    'fit("rnn_tsk", rnn_cell, rnn_cell)': "no exercise is called 'rnn_tsk'. Did you mean 'rnn_task'",
    'fit("rnn_task", 1, rnn_cell)': "fit needs an nn.Module or a function that builds one, but got 1",
}
LOOPS = ("fit('rnn_task', nn.Linear(1, 1), broken)", "fit('rnn_task', broken, broken)")
BROKEN = "import course.notebook.hints as ours\n\nours.read_progress = lambda: {}[3]"


def run(folder: Path, *cells: str, allow_errors: bool = True) -> dict[str, NotebookNode]:
    """By source, the error that a kernel sent for each of the cells that failed."""
    nb = new_notebook(cells=[new_code_cell(source) for source in (BEGIN, *cells)])
    where = {"metadata": {"path": str(folder)}}
    NotebookClient(nb, allow_errors=allow_errors, kernel_name="python3", resources=where).execute()
    return {cell.source: one for cell in nb.cells for one in cell.outputs if one.output_type == "error"}


def told(error: NotebookNode) -> list[str]:
    """What the cell shows, without colours."""
    return re.sub(r"\x1b\[[\d;]*m", "", "\n".join(error.traceback)).split("\n")


@pytest.fixture(scope="module")
def met(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return run(
        tmp_path_factory.mktemp("slips"), *SLIPS, "mine()", BROKEN, "hint('rnn_cell')", "fit('rnn_task')", *LOOPS
    )


@pytest.mark.parametrize(("source", "sentence"), SLIPS.items())
def test_a_slip_shows_the_line_and_a_sentence(met: dict[str, NotebookNode], source: str, sentence: str) -> None:
    line, gap, *said = told(met[source])
    assert (line, gap) == (f"----> 1 {source}", "")
    assert " ".join(said).startswith(sentence) and max(map(len, said)) < 90
    assert met[source].evalue == " ".join(said) and met[source].ename in ("TypeError", "Unknown")


def test_the_line_is_the_innermost_of_the_notebooks(met: dict[str, NotebookNode]) -> None:
    number = BEGIN.split("\n").index('    return check("chess", rnn_cell)') + 1
    assert told(met["mine()"])[0] == f'----> {number} return check("chess", rnn_cell)'


def test_an_error_of_ours_shows_whole(met: dict[str, NotebookNode]) -> None:
    whole = "\n".join(told(met["hint('rnn_cell')"]))
    assert "Traceback" in whole and "notebook/hints.py" in whole and whole.endswith("KeyError: 3")
    assert "Traceback" in "\n".join(told(met["fit('rnn_task')"])), "Python's own words for a call"


@pytest.mark.parametrize("source", LOOPS)
def test_a_loop_that_fails_shows_the_notebooks_lines_alone(met: dict[str, NotebookNode], source: str) -> None:
    whole = "\n".join(told(met[source]))
    assert source in whole and 'raise ArithmeticError("mine")' in whole
    assert "training.py" not in whole and "skipping hidden 2 frame" in whole


def test_an_interrupted_check_shows_the_line_that_was_running(tmp_path: Path) -> None:
    endless = "import _thread\n\ndef rnn_cell(*inputs):\n    _thread.interrupt_main()\n    while True:\n        inputs"
    error = run(tmp_path, endless, "check('rnn_cell', rnn_cell)")["check('rnn_cell', rnn_cell)"]
    line, gap, *said = told(error)
    assert error.ename == "KeyboardInterrupt" and re.match(r"----> [456] \w", line)
    assert (gap, said) == ("", ["You interrupted the check, at this line of yours."])


def test_an_interrupted_training_shows_the_line_and_what_became_of_it(tmp_path: Path) -> None:
    stopped = "import _thread\n\ndef loop(model, batches):\n    for batch in batches:\n        _thread.interrupt_main()"
    call = "fit('rnn_task', nn.Linear(1, 1), loop)"
    error = run(tmp_path, stopped, call)[call]
    line, gap, *said = told(error)
    assert error.ename == "KeyboardInterrupt" and re.match(r"----> [45] \w", line) and gap == ""
    assert re.match(r"You interrupted the training, at this line of yours, after [\d,]+ of [\d,]+ exam", " ".join(said))
    assert not list(tmp_path.rglob("*.safetensors"))


def test_who_executes_a_notebook_learns_as_much_as_ever(tmp_path: Path) -> None:
    with pytest.raises(CellExecutionError) as failed:
        run(tmp_path, "check('chess', rnn_cell)", allow_errors=False)
    assert (failed.value.ename, failed.value.evalue) == ("Unknown", "no exercise is called 'chess'")
    assert "----> 1 check('chess', rnn_cell)" in str(failed.value)
