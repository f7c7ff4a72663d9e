"""`fit` loads what the same code was trained to, and trains anew as soon as anything it is made of has changed."""

from __future__ import annotations

import linecache
import sys
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from course.notebook.ingredients import ingredients

CODE = '''
import torch
from torch import nn
from functools import partial

RATE, SIZES, TABLE, seen = 0.1, [3, 1], torch.arange(3.0), object()

@torch.no_grad()
def step(loss, times=2):
    return loss * times

class Reader(nn.Module):
    """Docs."""
    width = 3

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(*SIZES)

    def forward(self, x):
        return self.inner(x + TABLE)

def train(model, batches, seen=None):
    for x, y in batches:  # each
        inner = lambda: step(model(x).sum() * RATE)
        inner().backward()

build = lambda: Reader()
'''
SAME = {
    "a comment": ("# each", "# every one"),
    "layout": ("x + TABLE", "(x\n            + TABLE)"),
    "a name that nothing reads": ("object()", "7"),
    "a docstring of the class": ("Docs.", "Words."),
}
CHANGED = {
    "the loop": ("sum()", "mean()"),
    "the model": ("x + TABLE", "x - TABLE"),
    "how it is built": ("lambda: Reader()", "lambda: Reader().double()"),
    "a function that the loop calls": ("loss * times", "loss / times"),
    "how that is called": ("no_grad", "enable_grad"),
    "its default": ("times=2", "times=3"),
    "a number": ("0.1,", "0.2,"),
    "a list": ("[3, 1]", "[3, 2]"),
    "a tensor": ("arange(3.0)", "arange(3.0) + 1"),
    "an attribute": ("width = 3", "width = 4"),
    "the class it derives from": ("Reader(nn.Module)", "Reader(nn.ReLU)"),
}
_numbers = count()


def made_of(source: str) -> str:
    """The digest of the build and train that a notebook's cell with this source defines."""
    file = f"<cell {next(_numbers)}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(source, file, "exec"), names)
    return ingredients([names["build"], names["train"]])


@pytest.mark.parametrize("change", SAME.values(), ids=SAME)
def test_what_changes_no_result_changes_no_digest(change: tuple[str, str]) -> None:
    assert CODE.replace(*change) != CODE and made_of(CODE.replace(*change)) == made_of(CODE) != ""


@pytest.mark.parametrize("change", CHANGED.values(), ids=CHANGED)
def test_whatever_may_change_the_result_changes_the_digest(change: tuple[str, str]) -> None:
    assert CODE.replace(*change) != CODE and "" != made_of(CODE.replace(*change)) != made_of(CODE)


def test_what_cannot_be_told_has_no_digest() -> None:
    assert made_of(CODE.replace("RATE)", "RATE + hash(seen))").replace(", seen=None", "")) == ""
    assert made_of(CODE.replace("0.1,", "nn.Linear(1, 1),")) == ""


@pytest.mark.parametrize("use", ["from mine import change", "import mine; change = lambda x: mine.change(x)"])
def test_what_a_file_beside_the_notebook_defines_cannot_be_told(
    use: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have changed, or be newer than what the kernel has loaded."""
    (tmp_path / "mine.py").write_text("def change(loss):\n    return loss\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    code = CODE.replace("return loss * times", "return change(loss) * times")
    assert made_of(f"from math import floor as change\n{code}") != ""
    assert made_of(f"{use}\n{code}") == ""
    sys.modules.pop("mine")


BEGIN = """import torch
from torch import nn

import course.notebook.training as training
from course import fit
from course.syllabus import Budget

training.budget_of = lambda name: Budget(cpu=100, gpu=100, seconds=20)

class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(1, 1)"""
TRAIN = """def train(model, batches):
    for _ in batches:
        with torch.no_grad():
            model.inner.weight += 1
        batches.log(1.0)"""
ASK = "[record.source, record.model.inner.weight.item(), record.losses[:1]]"


def shown(folder: Path, *cells: str) -> list[list[str]]:
    """What each cell shows, as text."""
    nb = new_notebook(cells=[new_code_cell(source) for source in (BEGIN, *cells)])
    NotebookClient(nb, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    return [[one.data["text/plain"] for one in cell.outputs if "data" in one] for cell in nb.cells[1:]]


FIT = 'record = fit("rnn_task", Reader, train)'
SAID = (
    "The weights are loaded from checkpoints/rnn_task.safetensors, because neither the model nor the loop has changed "
    "since they were trained. With `again=True`, `fit` trains anew."
)


def test_a_notebook_opened_again_loads_its_weights_until_its_code_changes(tmp_path: Path) -> None:
    (_, _, first) = shown(tmp_path, TRAIN, FIT, ASK)
    assert first[0].startswith("['trained', ") and first[0].endswith(", [1.0]]")
    _, said, opened_again, _, asked, _, changed = shown(
        tmp_path, TRAIN, FIT, ASK, FIT.replace("train)", "train, again=True)"), ASK, TRAIN.replace("+= 1", "+= 2"), FIT
    )
    assert said[-1] == SAID and opened_again == [first[0].replace("trained", "checkpoint")]
    assert asked == first, "a rerun repeats itself"
    assert SAID not in changed


def test_a_training_that_says_little_is_done_again(tmp_path: Path) -> None:
    """One without a batch, one of a built model, which goes on from its weights, and one whose file is spoiled."""
    idle = TRAIN.replace("in batches", "in ()")
    built = FIT.replace("Reader,", "model,")
    told = shown(tmp_path, idle, FIT, FIT, TRAIN, "model = Reader()", built, built, FIT)
    assert not any(SAID in cell for cell in told)
    (tmp_path / "checkpoints" / "rnn_task.safetensors").write_bytes(b"spoiled")
    assert SAID not in shown(tmp_path, TRAIN, FIT)[1] and SAID in shown(tmp_path, TRAIN, FIT)[1]


def test_a_retraining_by_a_grader_loads_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown(tmp_path, TRAIN, FIT)
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    monkeypatch.setenv("COURSE_FIT_POLICY", "retrain")
    assert shown(tmp_path, TRAIN, FIT, "record.source") == [[], [], ["'trained'"]]
