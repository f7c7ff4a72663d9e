"""Wrong answers to `gru_cell` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.lstm_gru import gru_cell
from tests.hidden.mutants.lstm_gru.scaffold import sigmoid


def _gru(x, h, w, candidate, mix=lambda z, n, h: (1 - z) * n + z * h, n_is=torch.tanh, order=(0, 1)):
    """A GRU with one of its pieces replaced."""
    x_g, U_g = (x @ w[0].T + w[2]).chunk(3, -1), w[1].chunk(3)
    r, z = (sigmoid(x_g[k] + h @ U_g[k].T) for k in order)
    return mix(z, n_is(candidate(x_g[2], U_g[2], r, h)), h)


def _cho(x_n, U_n, r, h):
    return x_n + (r * h) @ U_n.T


def g_reset_no_U(x, h, *w):
    return _gru(x, h, w, lambda x_n, U_n, r, h: x_n + r * h)


def g_reset_all(x, h, *w):
    return _gru(x, h, w, lambda x_n, U_n, r, h: r * (x_n + h @ U_n.T))


def g_no_1mz(x, h, *w):
    return _gru(x, h, w, _cho, mix=lambda z, n, h: n + z * h)


def g_extra_tanh(x, h, *w):
    return gru_cell(x, h, *w).tanh()


def reset_from_the_update_gate(x, h, *w):
    return _gru(x, h, w, _cho, order=(1, 1))


def update_from_the_reset_gate(x, h, *w):
    return _gru(x, h, w, _cho, order=(0, 0))


def relu_for_n(x, h, *w):
    return _gru(x, h, w, _cho, n_is=torch.relu)


def order_n_r_z(x, h, *w):
    return gru_cell(x, h, *(torch.cat([part.chunk(3)[k] for k in (1, 2, 0)]) for part in w))


def order_r_n_z(x, h, *w):
    return gru_cell(x, h, *(torch.cat([part.chunk(3)[k] for k in (0, 2, 1)]) for part in w))


def candidate_without_x(x, h, W, U, b):
    W = torch.cat([*W.chunk(3)[:2], 0 * W.chunk(3)[2]])
    return gru_cell(x, h, W, U, b)


def gates_without_x(x, h, W, U, b):
    W = torch.cat([0 * W.chunk(3)[0], 0 * W.chunk(3)[1], W.chunk(3)[2]])
    return gru_cell(x, h, W, U, b)


def old_state_detached(x, h, *w):
    return gru_cell(x, h.detach(), *w)


def kept_state_detached(x, h, *w):
    return _gru(x, h, w, _cho, mix=lambda z, n, h: (1 - z) * n + z * h.detach())


def a_tuple_of_one(x, h, *w):
    return (gru_cell(x, h, *w),)


MUTANTS = [
    g_reset_no_U,
    g_reset_all,
    g_no_1mz,
    g_extra_tanh,
    reset_from_the_update_gate,
    update_from_the_reset_gate,
    relu_for_n,
    order_n_r_z,
    order_r_n_z,
    candidate_without_x,
    gates_without_x,
    old_state_detached,
    kept_state_detached,
    a_tuple_of_one,
]
