"""Wrong answers to `rnn_cell`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import rnn as reference

# -- first attempts ----------------------------------------------------------------------------------------------------


def tanh_forgotten(x, h, W_x, W_h, b):
    return x @ W_x.T + h @ W_h.T + b


FIRST_ATTEMPTS = {
    tanh_forgotten: "the tanh of these values is the right answer",
}

# -- others ------------------------------------------------------------------------------------------------------------


def float32_inside(x, h, W_x, W_h, b):
    return torch.tanh(x.float() @ W_x.float().T + h.float() @ W_h.float().T + b.float())


def double_inside(x, h, W_x, W_h, b):
    return torch.tanh(x.double() @ W_x.double().T + h.double() @ W_h.double().T + b.double())


def cell_without_gradient(x, h, W_x, W_h, b):
    return reference.rnn_cell(x, h, W_x, W_h, b).detach()


def cell_in_place(x, h, W_x, W_h, b):
    with torch.no_grad():
        h.copy_(reference.rnn_cell(x, h, W_x, W_h, b))
    return h


MUTANTS = [float32_inside, double_inside, cell_without_gradient, cell_in_place]
