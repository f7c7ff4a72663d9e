"""What is noticed about a trained model that earned points, and that what `fit` leaves behind is left alone."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import pytest
import torch
from nbformat.v4 import new_code_cell, new_notebook
from safetensors.torch import save_file
from torch import nn

from course import fit
from course.grading.classroom.graded import Graded
from course.grading.report.training_signs import training_signs
from course.judge.verdict import Verdict
from course.notebook.provenance import digests
from tests.original import find_item

TASK = find_item("rnn_task")[1]
TRAIN = "def train(model, batches):\n    for batch in batches:\n        pass"
FITS = {
    "name": "rnn_task",
    "losses": [0.7 - 0.0002 * step for step in range(3000)],
    "examples": 150_016,
    "seconds": 8.0,
    "device": "cpu",
    "code": {"train": digests(TRAIN)["train"]},
}
NO_NUMBERS = "fit did not write the checkpoint's record, because examples, seconds or losses in it are not numbers"
OTHER_CODE = "the model was trained with other code than was handed in, because these differ"
PYTHON = ".".join(map(str, sys.version_info[:3]))


def hand_in(folder: Path, record: object, name: str = "rnn_task") -> None:
    (folder / "checkpoints").mkdir(exist_ok=True)
    metadata = {} if record is None else {"record": json.dumps(record)}
    save_file({"weight": torch.zeros(3)}, folder / "checkpoints" / f"{name}.safetensors", metadata=metadata)


def noticed(
    folder: Path, origin: str = "handed in", score: float = 5.0, code: str = TRAIN, python: str = PYTHON
) -> list[str]:
    work = Graded("ada", verdicts={"rnn_task": Verdict("rnn_task", "passed", score, 5.0)}, origins={"rnn_task": origin})
    nb = new_notebook(cells=[new_code_cell(code)], metadata={"language_info": {"name": "python", "version": python}})
    found = list(training_signs(work, folder, nb, [TASK]))
    assert all((sign.student, sign.exercise) == ("ada", "rnn_task") for sign in found)
    return [sign.what for sign in found]


def test_what_fits(tmp_path):
    hand_in(tmp_path, FITS)
    assert noticed(tmp_path) == []
    hand_in(tmp_path, {**FITS, "device": "cuda", "examples": 600_064})
    assert noticed(tmp_path) == []
    hand_in(tmp_path, {**FITS, "losses": [], "code": {}})  # nobody has to log
    assert noticed(tmp_path) == []


def test_what_fit_itself_leaves_behind(tmp_path, monkeypatch):
    """A training cut short; its model begins with what it would learn of no batch at all."""

    def train(model, batches):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for number, (_, lengths, labels) in enumerate(batches):
            loss = nn.functional.cross_entropy(model(lengths[:, None] / 32), labels * 0)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            batches.log(loss)
            if number == 100:
                break

    monkeypatch.chdir(tmp_path)
    fit("rnn_task", lambda: nn.Linear(1, 2), train)
    assert noticed(tmp_path) == []


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"name": "cbow_task"}, "the checkpoint's record is of another training: 'cbow_task'"),
        ({"examples": 600_000}, "the record says 600,000 examples on cpu, but fit hands out only 150,000 there"),
        ({"examples": 900}, "the record has 3,000 losses for 900 examples"),
        ({"seconds": 0.01}, "the record says 3,000 steps took 0.01 s, but no machine is that fast"),
        (
            {"losses": [0.031] * 300},
            "the loss in the record begins near 0.031 and does not fall",
        ),
        ({"examples": "many"}, NO_NUMBERS),
        ({"losses": {"a": 1}}, NO_NUMBERS),
        ({"code": {"train": "0" * 16}}, f"{OTHER_CODE}: train"),
        ({"code": {"learn": "0" * 16}}, f"{OTHER_CODE}: learn"),
    ],
)  # fmt: skip
def test_what_does_not_fit(tmp_path, changed, what):
    hand_in(tmp_path, {**FITS, **changed})
    assert noticed(tmp_path) == [what]


@pytest.mark.parametrize("record", [None, {}, [], "a"])
def test_a_checkpoint_that_fit_did_not_write(tmp_path, record):
    hand_in(tmp_path, record)
    assert noticed(tmp_path) == ["the checkpoint holds no record of a training, although fit writes one"]


@pytest.mark.parametrize("number", [math.inf, math.nan, 10**400, -1, True, None])
def test_numbers_that_are_none(tmp_path, number):
    for field in ("examples", "seconds"):
        hand_in(tmp_path, {**FITS, field: number})
        assert len(noticed(tmp_path)) == 1
    hand_in(tmp_path, {**FITS, "losses": [number] * 30})
    noticed(tmp_path)


def test_only_the_same_python_can_tell_that_code_has_changed(tmp_path):
    hand_in(tmp_path, FITS)
    assert noticed(tmp_path, code="def train(model, batches):\n    return 3") != []
    assert noticed(tmp_path, code="def train(model, batches):\n    return 3", python="3.9.1") == []


@pytest.mark.parametrize(
    ("origin", "part"),
    [
        ("none", "has no weights"),
        ("elsewhere", "differ from those that fit saved"),
        ("replaced", "written during grading"),
    ],
)
def test_where_the_weights_come_from(tmp_path, origin, part):
    hand_in(tmp_path, FITS)
    (told,) = noticed(tmp_path, origin)
    assert part in told


def test_what_was_trained_anew_is_not_the_checkpoint_that_was_handed_in(tmp_path):
    hand_in(tmp_path, {**FITS, "seconds": 0.0})
    assert noticed(tmp_path, "trained anew") == []


def test_what_earned_nothing_is_not_looked_at(tmp_path):
    hand_in(tmp_path, None)
    assert noticed(tmp_path, "elsewhere", score=0.0) == []
