"""What a call makes is counted: the largest tensor, and all that exist at once, whatever makes and holds them."""

from __future__ import annotations

import pytest
import torch

from course.exercise import call
from course.exercise.memory import MemoryCounter
from course.exercise.runner import run


def counted(function, *args):
    with MemoryCounter() as counter:
        result = function(*args)
    del result
    return counter.largest, counter.at_once


def one_after_the_other(x):
    for _ in range(5):
        y = x + 1
        del y


def all_kept(x):
    return [x + i for i in range(5)]


def in_place(x):
    y = x * 2
    y += 1
    y.exp_()
    return y


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (one_after_the_other, (6, 6)),
        (all_kept, (6, 30)),
        (in_place, (6, 6)),
        (lambda x: x.T.expand(5, 3, 2), (0, 0)),  # views
        (lambda x: x[:, None] == x, (12, 12)),  # booleans count as numbers
        (lambda x: torch.ones(7, 11)[0, :2].clone(), (77, 79)),
        (lambda x: (x @ x.T).softmax(-1), (4, 8)),
        (lambda x: x.new_zeros(1).expand(50).contiguous(), (50, 51)),
    ],
)
def test_numbers_are_counted_by_their_memory(function, expected):
    assert counted(function, torch.ones(2, 3)) == expected


def test_what_torchs_own_functions_make_inside_is_seen():
    q = torch.ones(1, 1, 50, 2)
    largest, _ = counted(torch.einsum, "bhtd,bhsd->bhts", q, q)
    assert largest == 2500


def test_a_case_records_both_counts_and_the_result():
    case = call("kept", torch.ones(2, 3), grad=False).counts_memory()
    outputs = run(case.script(), all_kept).outputs
    assert (outputs["largest tensor"], outputs["numbers at once"]) == (6, 30)
    assert len(outputs["out"]) == 5
