"""Wrong answers to `gru_cell`: a beginner's first attempts."""

from __future__ import annotations

import torch


def all_three_alike(x, h, W, U, b):
    _, z, n = (x @ W.T + h @ U.T + b).chunk(3, dim=1)
    z, n = torch.sigmoid(z), torch.tanh(n)
    return z * h + (1 - z) * n


def reset_of_the_whole_sum(x, h, W, U, b):
    r, z, n = (x @ W.T + h @ U.T + b).chunk(3, dim=1)
    r, z = torch.sigmoid(r), torch.sigmoid(z)
    return z * h + (1 - z) * torch.tanh(r * n)


def cut_along_the_batch(x, h, W, U, b):
    r, z, n = (x @ W.T + h @ U.T + b).chunk(3)
    return torch.sigmoid(z) * h + (1 - torch.sigmoid(z)) * torch.tanh(torch.sigmoid(r) * n)


def whole_U_for_the_candidate(x, h, W, U, b):
    x_r, x_z, x_n = (x @ W.T + b).chunk(3, dim=1)
    h_r, h_z, _ = (h @ U.T).chunk(3, dim=1)
    r, z = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
    return z * h + (1 - z) * torch.tanh(x_n + (r * h) @ U.T)


def squares_not_transposed(x, h, W, U, b):
    x_r, x_z, x_n = (x @ W.T + b).chunk(3, dim=1)
    U_r, U_z, U_n = U.chunk(3)
    r, z = torch.sigmoid(x_r + h @ U_r), torch.sigmoid(x_z + h @ U_z)
    return z * h + (1 - z) * torch.tanh(x_n + (r * h) @ U_n)


def as_pytorch_resets_and_chung_writes(x, h, W, U, b):
    x_r, x_z, x_n = (x @ W.T + b).chunk(3, dim=1)
    h_r, h_z, h_n = (h @ U.T).chunk(3, dim=1)
    r, z = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
    return (1 - z) * h + z * torch.tanh(x_n + r * h_n)


FIRST_ATTEMPTS = {
    all_three_alike: "Which gate have you left out?",
    reset_of_the_whole_sum: "Which part of your sum does r multiply?",
    cut_along_the_batch: "How many pieces do you need, and along which axis?",
    whole_U_for_the_candidate: "Which of its squares belongs to the candidate?",
    squares_not_transposed: "Which axis of each meets h?",
    as_pytorch_resets_and_chung_writes: "differs from the formulas in two points",
}
