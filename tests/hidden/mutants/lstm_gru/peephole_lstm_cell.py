"""Wrong answers to `peephole_lstm_cell` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.lstm_gru import lstm_cell, peephole_lstm_cell
from tests.hidden.mutants.lstm_gru.scaffold import gates, sigmoid, tanh


def _full(p):
    """A whole matrix where a diagonal belongs, filled from the same numbers."""
    return torch.outer(p, p)


def full_matrices(x, h, c, W, U, b, p_i, p_f, p_o):
    i, f, g, o = gates(x, h, W, U, b)
    new = sigmoid(f + c @ _full(p_f)) * c + sigmoid(i + c @ _full(p_i)) * tanh(g)
    return sigmoid(o + new @ _full(p_o)) * tanh(new), new


def all_of_them_p_i(x, h, c, W, U, b, p_i, p_f, p_o):
    return peephole_lstm_cell(x, h, c, W, U, b, p_i, p_i, p_i)


def i_sees_nothing(x, h, c, W, U, b, p_i, p_f, p_o):
    return peephole_lstm_cell(x, h, c, W, U, b, 0 * p_i, p_f, p_o)


def f_sees_nothing(x, h, c, W, U, b, p_i, p_f, p_o):
    return peephole_lstm_cell(x, h, c, W, U, b, p_i, 0 * p_f, p_o)


def multiplied_in(x, h, c, W, U, b, p_i, p_f, p_o):
    i, f, g, o = gates(x, h, W, U, b)
    new = sigmoid(f * p_f * c) * c + sigmoid(i * p_i * c) * tanh(g)
    return sigmoid(o * p_o * new) * tanh(new), new


def without_c(x, h, c, W, U, b, p_i, p_f, p_o):
    """The peepholes are just more biases."""
    return lstm_cell(x, h, c, W, U, b + torch.cat([p_i, p_f, 0 * p_o, p_o]))


def peeps_without_a_gradient(x, h, c, W, U, b, p_i, p_f, p_o):
    i, f, g, o = gates(x, h, W, U, b)
    new = sigmoid(f + p_f * c.detach()) * c + sigmoid(i + p_i * c.detach()) * tanh(g)
    return sigmoid(o + p_o * new.detach()) * tanh(new), new


def o_sees_the_new_c_and_the_old(x, h, c, W, U, b, p_i, p_f, p_o):
    return peephole_lstm_cell(x, h, c, W, U, b + torch.cat([0 * p_i, 0 * p_f, 0 * p_o, p_o * c.mean(0)]), p_i, p_f, p_o)


def peephole_cell_first(x, h, c, *w):
    return peephole_lstm_cell(x, h, c, *w)[::-1]


MUTANTS = [
    full_matrices,
    all_of_them_p_i,
    i_sees_nothing,
    f_sees_nothing,
    multiplied_in,
    without_c,
    peeps_without_a_gradient,
    o_sees_the_new_c_and_the_old,
    peephole_cell_first,
]
