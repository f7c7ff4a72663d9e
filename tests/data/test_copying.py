"""Selective copying: letters in order among noise, askers behind them, lengths that differ."""

from __future__ import annotations

import pytest
import torch

from course.data import copying


def test_letters_stand_in_the_text_in_order_and_askers_behind_it():
    ids, targets = copying.draw(50, 23, torch.Generator().manual_seed(0))
    assert ids.shape == (50, 26) and targets.shape == (50, 3)
    for row, right in zip(ids.tolist(), targets.tolist(), strict=True):
        assert [token - 1 for token in row[:23] if token] == right and row[23:] == [9, 10, 11]
    assert copying.text(torch.tensor([0, 3, 1, 9])) == "· c a 1?"


def test_lengths_differ_from_batch_to_batch():
    made = copying.batches(torch.Generator().manual_seed(0))
    lengths = {next(made)[0].shape[1] - copying.ASKED for _ in range(400)}
    assert min(lengths) == copying.SHORTEST and max(lengths) == copying.LONGEST


def test_letters_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="3 letters need 3 places"):
        copying.draw(1, 2, torch.Generator())
