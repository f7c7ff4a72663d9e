"""Copied weights are found, changed a little or put into another order; two honest trainings are far apart."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from course import data
from course.grading.report.alike_weights import alike_checkpoints
from course.reference.rnn import ElmanClassifier

State = dict[str, Tensor]


@cache
def trained(seed: int) -> State:
    """A small network after some steps on parentheses."""
    torch.manual_seed(seed)
    model = ElmanClassifier(10, 32, 2)
    further(model, seed, 60)
    return model.state_dict()


def further(model: nn.Module, order: int, steps: int) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    stream = data.stream("rnn_task", torch.Generator().manual_seed(order))
    for _, (ids, lengths, labels) in zip(range(steps), stream):
        loss = nn.functional.cross_entropy(model(ids, lengths), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def hand_in(root: Path, **states: State) -> dict[str, Path]:
    """A submission of each, with a record that is nobody else's."""
    for student, state in states.items():
        folder = root / student / "checkpoints"
        folder.mkdir(parents=True)
        state = {name: value.contiguous().clone() for name, value in state.items()}
        save_file(state, folder / "rnn_task.safetensors", metadata={"record": f'{{"name": "{student}"}}'})
    return {student: root / student for student in states}


def found(submissions: dict[str, Path]) -> list[tuple[str, tuple[str, ...]]]:
    return [(shared.how, shared.students) for shared in alike_checkpoints(submissions)]


def noise(state: State, size: float) -> State:
    generator = torch.Generator().manual_seed(7)
    return {name: value + size * torch.randn(value.shape, generator=generator) for name, value in state.items()}


def one_bit(state: State) -> State:
    changed = {name: value.clone() for name, value in state.items()}
    changed["from_state.weight"][3, 5] = torch.nextafter(changed["from_state.weight"][3, 5], torch.tensor(9.0))
    return changed


def a_step_further(state: State) -> State:
    model = ElmanClassifier(10, 32, 2)
    model.load_state_dict(state)
    further(model, 99, 1)
    return model.state_dict()


def permuted(state: State) -> State:
    """The same function, its hidden units in another order."""
    order = torch.randperm(32, generator=torch.Generator().manual_seed(3))
    return {
        name: value[order][:, order]
        if name == "from_state.weight"
        else value[:, order]
        if name == "to_classes.weight"
        else value[order]
        if len(value) == 32
        else value
        for name, value in state.items()
    }


@pytest.fixture(scope="module")
def state() -> State:
    return trained(1)


@pytest.mark.parametrize(
    ("change", "how"),
    [
        (lambda state: state, "the same weights"),
        (one_bit, "nearly the same weights"),
        (lambda state: noise(state, 1e-3), "nearly the same weights"),
        (lambda state: {name: value.half().float() for name, value in state.items()}, "nearly the same weights"),
        (lambda state: {name: value.half() for name, value in state.items()}, "nearly the same weights"),
        (lambda state: {name: 3 * value for name, value in state.items()}, "nearly the same weights"),
        (lambda state: {f"my_{name}": value + 1e-4 for name, value in state.items()}, "nearly the same weights"),
        (a_step_further, "nearly the same weights"),
        (permuted, "the same weights, their units in another order"),
        (lambda state: noise(permuted(state), 1e-4), "the same weights, their units in another order"),
    ],
)
def test_copies(tmp_path, state: State, change: Callable[[State], State], how: str):
    submissions = hand_in(tmp_path, ada=state, bea=change(state), cy=trained(2), dan=trained(3))
    assert found(submissions) == [(how, ("ada", "bea"))]


def test_honest_trainings_are_far_apart(tmp_path, state):
    """From seeds of their own, and of two sizes."""
    submissions = hand_in(tmp_path, ada=state, bea=trained(2), cy=trained(3), dan={"weight": torch.ones(9, 9)})
    assert found(submissions) == []


def test_what_all_were_given_says_nothing(tmp_path):
    """Adapters of one's own on a base that is everybody's."""
    base = {f"base.{number}": torch.randn(20, 20) for number in range(10)}
    own = {student: {"A": torch.randn(2, 40), "B": torch.randn(40, 2)} for student in ("ada", "bea", "cy")}
    assert found(hand_in(tmp_path, **{student: {**base, **state} for student, state in own.items()})) == []


def test_groups_are_named_whole(tmp_path, state):
    submissions = hand_in(tmp_path, ada=state, bea=state, cy=noise(state, 1e-3), dan=trained(2))
    assert found(submissions) == [
        ("nearly the same weights", ("ada", "bea", "cy")),
        ("the same weights", ("ada", "bea")),
    ]


def test_the_same_file_under_another_name_is_another_task(tmp_path, state):
    submissions = hand_in(tmp_path, ada=state, bea=state)
    (tmp_path / "bea/checkpoints/rnn_task.safetensors").rename(tmp_path / "bea/checkpoints/lstm_gru_task.safetensors")
    assert found(submissions) == []


@pytest.mark.parametrize("value", [0.0, float("nan"), float("inf"), 1e38])
def test_weights_that_are_none(tmp_path, state, value):
    """They are compared with nothing, and keep nobody from being compared."""
    odd = {name: torch.full_like(tensor, value) for name, tensor in state.items()}
    submissions = hand_in(tmp_path, ada=state, bea=odd, cy=noise(odd, 1e-3), dan=one_bit(state))
    assert ("nearly the same weights", ("ada", "dan")) in found(submissions)


def test_a_distance_comes_out_of_the_sketch_as_it_is(tmp_path, state):
    near = noise(state, 0.01)
    (shared,) = alike_checkpoints(hand_in(tmp_path, ada=state, bea=near))
    matrices = [name for name, value in state.items() if value.dim() > 1]
    true = max(float((state[name] - near[name]).norm() / state[name].norm()) for name in matrices)
    assert shared.apart == pytest.approx(true, rel=0.3)


def test_a_class_of_three_hundred_takes_seconds(tmp_path):
    generator = torch.Generator().manual_seed(0)
    states = {
        f"s{n}": {"a": torch.randn(64, 64, generator=generator), "b": torch.randn(200, 64, generator=generator)}
        for n in range(300)
    }
    submissions = hand_in(tmp_path, **states)
    started = time.process_time()
    assert alike_checkpoints(submissions) == ()
    assert time.process_time() - started < 10
