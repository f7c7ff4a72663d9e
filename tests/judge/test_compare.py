"""Comparison of a result with the right one: what passes, what fails, and the message."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course.exercise.key import KeyCase
from course.exercise.recording import Raised, Recording
from course.exercise.script import build, call
from course.exercise.values import Other
from course.judge.compare import difference, is_too_large
from course.judge.compare_values import agree, distance, values_differ


def compared(expected, seen, *given, raises="", **options):
    case = call("case", *given, tolerance=1e-6, raises=raises, grad=False)
    held = KeyCase(case, lambda: Recording({"out": expected}), lambda name: Recording())
    return difference(held, Recording({"out": seen}, **options), ("x", "y"))


X = torch.arange(6.0, dtype=torch.float64).reshape(2, 3)
PASS = [
    (X, X.clone()),
    (X, X + 1e-8),
    (0.5, np.array(0.5)),
    (0.5, torch.tensor(0.5)),
    (2, np.array(2)),
    (2, 2.0),
    (True, torch.tensor(True)),
    ((X, X), [X, X]),
    (Counter(a=1), Counter(a=1)),
    (Counter(a=1), {"a": 1}),
    ({"a": 1}, Counter(a=1)),
    ([b"a"], (b"a",)),
    (float("inf"), float("inf")),
    (X.double(), X.float()),
    (X.numpy(), X.numpy()),
    ("text", "text"),
    (None, None),
]
FAIL = [
    (X, X.T, "shape", "axes in the order (1, 0)"),
    (X, X.reshape(3, 2), "shape", "which holds the right number of values"),
    (X, X[:1], "shape", "(1, 3)"),
    (X, X.numpy(), "type", "got a numpy array"),
    (X, None, "type", "got None. Is a `return` missing?"),
    (X, [X], "type", "got a list"),
    (X, X.long(), "dtype", "int64"),
    (X.numpy(), X, "type", "got a tensor of shape (2, 3)"),
    (X.numpy(), X.numpy() + 1, "values", "6 of 6"),
    (torch.tensor([10**8, 1]), torch.tensor([10**8 + 1, 1]), "values", "the value is wrong"),
    (X > 2, (X > 2).float(), "dtype", "float32"),
    (X, X + torch.eye(3, dtype=torch.float64)[:2], "values", "2 of 6 values are off, the first at [0, 0]"),
    (X, X * float("nan"), "values", "NaN"),
    (X, X + 1, "values", "6 of 6 values are off, all of them too large, the first at [0, 0]"),
    (X > 2, X > 9, "values", "3 of 6 values are off, all of them False"),
    (True, 1, "type", "True or False"),
    (0.5, "0.5", "type", "got a string"),
    (2, 3, "values", "got 3, which is too large"),
    (0.5, 0.6, "values", "got 0.6, which is too large"),
    (0.5, float("nan"), "values", "got NaN"),
    ((X, (X, X)), (X, (X, -X)), "values", "in result 2 of 2, result 2 of 2, 5 of 6"),
    ((X, X), (X,), "type", "2 results"),
    ((X, X), (X, 2 * X), "values", "result 2 of 2"),
    ([5, 7, 11], [5, 904, 11], "values", "in element 2 of 3, got 904, which is wrong"),
    ([(b"a", 1)], [(b"a", 2)], "values", "in element 1 of 1, element 2 of 2, got 2, which is wrong"),
    (([X, X], 2), ([X, -X], 2), "values", "in result 1 of 2, element 2 of 2, 5 of 6"),
    ((5, 7), (5, 8), "values", "in result 2 of 2, got 8, which is wrong"),
    ([5, 7, 11], [5, 7], "type", "expected 3 elements, got 2"),
    ({"a": 7, "b": 6}, {"a": 7, "b": 904}, "values", "at 'b', got 904, which is wrong"),
    ({"weights": 700, "biases": 6}, {"weights": 700, "biases": 5}, "values", "at 'biases', got 5, which is too small"),
    (Counter(a=1), {"a": 2}, "values", "at 'a', got 2"),
    ((b"a", b"b"), [b"a", b"b"], "type", "expected a tuple, got a list"),
    (Counter({("a", "b"): 1}), Counter({"ab": 1}), "type", "expected a tuple as a key, got a string"),
    (Counter({"a": 1, "b": 1}), Counter({"a": 1}), "values", "1 missing"),
    (Counter({"a": 1}), Counter({"a": 2}), "values", "at 'a'"),
]


@pytest.mark.parametrize(("expected", "seen"), PASS)
def test_what_passes(expected, seen):
    assert compared(expected, seen) is None


@pytest.mark.parametrize(("expected", "seen", "kind", "words"), FAIL)
def test_what_fails_and_what_is_said(expected, seen, kind, words):
    found = compared(expected, seen)
    assert found is not None
    assert (found.kind, words in found.message) == (kind, True), found


def test_dtype_follows_a_float_input():
    assert compared(X, X.float(), X).kind == "dtype"


@pytest.mark.parametrize(
    "forged", ["x", 3, Other("Thing"), torch.tensor(1.0), {"x": X}, [torch.ones(2)], [X > 2], ["x"], [[X]], [X.numpy()]]
)
def test_gradients_that_are_none_are_wrong(forged):
    held = KeyCase(call("case", X), lambda: Recording({"out": X, "gradients of out": [X]}), lambda name: Recording())
    found = difference(held, Recording({"out": X, "gradients of out": forged}))
    assert found is not None and found.kind == "gradient"
    if isinstance(forged, list | dict):  # as when a misconception's recording is held against it
        assert values_differ(held.case, Recording({"gradients of out": forged}), held.expected)


def test_gradients_of_nothing_need_not_be_there():
    nothing = torch.zeros(0, 3, dtype=torch.float64)
    held = KeyCase(call("case", X), lambda: Recording({"gradients of out": [nothing]}), lambda name: Recording())
    assert difference(held, Recording({"gradients of out": [None]})) is None


def test_errors_asked_for():
    value_error = Raised(("UnicodeError", "ValueError", "Exception"), "no")
    assert compared(None, None, raises="ValueError", raised=value_error) is None
    assert "it raised nothing" in compared(None, None, raises="ValueError").message
    other = compared(None, None, raises="ValueError", raised=Raised(("IndexError",), "no", "x[3]"))
    assert other.message.endswith("it raised IndexError: no, at your line `x[3]`")


def test_the_first_thing_said_is_the_first_thing_to_mend():
    assert compared(X, X, raised=Raised(("NotImplementedError",), "")).kind == "missing"
    assert "your line `y = x @ x`" in compared(X, X, raised=Raised(("RuntimeError",), "size", "y = x @ x")).message
    assert "changed the input `y`" in compared(X, X, mutated=("out: 1",)).message
    assert "changed the input `²`" in compared(X, X, mutated=("out: ²",)).message


def told(case, **seen):
    held = KeyCase(case, lambda: Recording({"out": X}), lambda name: Recording())
    return difference(held, Recording(**seen), ("V", "H"))


def test_what_a_method_changes_is_not_named_after_what_the_class_was_made_with():
    case = build("case", 5, 7).call(X).call(X, method="fit", into="fitted")
    assert "changed an argument of `forward`" in told(case, outputs={"out": X}, mutated=("out: 0",)).message
    assert "changed an argument of `fit`" in told(case, outputs={"out": X}, mutated=("fitted: 0",)).message
    assert "changed the input `H`" in told(case, outputs={"out": X}, mutated=("model: 1",)).message


def test_what_takes_no_arguments_changes_none():
    case = call("case", 5, X).call(on="out", method="double", into="out")
    assert "changed the input `H`" in told(case, outputs={"out": X}, mutated=("out: 1",)).message


def test_a_gradient_that_is_wrong_because_an_input_was_changed():
    held = KeyCase(call("case", X), lambda: Recording({"out": X, "gradients of out": [X]}), lambda name: Recording())
    seen = Recording({"out": X, "gradients of out": [2 * X]}, mutated=("out: 0",))
    found = difference(held, seen, ("x",))
    assert found is not None and "changed the input `x`" in found.message


def test_a_parameter_changed_in_place_is_no_input():
    leaf = "a leaf Variable that requires grad is being used in an in-place operation."
    made = build("case", 5, 7).call(X)
    assert "changes a parameter" in told(made, raised=Raised(("RuntimeError",), leaf, step="model")).message
    called = call("case", X)
    assert "changes an input" in told(called, raised=Raised(("RuntimeError",), leaf, step="out")).message


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8), st.floats(1e-9, 1e-3))
def test_agreement_is_distance_within_one(values, gap):
    expected = torch.tensor(values, dtype=torch.float64)
    seen = expected + gap * (1 + expected.abs())
    assert agree(expected, expected, 1e-6)
    apart = distance(expected, seen, 1e-6)
    if apart < 0.99 or apart > 1.01:
        assert agree(expected, seen, 1e-6) == (apart < 1)


@pytest.mark.parametrize("number", [10**400, -(10**400)])
def test_a_whole_number_beyond_all_is_wrong_and_no_fault(number):
    assert compared(0.5, number).kind == "values"


def test_an_answer_far_larger_than_the_reference_is_not_examined():
    case = call("case", grad=False).laws_only().law("slices_differ", of="out")
    held = KeyCase(case, lambda: Recording({"out": X}), lambda name: Recording())
    assert not is_too_large(held, Recording({"out": torch.zeros(6, 100)}))
    for large in (torch.zeros(10**6), torch.zeros(0, 10**6), [[torch.zeros(5 * 10**5)]], {"a": np.zeros(5 * 10**5)}):
        assert is_too_large(held, Recording({"out": large}))
    found = difference(held, Recording({"out": torch.rand(10**6, 1)}))
    assert found.kind == "shape" and "far more numbers" in found.message
