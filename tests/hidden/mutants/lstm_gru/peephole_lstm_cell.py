"""Wrong answers to `peephole_lstm_cell`: a beginner's first attempts."""

from __future__ import annotations

import torch


def all_gates_see_the_old_cell(x, h, c, W, U, b, p_i, p_f, p_o):
    i, f, g, o = (x @ W.T + h @ U.T + b).chunk(4, dim=1)
    i, f, o = torch.sigmoid(i + p_i * c), torch.sigmoid(f + p_f * c), torch.sigmoid(o + p_o * c)
    c = f * c + i * torch.tanh(g)
    return o * torch.tanh(c), c


def a_matrix_product(x, h, c, W, U, b, p_i, p_f, p_o):
    i, f, g, o = (x @ W.T + h @ U.T + b).chunk(4, dim=1)
    c = torch.sigmoid(f + c @ p_f) * c + torch.sigmoid(i + c @ p_i) * torch.tanh(g)
    return torch.sigmoid(o + c @ p_o) * torch.tanh(c), c


def just_more_biases(x, h, c, W, U, b, p_i, p_f, p_o):
    i, f, g, o = (x @ W.T + h @ U.T + b).chunk(4, dim=1)
    c = torch.sigmoid(f + p_f) * c + torch.sigmoid(i + p_i) * torch.tanh(g)
    return torch.sigmoid(o + p_o) * torch.tanh(c), c


def outside_the_sigmoid(x, h, c, W, U, b, p_i, p_f, p_o):
    i, f, g, o = (x @ W.T + h @ U.T + b).chunk(4, dim=1)
    c = (torch.sigmoid(f) + p_f * c) * c + (torch.sigmoid(i) + p_i * c) * torch.tanh(g)
    return (torch.sigmoid(o) + p_o * c) * torch.tanh(c), c


FIRST_ATTEMPTS = {
    all_gates_see_the_old_cell: "When you compute the output gate, which cell state do you have already?",
    a_matrix_product: "one or H?",
    just_more_biases: "Double c and leave the rest.",
    outside_the_sigmoid: "Is your gate still between 0 and 1?",
}
