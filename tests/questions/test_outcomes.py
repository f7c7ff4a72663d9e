"""Values as a person sees them: compared, written, and judged for being easy."""

from __future__ import annotations

import json
from collections import Counter, deque
from typing import Any

import numpy as np
import pytest
import torch
from torch import tensor

from course.questions.outcomes import Value, is_easy, said, same, seen

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("one", "other", "result"),
    [
        (1.0, 1.00001, True),
        (1.0, 1.1, False),
        (1.0, 1.005, None),
        (NAN, NAN, True),
        (NAN, 0.0, False),
        (INF, INF, True),
        (INF, -INF, False),
        (1, 1.0, None),
        (1, 2.0, None),
        ([1, 2], (1, 2), None),
        ([1, 2], [1, 2, 3], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 2}, False),
        (Counter("ab"), {"a": 1, "b": 1}, True),
        ({"a", "b"}, {"b", "a"}, True),
        (tensor([1.0, NAN]), tensor([1.0, NAN]), True),
        (tensor([1.0, 2.0]), tensor([[1.0, 2.0]]), False),
        (tensor([1, 2]), tensor([1.0, 2.0]), None),
        (tensor([1, 2]), tensor([1.0, 3.0]), False),
        (torch.zeros(500), torch.zeros(500), None),
        (np.array([1.0]), tensor([1.0], dtype=torch.float64), True),
        (deque([1]), [1], True),
        ("a", "b", False),
        (None, None, True),
        (object(), object(), None),
    ],
)
def test_two_values_are_the_same_different_or_in_dispute(one: Any, other: Any, result: bool | None) -> None:
    assert same(seen(one), seen(other)) is result
    assert same(seen(other), seen(one)) is result


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (tensor([[0.5, 1.0], [NAN, -INF]]), "tensor([[0.5, 1.], [nan, -inf]])"),
        (tensor([True, False]), "tensor([True, False])"),
        (tensor(3), "tensor(3)"),
        (torch.zeros(0, 2), "tensor of shape (0, 2) without numbers"),
        ((1,), "(1,)"),
        (tensor([1.0]).shape, "(1,)"),
        ({"a": [2.0]}, "{'a': [2.0]}"),
        (set(), "set()"),
        (-0.0001, "0.0"),
        (1e9, "1e09"),
    ],
)
def test_a_value_is_written_as_python_would(value: Any, text: str) -> None:
    assert said(seen(value)) == text


@pytest.mark.parametrize(
    ("value", "easy"),
    [(0.25, True), (0.693147, True), (0.731, False), (250.0, True), (250.4, False), (tensor([0.3333]), True),
     (torch.zeros(17), False), ([1] * 13, False), (NAN, True), ("text", True)],
)  # fmt: skip
def test_what_a_person_can_work_out(value: Any, easy: bool) -> None:
    assert is_easy(seen(value)) is easy


@pytest.mark.parametrize("value", [tensor([[1.0, NAN]]), {"a": (1, [2.0])}, {1, 2}, b"x", None, torch.Size([2])])
def test_a_value_crosses_between_processes(value: Any) -> None:
    plain = json.loads(json.dumps(seen(value).to_plain()))
    assert repr(Value.from_plain(plain)) == repr(seen(value))


@pytest.mark.parametrize(
    "forged",
    [
        ["int", ["1"], []],
        ["int", [True], []],
        ["int", [10**30], []],
        ["float", [], []],
        ["float tensor", [1.0], [2]],
        ["float tensor", [1.0] * 4, [-2, -2]],
        ["list", ["a"], []],
        ["dict", [["int", [1], []]], []],
        ["error", ["ValueError"], []],
        ["text", ["a" * 10_000], []],
        ["shape", [], ["2"]],
        ["a kind of its own", [], []],
        [[], [], []],
        "int",
        7,
    ],
    ids=lambda forged: str(forged)[:30],
)
def test_only_what_a_run_can_give_is_read(forged: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        Value.from_plain(forged)


def test_nesting_without_end_is_refused() -> None:
    value = Value("int", (1,))
    for _ in range(20):
        value = Value("list", (value,))
    with pytest.raises(ValueError, match="no value"):
        Value.from_plain(value.to_plain())
