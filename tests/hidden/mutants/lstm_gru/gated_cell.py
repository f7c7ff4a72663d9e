"""Wrong answers to `gated_cell`: a beginner's first attempts."""

from __future__ import annotations

import torch


def nothing_returned(x, h, W_x, W_h, b, V_x, V_h, c):
    z = torch.sigmoid(x @ V_x.T + h @ V_h.T + c)
    h = z * h + (1 - z) * torch.relu(x @ W_x.T + h @ W_h.T + b)


FIRST_ATTEMPTS = {
    nothing_returned: "Is a `return` missing?",
}
