"""CONTRIBUTING's example is run as it stands: what it promises, the judge does."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import jupytext
import pytest
import torch
from ipywidgets import VBox
from torch import nn

from course.data.streams import Stream
from course.exercise import Rng, exercise, given_model
from course.exercise.key import key_of
from course.exercise.runner import run
from course.judge import judge
from course.show import live, style
from tests.hidden.test_nothing_for_nothing import MOST, answers
from tests.show.widgets import controls, look, move
from tests.training import judged

TEXT = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text("utf-8")


def _block(name: str) -> str:
    (code,) = re.findall(rf"```python {name}\n(.*?)```", TEXT, re.S)
    return code


def test_the_example_exercise_keeps_its_promises(monkeypatch) -> None:
    smoothing = ModuleType("smoothing")
    exec(_block("reference"), vars(smoothing))
    monkeypatch.setattr("course.reference.smoothing", smoothing, raising=False)
    hidden: dict = {}
    exec(_block("hidden"), hidden)
    declared = hidden["moving_average"]
    key = key_of(declared, 7)
    assert judge(key, lambda script: run(script, declared.reference), 2).kind == "passed"
    for misconception in declared.misconceptions:
        verdict = judge(key, lambda script, wrong=misconception.wrong: run(script, wrong), 2)
        assert verdict.score < 2 and verdict.misconception == misconception.name
    bare = replace(key, misconceptions=())
    for name, respond in answers(declared, bare, key_of(declared, public_only=True)):
        assert judge(bare, respond, 2).score <= 2 * MOST, f"{name} earns something"


def test_an_exercise_is_about_thirty_lines() -> None:
    written = [line for line in _block("hidden").splitlines() if line.strip()]
    assert len(written) < 36


def test_the_notebook_cells_are_what_the_builder_reads() -> None:
    answer, check = jupytext.reads(_block("notebook"), fmt="py:percent").cells
    assert (answer.metadata["solution"], check.metadata["check"]) == ("moving_average", "moving_average")
    namespace: dict = {"torch": torch}
    exec(answer.source, namespace)
    assert namespace["moving_average"](torch.ones(2, 5), 3).shape == (2, 3)


class Batches(list):
    """What `fit` hands over, without its budget."""

    def log(self, loss: torch.Tensor) -> None:
        assert loss.isfinite()


def test_the_example_task_keeps_its_promises() -> None:
    stream: dict = {"torch": torch, "Tensor": torch.Tensor, "Iterator": Iterator}
    exec(_block("stream"), stream)
    hidden: dict = {
        "torch": torch,
        "exercise": exercise,
        "given_model": given_model,
        "trends": SimpleNamespace(**stream),
    }
    exec(_block("task"), hidden)
    task = hidden["smoothing_task"]
    key = key_of(task, 7)
    assert judge(key, lambda script: run(script, task.reference), 4).kind == "passed"
    for misconception in task.misconceptions:
        verdict = judge(key, lambda script, wrong=misconception.wrong: run(script, wrong), 4)
        assert verdict.score < 4 and verdict.misconception == misconception.name

    answer, trains, check = jupytext.reads(_block("training"), fmt="py:percent").cells
    assert (answer.metadata["solution"], check.metadata["check"]) == ("smoothing_task", "smoothing_task")
    notebook: dict = {"torch": torch, "nn": nn, "F": nn.functional}
    exec(answer.source, notebook)
    torch.manual_seed(0)
    notebook["fit"] = lambda name, build, train: _fitted(stream["STREAMS"][name], build(), train)
    exec(trains.source, notebook)
    assert judge(key, lambda script: run(script, notebook["record"].model), 4).kind == "passed"


def test_the_example_seeds_tell_right_from_wrong(monkeypatch) -> None:
    stream: dict = {"torch": torch, "Tensor": torch.Tensor, "Iterator": Iterator}
    exec(_block("stream"), stream)
    hidden: dict = {"torch": torch, "exercise": exercise, "given_model": given_model}
    exec(_block("task"), hidden | {"trends": SimpleNamespace(**stream)}, hidden)
    item = SimpleNamespace(points=4, budget=SimpleNamespace(cpu=_budget()))
    monkeypatch.setattr(judged, "item_of", lambda name: item)
    made = SimpleNamespace(stream=lambda name, generator: stream["STREAMS"][name](generator))
    monkeypatch.setattr(judged, "data", made)
    monkeypatch.setattr(judged, "find", hidden.__getitem__)
    names = {"pytest": pytest, "torch": torch, "nn": nn, "trained": judged.trained, "verdict_on": judged.verdict_on}
    exec(_block("seeds"), names)
    names["test_the_notebooks_loop_gets_full_marks"](0)
    names["test_a_loop_that_hardly_moves_does_not"](0)


def test_the_example_widget_is_drawn_and_moves() -> None:
    reference: dict = {}
    exec(_block("reference"), reference)
    made: dict = {"live": live, "style": style, "Tensor": torch.Tensor, "Callable": Callable, "Any": Any, "VBox": VBox}
    exec(_block("widget"), made)
    widget = made["explorer"](torch.randn(40, generator=torch.Generator().manual_seed(0)), reference["moving_average"])
    (width,) = controls(widget)
    before = look(widget)
    move(width)
    assert all(now != then for now, then in zip(look(widget), before, strict=True))


def _fitted(stream: Stream, model: nn.Module, train: Callable) -> SimpleNamespace:
    """Trained with the budget that the guide gives."""
    batches = stream(torch.Generator().manual_seed(0))
    train(model, Batches(islice(batches, _budget() // 50)))
    return SimpleNamespace(model=model)


def _budget() -> int:
    (budget,) = re.findall(r"Budget\(cpu=([\d_]+)", TEXT)
    return int(budget)


def test_the_drawing_hand_is_told_as_it_is() -> None:
    """Names and the order of arguments of all that `rng` draws."""
    for name, method in inspect.getmembers(Rng, inspect.isfunction):
        if name.startswith("_"):
            continue
        parameters = list(inspect.signature(method).parameters.values())[1:]
        told = re.search(rf"`rng\.{name}\(([^`]*)\)`", TEXT)
        assert told, f"{name} is not told"
        names = [re.split("=", part)[0].strip() for part in told[1].split(",") if part.strip()]
        assert names == [str(one).partition(":")[0] for one in parameters]
