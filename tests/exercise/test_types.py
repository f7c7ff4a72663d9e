"""Every type that judge and answer exchange: right, wrong, changed, as an argument, and those that are refused."""

from __future__ import annotations

from collections import Counter, deque
from copy import deepcopy
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
import torch

from course.exercise import Exercise, build, call
from course.exercise.key import NoKey, key_of
from course.exercise.runner import run
from course.judge import Verdict, judge
from tests.hidden.judged import across


def change_first(collection) -> None:
    collection[0] = 7


CROSSING = {
    "bytes": (b"\xff\x00ab", b"\xff\x00ac", None),
    "bytearray": (bytearray(b"ab"), bytearray(b"ac"), lambda value: value.append(1)),
    "str": ("naïve", "naive", None),
    "bool": (True, False, None),
    "int": (3, 4, None),
    "float": (0.5, 0.6, None),
    "complex": (1 + 2j, 1 - 2j, None),
    "Fraction": (Fraction(1, 3), Fraction(1, 2), None),
    "None": (None, 0, None),
    "range": (range(1, 9, 2), range(1, 8, 3), None),
    "list": ([1, "a"], [1, "b"], change_first),
    "tuple": ((1, 2), (2, 1), None),
    "a list in a tuple": ((1, [2]), (1, [3]), lambda value: value[1].append(4)),
    "nested tuples": (((1, 2), ("a", (b"c",))), ((1, 2), ("a", (b"d",))), None),
    "deque": (deque([1, 2], 3), deque([2, 1], 3), change_first),
    "dict": ({(1, "a"): 2, b"k": None}, {(1, "a"): 3, b"k": None}, lambda value: value.pop(b"k")),
    "a dict in a dict": ({"a": {"b": 1}}, {"a": {"b": 2}}, lambda value: value["a"].clear()),
    "Counter": (Counter(aab=2), Counter(aab=1), lambda value: value.update(c=0)),
    "set": ({1, (2, 3)}, {1, (3, 2)}, lambda value: value.add(5)),
    "an empty set": (set(), {0}, lambda value: value.add(5)),
    "frozenset": (frozenset("ab"), frozenset("ac"), None),
    "a set of sets": ({frozenset({1}), frozenset()}, {frozenset({2}), frozenset()}, lambda value: value.clear()),
    "array": (np.array([1, 2]), np.array([1, 3]), None),
    "tensor": (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 3.0]), change_first),
    "tensors in a dict": ({"w": torch.ones(2)}, {"w": torch.zeros(2)}, lambda value: value["w"].zero_()),
}
"""By type: a right answer, a wrong one, and how an answer may change it where it is an argument."""


@dataclass
class Pair:
    one: int
    two: int


REFUSED = {
    "a generator": lambda: (number for number in (1, 2)),
    "a function": lambda: len,
    "a dataclass": lambda: Pair(1, 2),
    "an object": object,
    "keys of a dict": lambda: {"a": 1}.keys(),
    "a tensor of complex numbers": lambda: torch.ones(2, dtype=torch.complex64),
    "an array of words": lambda: np.array(["a", "b"]),
    "a set of tensors": lambda: {torch.ones(2)},
    "a dict that is looked up by objects": lambda: {(1, object()): 2},
    "an object in a list": lambda: [1, object()],
}
"""What cannot be compared exactly."""


def exercise(reference, *args) -> Exercise:
    def cases(rng):
        yield call("public", *args, public=True)
        yield call("hidden", *args)

    return Exercise("types", reference, cases)


def verdict_on(declared: Exercise, answer) -> Verdict:
    """Return the verdict on an answer, judged as at grading."""
    return judge(key_of(declared, 3), across(lambda script: run(script, answer)), 2)


@pytest.mark.parametrize(("right", "wrong", "_"), CROSSING.values(), ids=CROSSING)
def test_an_answer_is_told_from_a_wrong_one_of_its_type_and_of_others(right, wrong, _):
    declared = exercise(lambda: right)
    declared.mistakes("Look at one of them.", known=lambda: wrong)
    assert verdict_on(declared, lambda: deepcopy(right)).kind == "passed"
    seen = verdict_on(declared, lambda: deepcopy(wrong))
    assert (seen.kind, seen.score, seen.misconception) == ("wrong", 0, "known")
    assert verdict_on(declared, object).kind == "wrong"
    assert verdict_on(declared, lambda: [right]).kind == "wrong"


@pytest.mark.parametrize(("right", "wrong", "_"), CROSSING.values(), ids=CROSSING)
def test_an_answer_gets_an_argument_as_it_is(right, wrong, _):
    declared = exercise(lambda value: (type(value).__name__, value), right)
    assert verdict_on(declared, lambda value: (type(value).__name__, value)).kind == "passed"
    assert verdict_on(declared, lambda value: (type(value).__name__, wrong)).kind == "wrong"


@pytest.mark.parametrize(
    ("given", "change"), [(right, change) for right, _, change in CROSSING.values() if change],
    ids=[name for name, (_, _, change) in CROSSING.items() if change],
)  # fmt: skip
def test_a_changed_argument_is_noticed(given, change):
    def changes(value):
        change(value)
        return 1

    seen = verdict_on(exercise(lambda value: 1, given), changes)
    assert seen.kind == "wrong" and "changed the input `value`" in seen.message


@pytest.mark.parametrize("make", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_compared_is_refused_where_it_is_declared(make):
    with pytest.raises(
        NoKey, match=r"^in the case 'public' of types the right answer is of type `.*. Make it of tensors"
    ):
        verdict_on(exercise(make), make)
    with pytest.raises(NoKey, match=r"^in the case 'public' of types a value of type `.*` is handed over"):
        verdict_on(exercise(lambda value: 1, make()), lambda value: 1)


def test_an_object_whose_deeds_are_examined_may_be_of_any_type():
    def cases(rng):
        yield build("made", 1, 2).read("two")

    declared = Exercise("types", Pair, cases)
    assert verdict_on(declared, Pair).kind == "passed"
    assert verdict_on(declared, lambda one, two: Pair(two, one)).kind == "wrong"


def test_a_number_beyond_all_is_wrong_where_a_complex_one_is_asked_for():
    assert verdict_on(exercise(lambda: 1j), lambda: 10**400).kind == "wrong"
