"""The second domain: the same scans in the same split, ink for paper, a quarter turn to the left."""

from __future__ import annotations

import itertools

import pytest
import torch

from course import data
from course.data import digits, negatives


def test_a_small_picture_turned_by_hand():
    sixteenths = torch.tensor([[0, 3, 8], [0, 0, 5], [0, 1, 6]])[None, None] / 16
    turned = negatives.turned(sixteenths) * 16
    assert turned[0, 0].tolist() == [[8, 11, 10], [13, 16, 15], [16, 16, 16]]


def test_turning_keeps_channels_and_can_be_undone():
    images = torch.rand(2, 3, 4, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    turned = negatives.turned(images)
    assert turned.shape == (2, 3, 6, 4) and turned.dtype == torch.float64
    back = turned
    for _ in range(3):
        back = negatives.turned(back)
    torch.testing.assert_close(back, images)


def test_load_gives_the_scans_of_digits_in_their_own_split():
    splits = data.load("negatives").with_format("torch")
    assert {name: len(split) for name, split in splits.items()} == {"train": 1400, "test": 397}
    for name, split in splits.items():
        assert split.column_names == ["image", "label"]
        images, labels = digits.scans(name)
        assert torch.equal(split["label"][:], labels)
        assert torch.equal(split["image"][:], negatives.turned(images)[:, 0])
        assert all(torch.equal(one, two) for one, two in zip(negatives.scans(name), (negatives.turned(images), labels)))


def test_an_unknown_split_is_refused():
    with pytest.raises(ValueError, match="no split is called 'valid'; there are train, test"):
        negatives.scans("valid")


def test_the_training_stream_shows_every_scan_once():
    stream = data.stream("lora_task", torch.Generator().manual_seed(0))
    seen = torch.cat([labels for _, labels in itertools.islice(stream, digits.TRAIN // negatives.BATCH)])
    assert torch.equal(torch.bincount(seen), torch.bincount(digits.scans("train")[1]))
