"""Wrong answers to `rnn_forward`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import rnn as reference

# -- first attempts ----------------------------------------------------------------------------------------------------


def rnn_cell(x, h, W_x, W_h, b):
    return torch.tanh(x @ W_x.T + h @ W_h.T + b)


def _walk(inputs, h, *weights):
    states = [h := rnn_cell(x, h, *weights) for x in inputs]
    return states, h


def walks_along_the_batch(xs, h0, *weights):
    states, h = _walk(xs, h0, *weights)
    return torch.stack(states), h


def stacked_along_a_new_first_axis(xs, h0, *weights):
    states, h = _walk(xs.unbind(1), h0, *weights)
    return torch.stack(states), h


def joined_side_by_side(xs, h0, *weights):
    states, h = _walk(xs.unbind(1), h0, *weights)
    return torch.cat(states, dim=1), h


def h0_at_every_step(xs, h0, *weights):
    states = [rnn_cell(xs[:, t], h0, *weights) for t in range(xs.shape[1])]
    return torch.stack(states, dim=1), states[-1]


def kept_before_the_step(xs, h0, *weights):
    states, h = _walk(xs.unbind(1), h0, *weights)
    return torch.stack([h0, *states[:-1]], dim=1), h


FIRST_ATTEMPTS = {
    walks_along_the_batch: "Along which axis does `for x in xs` walk?",
    stacked_along_a_new_first_axis: "Which axis of your states is time?",
    joined_side_by_side: "Which of them has an axis for the steps?",
    h0_at_every_step: "What does the network know of it at step 3?",
    kept_before_the_step: "before the step or after it?",
}

# -- others ------------------------------------------------------------------------------------------------------------


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
