"""Wrong answers to `lstm_cell`: a beginner's first attempts."""

from __future__ import annotations

import torch


def as_the_formula_is_written(x, h, c, W, U, b):
    i, f, g, o = (W @ x + U @ h + b).chunk(4)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def cut_along_the_batch(x, h, c, W, U, b):
    i, f, g, o = (x @ W.T + h @ U.T + b).chunk(4)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def split_into_fours(x, h, c, W, U, b):
    i, f, g, o = (x @ W.T + h @ U.T + b).split(4, dim=1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def in_the_order_of_the_text(x, h, c, W, U, b):
    f, g, i, o = (x @ W.T + h @ U.T + b).chunk(4, dim=1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def one_sigmoid_for_all(x, h, c, W, U, b):
    i, f, g, o = torch.sigmoid(x @ W.T + h @ U.T + b).chunk(4, dim=1)
    c = f * c + i * torch.tanh(g)
    return o * torch.tanh(c), c


def tanh_around_the_product(x, h, c, W, U, b):
    i, f, g, o = (x @ W.T + h @ U.T + b).chunk(4, dim=1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.tanh(torch.sigmoid(o) * c), c


def cell_returned_first(x, h, c, W, U, b):
    i, f, g, o = (x @ W.T + h @ U.T + b).chunk(4, dim=1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return c, torch.sigmoid(o) * torch.tanh(c)


FIRST_ATTEMPTS = {
    as_the_formula_is_written: "How is a weight of shape (out, in) applied to rows?",
    cut_along_the_batch: "How many pieces do you need, and along which axis?",
    split_into_fours: "How many pieces do you need, and along which axis?",
    in_the_order_of_the_text: "In which order does the docstring stack them?",
    one_sigmoid_for_all: "Can your cell ever decrease through the candidate?",
    tanh_around_the_product: "Let c be large and o a half.",
    cell_returned_first: "the values are what result 2 of 2 should be",
}
