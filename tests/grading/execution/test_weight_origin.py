"""Where a judged model's weights come from is noted while grading, by what the kernel says and what the files hold."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import pytest
import safetensors.torch
from nbformat.v4 import new_code_cell, new_notebook

from course.grading.course_files.cells import METADATA, notebook_bytes
from course.grading.execution.execute import execute
from course.grading.execution.task import Limits, Outcome, Task

WRITTEN = """
import torch
from torch import nn
from course import check, fit

class Reader(nn.Module):
    def __init__(self, hidden=3):
        super().__init__()
        self.table, self.head = nn.Embedding(10, hidden), nn.Linear(hidden, 2)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, ids, lengths):
        self.calls += 1
        return self.head(self.table(ids).mean(1))

def train(model, batches):
    for number, (ids, lengths, labels) in enumerate(batches):
        loss = nn.functional.cross_entropy(model(ids, lengths), labels)
        loss.backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= 0.1 * parameter.grad
        batches.log(loss)
        if number == 3:
            break

record = fit("rnn_task", Reader, train)
"""
PATH = "checkpoints/rnn_task.safetensors"
MARKS = {"grade": True, "solution": False, "locked": True, "grade_id": "rnn_task", "points": 5}
SILENT = """
def named_parameters(self, *args, remove_duplicate=None, **kwargs):
    if remove_duplicate is not None:
        raise ZeroDivisionError
    return nn.Module.named_parameters(self, *args, **kwargs)

Reader.named_parameters = named_parameters
"""


def graded(between: str = "pass", **task) -> Outcome:
    checked = new_code_cell('check("rnn_task", record.model)', metadata={"nbgrader": MARKS})
    nb = new_notebook(cells=[new_code_cell(WRITTEN), new_code_cell(between), checked])
    outcome = Outcome.from_bytes(execute(Task("n", notebook_bytes(nb), limits=Limits(60.0), **task).to_bytes()))
    assert not outcome.fault
    kept = json.loads(outcome.notebook)["metadata"][METADATA]
    assert kept["origins"] == outcome.origins
    assert outcome.verdicts[0].cases, "it was judged"
    return outcome


@cache
def trained() -> bytes:
    """The checkpoint of somebody who trained."""
    outcome = graded()
    assert outcome.origins == {"rnn_task": "trained anew"}
    return outcome.files[PATH]


def test_a_checkpoint_that_was_handed_in():
    assert graded(files={PATH: trained()}).origins == {"rnn_task": "handed in"}
    assert graded(files={PATH: trained()}, policy="retrain", seed=1).origins == {"rnn_task": "trained anew"}


@pytest.mark.parametrize(
    ("between", "origin"),
    [
        ("record = type('Record', (), {'model': Reader()})", "elsewhere"),
        ("record.model.head.bias.data[0] += 1e-6", "elsewhere"),
        ("record = type('Record', (), {'model': staticmethod(lambda ids, lengths: torch.zeros(len(ids), 2))})", "none"),
    ],
)
def test_another_model_than_that_of_fit(between, origin):
    assert graded(between, files={PATH: trained()}).origins == {"rnn_task": origin}


def test_a_checkpoint_that_is_not_this_models():
    told = graded("pass", files={PATH: b"no safetensors"})
    assert told.origins == {"rnn_task": "replaced"}


def test_who_does_not_tell_is_judged_all_the_same():
    honest, silent = graded(files={PATH: trained()}), graded(SILENT, files={PATH: trained()})
    assert silent.origins == {}
    assert [verdict.kind for verdict in silent.verdicts] == [verdict.kind for verdict in honest.verdicts]


def test_a_training_that_a_clock_ended_is_told_for_what_it_is():
    weights = safetensors.torch.load(trained())
    facts = {"stopped_by": "clock", "examples": 128, "asked": 150_000, "seconds": 600.0}
    cut_short = safetensors.torch.save(weights, metadata={"record": json.dumps(facts)})
    outcome = graded(files={PATH: cut_short})
    (verdict,) = outcome.verdicts
    assert "its limit on the clock after 128 of 150,000 examples, in 600 s" in verdict.hint
    assert verdict.hint.startswith(outcome.unfinished["rnn_task"])
    assert replace(verdict, hint="", seconds=0) == replace(
        graded(files={PATH: trained()}).verdicts[0], hint="", seconds=0
    )
