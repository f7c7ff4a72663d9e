"""Wrong answers to `rnn_forward` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import rnn as reference


def rnn_cell(x, h, W_x, W_h, b):
    return torch.tanh(x @ W_x.T + h @ W_h.T + b)


def r_WhT(xs, h0, W_x, W_h, b):
    return reference.rnn_forward(xs, h0, W_x, W_h.T, b)


def r_nobias(xs, h0, W_x, W_h, b):
    return reference.rnn_forward(xs, h0, W_x, W_h, 0 * b)


def r_inplace_alias(xs, h0, W_x, W_h, b):
    h, hs = h0.clone(), []
    for x in xs.unbind(1):
        h.copy_(rnn_cell(x, h, W_x, W_h, b))
        hs.append(h)
    return torch.stack(hs, 1), h


def first_state_for_the_last(xs, h0, W_x, W_h, b):
    hs, _ = reference.rnn_forward(xs, h0, W_x, W_h, b)
    return hs, hs[:, 0]


def last_state_detached(xs, h0, W_x, W_h, b):
    hs, h_T = reference.rnn_forward(xs, h0, W_x, W_h, b)
    return hs, h_T.detach()


def h0_overwritten(xs, h0, W_x, W_h, b):
    hs, h_T = reference.rnn_forward(xs, h0, W_x, W_h, b)
    with torch.no_grad():
        h0.copy_(h_T)
    return hs, h_T


MUTANTS = [r_WhT, r_nobias, r_inplace_alias, first_state_for_the_last, last_state_detached, h0_overwritten]
