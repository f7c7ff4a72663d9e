"""Wrong answers to `rnn_forward` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import rnn as reference


def _run(step):
    def forward(xs, h, W_x, W_h, b):
        hs = []
        for x in xs.unbind(1):
            h = step(x, h, W_x, W_h, b)
            hs.append(h)
        return torch.stack(hs, 1), h

    return forward


r_notanh = _run(lambda x, h, W_x, W_h, b: x @ W_x.T + h @ W_h.T + b)

r_notanh.__name__ = "r_notanh"

r_sigmoid = _run(lambda x, h, W_x, W_h, b: torch.sigmoid(x @ W_x.T + h @ W_h.T + b))

r_sigmoid.__name__ = "r_sigmoid"

r_tanh_input_only = _run(lambda x, h, W_x, W_h, b: torch.tanh(x @ W_x.T + b) + h @ W_h.T)

r_tanh_input_only.__name__ = "r_tanh_input_only"

r_double_h = _run(lambda x, h, W_x, W_h, b: torch.tanh(x @ W_x.T + h @ W_h.T + b) + h)

r_double_h.__name__ = "r_double_h"

r_detach = _run(lambda x, h, W_x, W_h, b: reference.rnn_cell(x, h.detach(), W_x, W_h, b))

r_detach.__name__ = "r_detach"


def r_h0_each(xs, h0, W_x, W_h, b):
    hs = [reference.rnn_cell(x, h0, W_x, W_h, b) for x in xs.unbind(1)]
    return torch.stack(hs, 1), hs[-1]


def r_WhT(xs, h0, W_x, W_h, b):
    return reference.rnn_forward(xs, h0, W_x, W_h.T, b)


def r_nobias(xs, h0, W_x, W_h, b):
    return reference.rnn_forward(xs, h0, W_x, W_h, 0 * b)


def r_h0_ignored(xs, h0, W_x, W_h, b):
    return reference.rnn_forward(xs, 0 * h0, W_x, W_h, b)


def r_shifted_out(xs, h, W_x, W_h, b):
    hs = []
    for x in xs.unbind(1):
        hs.append(h)
        h = reference.rnn_cell(x, h, W_x, W_h, b)
    return torch.stack(hs, 1), h


def r_stack_view(xs, h0, W_x, W_h, b):
    hs, h_T = reference.rnn_forward(xs, h0, W_x, W_h, b)
    return hs.transpose(0, 1).reshape(len(xs), xs.shape[1], -1), h_T


def r_inplace_alias(xs, h0, W_x, W_h, b):
    h, hs = h0.clone(), []
    for x in xs.unbind(1):
        h.copy_(reference.rnn_cell(x, h, W_x, W_h, b))
        hs.append(h)
    return torch.stack(hs, 1), h


def r_reversed(xs, h0, W_x, W_h, b):
    return reference.rnn_forward(xs.flip(1), h0, W_x, W_h, b)


def states_alone(xs, h0, W_x, W_h, b):
    return reference.rnn_forward(xs, h0, W_x, W_h, b)[0]


def last_state_first(xs, h0, W_x, W_h, b):
    return reference.rnn_forward(xs, h0, W_x, W_h, b)[::-1]


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


MUTANTS = [
    r_h0_each,
    r_notanh,
    r_sigmoid,
    r_WhT,
    r_nobias,
    r_h0_ignored,
    r_tanh_input_only,
    r_shifted_out,
    r_stack_view,
    r_detach,
    r_inplace_alias,
    r_reversed,
    r_double_h,
    states_alone,
    last_state_first,
    first_state_for_the_last,
    last_state_detached,
    h0_overwritten,
]
