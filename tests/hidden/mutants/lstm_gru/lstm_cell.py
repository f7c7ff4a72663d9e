"""Wrong answers to `lstm_cell`: a beginner's first attempts."""

from __future__ import annotations

import torch


def cell_returned_first(x, h, c, W, U, b):
    i, f, g, o = (x @ W.T + h @ U.T + b).chunk(4, dim=1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return c, torch.sigmoid(o) * torch.tanh(c)


FIRST_ATTEMPTS = {
    cell_returned_first: "the values are what result 2 of 2 should be",
}
