"""Wrong answers to `gated_cell`: a beginner's first attempts."""

from __future__ import annotations

import torch


def as_the_formula_is_written(x, h, W_x, W_h, b, V_x, V_h, c):
    candidate = torch.relu(W_x @ x + W_h @ h + b)
    z = torch.sigmoid(V_x @ x + V_h @ h + c)
    return z * h + (1 - z) * candidate


def nothing_transposed(x, h, W_x, W_h, b, V_x, V_h, c):
    candidate = torch.relu(x @ W_x + h @ W_h + b)
    z = torch.sigmoid(x @ V_x + h @ V_h + c)
    return z * h + (1 - z) * candidate


def no_sigmoid(x, h, W_x, W_h, b, V_x, V_h, c):
    candidate = torch.relu(x @ W_x.T + h @ W_h.T + b)
    z = x @ V_x.T + h @ V_h.T + c
    return z * h + (1 - z) * candidate


def candidate_added_whole(x, h, W_x, W_h, b, V_x, V_h, c):
    z = torch.sigmoid(x @ V_x.T + h @ V_h.T + c)
    return z * h + torch.relu(x @ W_x.T + h @ W_h.T + b)


def one_bias_for_both(x, h, W_x, W_h, b, V_x, V_h, c):
    candidate = torch.relu(x @ W_x.T + h @ W_h.T + b)
    z = torch.sigmoid(x @ V_x.T + h @ V_h.T + b)
    return z * h + (1 - z) * candidate


def nothing_returned(x, h, W_x, W_h, b, V_x, V_h, c):
    z = torch.sigmoid(x @ V_x.T + h @ V_h.T + c)
    h = z * h + (1 - z) * torch.relu(x @ W_x.T + h @ W_h.T + b)


FIRST_ATTEMPTS = {
    as_the_formula_is_written: "How is a weight of shape (out, in) applied to rows?",
    nothing_transposed: "How is a weight of shape (out, in) applied to rows?",
    no_sigmoid: "Between which two numbers does a gate lie?",
    candidate_added_whole: "How much of the candidate should be left",
    one_bias_for_both: "Which two biases should still show",
    nothing_returned: "Is a `return` missing?",
}
