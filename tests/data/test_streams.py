"""Batches of every training task: they follow their generator alone, and have the sizes that the task names."""

from __future__ import annotations

import itertools

import pytest
import torch

from course import data
from course.data import digits, order, recall
from course.data.streams import STREAMS

SHAPES = {
    "self_attention_task": [*2 * [(recall.BATCH, recall.SLOTS)], *2 * [(recall.BATCH,)]],
    "multi_head_attention_task": [*4 * [(100, 8)], (100, 8, 2)],
    "positional_encoding_task": 2 * [(order.BATCH, order.LENGTH)],
    "vit_patches_task": [(digits.BATCH, 1, 12, 12), (digits.BATCH,)],
    "assistant_task": 2 * [(512, 4)],
    "inside_task": [(256, 24)],
}
"""Those of batches that all have the same size."""


def equal(one, other) -> bool:
    return all(a.shape == b.shape and torch.equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("task", STREAMS)
def test_batches_follow_their_generator_and_leave_global_randomness_alone(task):
    state = torch.get_rng_state()
    streams = (data.stream(task, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2))
    first, again, other = (list(itertools.islice(stream, 3)) for stream in streams)
    assert all(map(equal, first, again)) and len(first) == 3
    assert not equal(first[0], first[1]) and not equal(first[0], other[0])
    assert torch.equal(torch.get_rng_state(), state)
    if task in SHAPES:
        assert [tuple(column.shape) for column in first[2]] == SHAPES[task]
