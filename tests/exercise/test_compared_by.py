"""Comparison where several results are right, as of a path by its probability."""

from __future__ import annotations

import pytest
import torch

from course.exercise.compared_by import UNREADABLE, by_position, log_p_of_path
from course.exercise.key import KeyCase
from course.exercise.recording import Recording
from course.exercise.script import build, call
from course.judge.compare import difference

START = torch.tensor([1.0, 0.0], dtype=torch.float64).log()
A = torch.tensor([[0.5, 0.5], [1.0, 0.0]], dtype=torch.float64).log()
E = A.clone()
SEEN = torch.tensor([[0, 0, 0, 1]])
BEST = torch.tensor([2.0**-6], dtype=torch.float64).log()
TIED = [[0, 1, 0, 0]], [[0, 0, 1, 0]]


def told(path, score=BEST):
    case = call("case", START, A, E, SEEN, tolerance=1e-6, grad=False).compare_by("log_p_of_path")
    right = Recording({"out": (torch.tensor(TIED[0]), BEST)})
    return difference(KeyCase(case, lambda: right, lambda name: Recording()), Recording({"out": (path, score)}))


@pytest.mark.parametrize("path", TIED)
def test_equally_good_paths_pass(path):
    assert told(torch.tensor(path)) is None


@pytest.mark.parametrize(
    ("path", "score", "words"),
    [
        (torch.tensor([[0, 0, 0, 0]]), BEST, "at 'log p of the path', got -4.85203, which is too small"),
        (torch.tensor([[0, 1, 1, 0]]), BEST, "at 'log p of the path', got an infinite number"),
        (torch.tensor([[0, 1, 0, 2]]), BEST, "at 'log p of the path', got an infinite number"),
        (torch.tensor(TIED[1]), -BEST, "at 'the score', got"),
        (torch.tensor(TIED[1]).T, BEST, "in result 1 of 2, expected the shape (1, 4), got (4, 1)"),
        (torch.tensor(TIED[1]).double(), BEST, "in result 1 of 2, expected the dtype int64, got float64"),
        (TIED[1], BEST, "in result 1 of 2, expected a tensor of shape (1, 4), got a list"),
    ],
)
def test_what_a_worse_path_hears(path, score, words):
    assert words in told(path, score).message


@pytest.mark.parametrize("result", [None, 3, torch.zeros(2), (None, None), {}, "ab", torch.zeros(2, 1, 4)])
def test_what_cannot_be_read_is_compared_as_it_is(result):
    with pytest.raises(UNREADABLE):
        log_p_of_path(result, START, A, E, SEEN)


def test_only_a_function_that_exists_can_be_named():
    with pytest.raises(ValueError, match="There are by_position, log_p_of_path"):
        call("case").compare_by("log_p_of_paths")


KEYS = torch.arange(6.0).view(1, 1, 3, 2)
IN_ORDER = KEYS, KEYS + 9, torch.tensor([4, 5, 6])


def told_of_updates(*results):
    """What is told of two updates of a cache, of which the second one is compared, too."""
    case = build("case").compare_by("by_position")
    for name in ("first", "second"):
        case = case.call(KEYS, KEYS, method="update", into=name)
    right = Recording({"first": IN_ORDER, "second": IN_ORDER})
    return difference(
        KeyCase(case, lambda: right, lambda name: Recording()), Recording(dict(zip(("first", "second"), results)))
    )


def test_keys_may_come_in_any_order_that_their_positions_share():
    turned = tuple(x.flip(2 if x.dim() == 4 else 0) for x in IN_ORDER)
    assert told_of_updates(IN_ORDER, turned) is None
    assert told_of_updates(IN_ORDER, (*turned[:2], IN_ORDER[2])).output == "second"
    assert told_of_updates((*turned[:2], IN_ORDER[2]), IN_ORDER).output == "first"


@pytest.mark.parametrize("positions", [torch.tensor([4.0, 5.0, 6.0]), torch.tensor([4, 5])])
def test_positions_of_another_kind_are_not_sorted_by(positions):
    with pytest.raises(ValueError, match="positions"):
        by_position((*IN_ORDER[:2], positions))
