"""Wrong answers to `lstm_cell` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.reference.lstm_gru import lstm_cell
from tests.hidden.mutants.lstm_gru.scaffold import gates


def l_swap_if(x, h, c, *w):
    f, i, g, o = gates(x, h, *w)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def l_tanh_oc(x, h, c, *w):
    i, f, g, o = gates(x, h, *w)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return (o.sigmoid() * c).tanh(), c


def l_c_from_h(x, h, c, *w):
    i, f, g, o = gates(x, h, *w)
    c = f.sigmoid() * h + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def l_forget_comp(x, h, c, *w):
    i, f, g, o = gates(x, h, *w)
    c = (1 - f.sigmoid()) * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def l_detach_c(x, h, c, *w):
    return lstm_cell(x, h, c.detach(), *w)


def state_detached(x, h, c, *w):
    return lstm_cell(x, h.detach(), c, *w)


def h_and_c_exchanged(x, h, c, *w):
    return lstm_cell(x, c, h, *w)


def without_W(x, h, c, W, U, b):
    return lstm_cell(x, h, c, 0 * W, U, b)


def forget_bias_built_in(x, h, c, W, U, b):
    H = h.shape[1]
    return lstm_cell(x, h, c, W, U, torch.cat([b[:H], b[H : 2 * H] + 1, b[2 * H :]]))


def bias_for_the_candidate_only(x, h, c, W, U, b):
    H = h.shape[1]
    return lstm_cell(x, h, c, W, U, torch.cat([0 * b[: 2 * H], b[2 * H : 3 * H], 0 * b[3 * H :]]))


def one_bias_for_all_gates(x, h, c, W, U, b):
    return lstm_cell(x, h, c, W, U, b.chunk(4)[0].repeat(4))


def relu_for_the_candidate(x, h, c, *w):
    i, f, g, o = gates(x, h, *w)
    c = f.sigmoid() * c + i.sigmoid() * g.relu()
    return o.sigmoid() * c.tanh(), c


def hard_sigmoid(x, h, c, *w):
    i, f, g, o = gates(x, h, *w)
    c = F.hardsigmoid(f) * c + F.hardsigmoid(i) * g.tanh()
    return F.hardsigmoid(o) * c.tanh(), c


def candidate_squashed_twice(x, h, c, *w):
    i, f, g, o = gates(x, h, *w)
    c = f.sigmoid() * c + (i.sigmoid() * g.tanh()).tanh()
    return o.sigmoid() * c.tanh(), c


def cell_squashed(x, h, c, *w):
    i, f, g, o = gates(x, h, *w)
    c = (f.sigmoid() * c + i.sigmoid() * g.tanh()).tanh()
    return o.sigmoid() * c, c


def cell_gated_on_the_way_out(x, h, c, *w):
    new_h, new_c = lstm_cell(x, h, c, *w)
    return new_h, new_c * gates(x, h, *w)[3].sigmoid()


def output_gate_forgotten(x, h, c, *w):
    new_c = lstm_cell(x, h, c, *w)[1]
    return new_c.tanh(), new_c


def only_the_output(x, h, c, *w):
    return lstm_cell(x, h, c, *w)[0]


def squares_of_U_as_one(x, h, c, W, U, b):
    H = h.shape[1]
    return lstm_cell(x, h, c, W, U.reshape(H, 4 * H).T.contiguous(), b)


MUTANTS = [
    l_swap_if,
    l_tanh_oc,
    l_c_from_h,
    l_forget_comp,
    l_detach_c,
    state_detached,
    h_and_c_exchanged,
    without_W,
    forget_bias_built_in,
    bias_for_the_candidate_only,
    one_bias_for_all_gates,
    relu_for_the_candidate,
    hard_sigmoid,
    candidate_squashed_twice,
    cell_squashed,
    cell_gated_on_the_way_out,
    output_gate_forgotten,
    only_the_output,
    squares_of_U_as_one,
]
