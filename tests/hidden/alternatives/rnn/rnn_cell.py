"""Right answers to `rnn_cell` that look nothing like the reference."""

from __future__ import annotations

import torch

from tests.hidden.alternatives.rnn.scaffold import cell_by_linear


def cell_of_one_matrix(x, h, W_x, W_h, b):
    return (torch.cat([x, h], -1) @ torch.cat([W_x, W_h], -1).T + b).tanh()


ALTERNATIVES = [cell_of_one_matrix, cell_by_linear]
