"""Wrong answers to `gated_cell` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.lstm_gru import gated_cell
from tests.hidden.mutants.lstm_gru.scaffold import sigmoid


def _gate_and_candidate(x, h, W_x, W_h, b, V_x, V_h, c):
    return sigmoid(x @ V_x.T + h @ V_h.T + c), torch.relu(x @ W_x.T + h @ W_h.T + b)


def the_candidate_alone(x, h, *weights):
    return _gate_and_candidate(x, h, *weights)[1]


def half_and_half(x, h, *weights):
    z, new = _gate_and_candidate(x, h, *weights)
    return (h + new) / 2 + 0 * z


def one_gate_for_all_units(x, h, *weights):
    z, new = _gate_and_candidate(x, h, *weights)
    z = z.mean(1, keepdim=True)
    return z * h + (1 - z) * new


def softmax_for_the_gate(x, h, W_x, W_h, b, V_x, V_h, c):
    z = torch.softmax(x @ V_x.T + h @ V_h.T + c, dim=1)
    return z * h + (1 - z) * torch.relu(x @ W_x.T + h @ W_h.T + b)


def hard_gate(x, h, *weights):
    z, new = _gate_and_candidate(x, h, *weights)
    return torch.where(z > 0.5, h, new)


def gate_cut_from_the_graph(x, h, *weights):
    z, new = _gate_and_candidate(x, h, *weights)
    return z.detach() * h + (1 - z.detach()) * new


def gate_of_the_candidate(x, h, W_x, W_h, b, V_x, V_h, c):
    new = torch.relu(x @ W_x.T + h @ W_h.T + b)
    z = sigmoid(x @ V_x.T + new @ V_h.T + c)
    return z * h + (1 - z) * new


def state_changed_in_place(x, h, *weights):
    z, new = _gate_and_candidate(x, h, *weights)
    with torch.no_grad():
        h.mul_(z).add_((1 - z) * new)
    return h * 1


def always_float32(x, h, *weights):
    return gated_cell(x.float(), h.float(), *(weight.float() for weight in weights))


MUTANTS = [
    the_candidate_alone,
    half_and_half,
    one_gate_for_all_units,
    softmax_for_the_gate,
    hard_gate,
    gate_cut_from_the_graph,
    gate_of_the_candidate,
    state_changed_in_place,
    always_float32,
]
