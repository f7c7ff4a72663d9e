"""The batches of topic 04: sequences of similar lengths together, every length as often as before."""

from __future__ import annotations

import itertools

import torch

from course import data
from course.data.parentheses import LONGER, TOKENS, is_balanced


def batches(seed: int, count: int) -> list[tuple[torch.Tensor, ...]]:
    return list(itertools.islice(data.stream("lstm_gru_task", torch.Generator().manual_seed(seed)), count))


def test_a_batch_holds_similar_lengths_and_true_labels():
    for ids, lengths, labels in batches(0, 70):
        assert ids.shape == (128, int(lengths.max())) and int(ids.max()) < TOKENS
        assert int(lengths.max() - lengths.min()) <= 2
        assert torch.equal(is_balanced(ids, lengths).long(), labels)
        assert not ids[torch.arange(ids.shape[1]) >= lengths[:, None]].any(), "padding is zero"


def test_all_lengths_are_seen_alike_and_in_no_order():
    drawn = batches(1, 128)
    counts = torch.cat([lengths for _, lengths, _ in drawn]).bincount(minlength=LONGER[1] + 1)[LONGER[0] :: 2]
    assert len(counts) == (LONGER[1] - LONGER[0]) // 2 + 1
    assert (counts / counts.sum() - 1 / len(counts)).abs().max() < 0.01
    firsts = torch.tensor([float(lengths.float().mean()) for _, lengths, _ in drawn[:64]])
    assert not torch.equal(firsts, firsts.sort().values)
