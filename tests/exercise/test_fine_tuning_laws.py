"""Laws for fine-tuned models: the base must stay bit by bit, and the other parameters are counted."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from course.exercise.laws import broken
from course.exercise.script import LawUse
from course.exercise.values import Other, plain

BASE = {"W": torch.arange(6.0).view(2, 3), "b": torch.ones(2)}


def state(learning=(), **changed):
    """Return the base as sent over the wire. Names in `learning` are trainable, and `changed` replaces or adds some."""
    tensors = {**BASE, **changed}
    return plain({name: nn.Parameter(value, requires_grad=name in learning) for name, value in tensors.items()})


def keeps(found) -> str:
    return broken(LawUse("keeps_weights", {"weights": BASE}), {"state": found})


def trains(found, numbers: int) -> str:
    return broken(LawUse("trains_at_most", {"weights": BASE, "numbers": numbers}), {"state": found})


def test_a_base_that_stays_is_found_under_any_name():
    renamed = {f"model.{name}.base": value for name, value in state(A=torch.zeros(4)).items()}
    assert keeps(renamed) == "" and trains(renamed, 4) == ""


@pytest.mark.parametrize(
    "changed",
    [torch.nextafter(BASE["W"], torch.tensor(9.0)), BASE["W"].double(), BASE["W"].T, -BASE["W"], BASE["W"] * torch.nan],
    ids=["by one bit", "in another dtype", "transposed", "negated", "lost"],
)
def test_a_base_that_moved_is_named(changed):
    assert keeps(state(W=changed)) == "W changed, but these weights should stay as they were"


def test_many_that_moved_are_counted():
    many = {str(i): torch.full((i + 1,), 2.0) for i in range(5)}
    message = broken(LawUse("keeps_weights", {"weights": many}), {"state": {}})
    assert message == "5 of the 5 tensors changed, but these weights should stay as they were"


def test_what_may_learn_is_counted_and_so_is_what_has_changed():
    adapted = state(learning=("A",), A=torch.zeros(3, 2))
    assert trains(adapted, 6) == "" and trains(adapted, 5) == "expected at most 5 trainable parameters, got 6"
    assert trains(state(learning=("W",)), 5) == "expected at most 5 trainable parameters, got 6"
    frozen_again = state(W=BASE["W"] + 1)
    assert trains(frozen_again, 5) == "expected at most 5 trainable parameters, got 6"


@pytest.mark.parametrize("found", [None, 3.0, Other("Model"), {"W": "a word"}, {}])
def test_what_is_no_state_is_refused_in_a_sentence(found):
    assert keeps(found)
    assert trains(found, 0) or found == {}
