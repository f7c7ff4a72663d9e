"""Right answers to `peephole_lstm_cell` that look nothing like the reference."""

from __future__ import annotations

import torch


def peepholes_as_diagonals(x, h, c, W, U, b, p_i, p_f, p_o):
    i, f, g, o = (x @ W.T + h @ U.T + b).chunk(4, 1)
    new = torch.sigmoid(f + c @ torch.diag(p_f)) * c + torch.sigmoid(i + c @ torch.diag(p_i)) * torch.tanh(g)
    return torch.sigmoid(o + new @ torch.diag(p_o)) * torch.tanh(new), new


def peepholes_in_one_product(x, h, c, W, U, b, p_i, p_f, p_o):
    """The old cell state is one more input; only the output gate has to wait."""
    H = h.shape[1]
    zero = torch.zeros_like(torch.diag(p_i))
    P = torch.cat([torch.diag(p_i), torch.diag(p_f), zero, zero])
    a = torch.cat([x, h, c], 1) @ torch.cat([W, U, P], 1).T + b
    new = a[:, H : 2 * H].sigmoid() * c + a[:, :H].sigmoid() * a[:, 2 * H : 3 * H].tanh()
    return (a[:, 3 * H :] + new * p_o).sigmoid() * new.tanh(), new


ALTERNATIVES = [peepholes_as_diagonals, peepholes_in_one_product]
