"""Descriptions of what an answer gave and of the right value's size, for instructors and in no student's report."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from course.exercise import build, call, exercise
from course.exercise.key import key_of
from course.exercise.runner import run
from course.exercise.values import Other
from course.judge import judge
from course.judge.describe import MOST_CHARACTERS, described, kind_and_size
from course.judge.report import html, text


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (torch.tensor([[0.5, -1.25], [3.0, 4.0]]), "tensor (2, 2) float32: 0.5, -1.25, 3, 4"),
        (torch.arange(9), "tensor (9,) int64: 0, 1, 2, 3, 4, 5, …"),
        (torch.ones(0, 3), "tensor (0, 3) float32: "),
        (np.array([1.5, np.nan]), "numpy array (2,) float64: 1.5, nan"),
        (0.123456789, "0.123457"),
        (True, "True"),
        (None, "None"),
        (7**300, "a whole number of 843 bits"),
        ("two words", "'two words'"),
        ([1, 2, 3, 4], "list of 4: 1, 2, 3, …"),
        ({"a": [1], "b": (2.0,)}, "dict of 2: 'a' → list of 1: 1, 'b' → tuple of 1: 2"),
        ([[[[1]]]], "list of 1: list of 1: list of 1"),
        ({"b", "a"}, "set of 2: 'a', 'b'"),
        (Other("Module"), "object of type Module"),
    ],
)
def test_a_value_in_words(value, words):
    assert described(value) == words


def test_no_description_is_long():
    assert len(described(["x" * 500] * 9)) == MOST_CHARACTERS and len(described("y" * 10**6)) <= MOST_CHARACTERS


def test_kind_and_size():
    assert kind_and_size(torch.ones(2, 3, dtype=torch.int64)) == "tensor (2, 3) int64"
    assert kind_and_size("text") == "string of 4" and kind_and_size(3) == "whole number"


class Pair(torch.nn.Module):
    def first(self, x):
        return x

    def second(self, x):
        if x.sum() < 0:
            raise ValueError("no sums below zero")
        return 2 * x


@exercise(Pair, name="LayerNorm")
def pair(rng):
    x = rng.uniform(2, 3)
    yield build("both").call(x, method="first", into="one").call(x, method="second", into="two")
    yield build("below zero", raises="ValueError").call(-x, method="second")
    yield build("by a law").call(x, method="first").laws_only().law("bounded", low=0.0, high=0.5)


def test_the_output_at_fault_is_described_beside_the_right_ones_size():
    class Wrong(Pair):
        def first(self, x):
            return x[0]

        def second(self, x):
            return len(x)

    by_title = {case.title: case for case in judge(key_of(pair, 5), lambda s: run(s, Wrong), 4, describing=True).cases}
    assert by_title["both"].got.startswith("one: tensor (3,) float64: 0.")
    assert by_title["both"].right == "tensor (2, 3) float64"
    assert (by_title["below zero"].got, by_title["below zero"].right) == ("2", "raises ValueError")
    assert by_title["by a law"].got.startswith("tensor (3,)") and by_title["by a law"].right == ""


def test_an_error_stands_for_the_value():
    class Raises(Pair):
        def second(self, x):
            return x @ x

    first = judge(key_of(pair, 5), lambda script: run(script, Raises), 4, describing=True).cases[0]
    assert (first.got, first.right) == ("two: raised RuntimeError", "tensor (2, 3) float64")


SECRET = 314159265


@exercise(lambda n: n + SECRET, name="rnn_cell")
def secretive(rng):
    yield call("a hidden one", 271828)


def test_no_report_to_a_student_shows_them():
    verdict = judge(key_of(secretive, 5), lambda script: run(script, lambda n: [n, n]), 4, describing=True)
    assert verdict.cases[0].got == "list of 2: 271828, 271828" and verdict.cases[0].right == "whole number"
    for shown in (text(verdict), html(verdict), text(verdict, public=True), html(verdict, public=True)):
        assert "271828" not in shown and str(SECRET) not in shown and "list of" not in shown


def test_a_check_describes_nothing():
    cases = judge(key_of(pair, 5), lambda script: run(script, Pair), 4).cases
    assert {(case.got, case.right) for case in cases} == {("", "")}
