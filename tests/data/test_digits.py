"""The digits: real scans, a split that never changes, and canvases on which every place is as likely as any other."""

from __future__ import annotations

import itertools

import pytest
import torch

from course import data
from course.data import digits


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_load_gives_the_scans_in_two_splits():
    splits = data.load("digits").with_format("torch")
    assert {name: len(split) for name, split in splits.items()} == {"train": 1400, "test": 397}
    for split in splits.values():
        assert split.column_names == ["image", "label"]
        images, labels = split["image"][:], split["label"][:]
        assert images.shape[1:] == (8, 8) and images.dtype == torch.float32 and labels.dtype == torch.long
        assert images.min() == 0 and images.max() == 1 and torch.equal(images * 16, (images * 16).round())
        assert set(labels.tolist()) == set(range(10))


def test_together_the_splits_are_scikit_learns_digits():
    from sklearn.datasets import load_digits

    found = load_digits()
    mine = [digits.scans(part) for part in ("train", "test")]
    rows = torch.cat([torch.cat([images.flatten(1) * 16, labels[:, None]], 1) for images, labels in mine])
    theirs = torch.cat([torch.from_numpy(found.data).float(), torch.from_numpy(found.target).float()[:, None]], 1)
    assert sorted(rows.tolist()) == sorted(theirs.tolist())


def test_the_split_is_a_random_permutation_that_never_changes():
    images, labels = digits.scans("test")
    assert labels[:10].tolist() == [0, 6, 0, 3, 4, 0, 6, 0, 3, 5]
    # 397 scans, about 40 of a class: five standard deviations of a binomial count either way
    assert (torch.bincount(labels) - 39.7).abs().max() < 5 * 6
    images.zero_()
    assert digits.scans("test")[0].any(), "what a caller does to its copy is its own affair"


def test_an_unknown_split_is_refused():
    with pytest.raises(ValueError, match="no split is called 'valid'; there are train, test"):
        digits.scans("valid")


@pytest.mark.parametrize(("height", "width", "canvas"), [(8, 8, 12), (2, 5, 7), (3, 3, 3)])
def test_the_whole_image_stands_on_the_canvas(height, width, canvas):
    images = torch.rand(40, 1, height, width, generator=seeded()) + 0.1
    placed = digits.place(images, seeded(1), canvas)
    assert placed.shape == (40, 1, canvas, canvas)
    for image, page in zip(images[:, 0], placed[:, 0], strict=True):
        rows, columns = page.any(1).nonzero(), page.any(0).nonzero()
        assert torch.equal(page[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1], image)
        assert (page != 0).sum() == height * width


def test_every_place_is_equally_likely():
    placed = digits.place(torch.ones(25_000, 1, 8, 8), seeded(2))[:, 0]
    corner = placed.flatten(1).argmax(1)  # the first pixel with ink
    counts = torch.bincount(corner // 12 * 5 + corner % 12, minlength=25)
    assert len(counts) == 25 and (counts - 1000).abs().max() < 5 * 1000**0.5


def test_channels_and_dtype_stay_and_small_canvases_are_refused():
    colour = torch.rand(2, 3, 4, 4, dtype=torch.float64, generator=seeded())
    placed = digits.place(colour, seeded(), 6)
    assert placed.shape == (2, 3, 6, 6) and placed.dtype == torch.float64
    torch.testing.assert_close(placed.sum((2, 3)), colour.sum((2, 3)))
    with pytest.raises(ValueError, match=r"\(2, 3, 4, 4\) do not fit on a canvas of 3 × 3"):
        digits.place(colour, seeded(), 3)


def test_every_scan_comes_once_before_any_comes_again():
    stream = itertools.islice(digits.batches(seeded()), digits.TRAIN // digits.BATCH)
    seen = torch.cat([labels for _, labels in stream])
    assert torch.equal(torch.bincount(seen), torch.bincount(digits.scans("train")[1]))
