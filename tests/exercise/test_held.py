"""The size of what an object holds, wherever it is stored, with shared memory counted once."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import nn

from course.exercise import build
from course.exercise.held import bytes_held
from course.exercise.runner import run

FOUR = torch.ones(1)


class Holder(nn.Module):
    def __init__(self, **attributes):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(10))  # 40 bytes
        self.register_buffer("codes", torch.ones(3, dtype=torch.uint8))  # 3 bytes
        for name, value in attributes.items():
            setattr(self, name, value)


def closed_over(tensor):
    def function():
        return tensor

    return function


@pytest.mark.parametrize(
    "copy",
    [
        FOUR,
        [FOUR],
        {"W": (FOUR,)},
        closed_over(FOUR),
        partial(torch.add, FOUR),
        FOUR.sum,
        nn.ParameterList([nn.Parameter(FOUR)]),
        torch.ones(1)[:0],  # a view keeps the whole memory
    ],
)
def test_a_copy_is_found_wherever_it_is_kept(copy):
    assert bytes_held(Holder()) == 43 and bytes_held(Holder(kept=copy)) == 47


def test_one_memory_counts_once_and_what_holds_itself_ends():
    holder = Holder(twin=None, module=torch, name="x", loop=[])
    holder.twin, holder.view = [holder, holder.weight], holder.weight.detach()[2:]
    holder.loop.append(holder.loop)
    assert bytes_held(holder) == 43


def test_a_script_records_it():
    assert run(build("a layer").held().script(), Holder).outputs["bytes held"] == 43
