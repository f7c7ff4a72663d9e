"""Right answers to `padding_mask` that look nothing like the reference."""

from __future__ import annotations

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence


def _checked(lengths, max_len):
    if max(lengths.tolist()) > max_len:
        raise ValueError("too long")


def padded_ones(lengths, max_len):
    _checked(lengths, max_len)
    rows = [torch.ones(max_len), *(torch.ones(n) for n in lengths.tolist())]
    return pad_sequence(rows, batch_first=True)[1:].bool()


def compared_in_numpy(lengths, max_len):
    _checked(lengths, max_len)
    return torch.from_numpy(np.less.outer(np.arange(max_len), lengths.numpy()).T.copy())


ALTERNATIVES = [padded_ones, compared_in_numpy]
