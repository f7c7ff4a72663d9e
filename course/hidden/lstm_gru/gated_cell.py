"""Hidden tests of `gated_cell`."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.lstm_gru.scaffold import (
    BUILT_IN,
    NOT_TURNED,
    OVERFLOW,
    _float32,
    _inputs,
    _weights,
    overflowing,
    sigmoid,
    tanh,
)
from course.reference import lstm_gru as reference


@exercise(
    reference.gated_cell,
    hints=(
        "Write it as three lines, the candidate, the gate, the mixture, and print the range of each.",
        "Set c to +100, then to -100. What should the next state be, in each case?",
        "A mixture of two numbers lies between them. Is that so for every unit of yours?",
    ),
    forbidden=BUILT_IN,
)
def gated_cell(rng):
    """The gate in the middle, wide open, shut; the candidate's weights and the gate's never the same."""

    def inputs(B, D, H, dtype=torch.float64):
        return *_inputs(rng, 1, B, D, H=H, dtype=dtype), *_weights(rng, 1, D, H, dtype), *_weights(rng, 1, D, H, dtype)

    yield call("a small batch", *inputs(2, 3, 5), public=True, weight=2.0)
    *others, c = inputs(3, 5, 2)
    yield call("a gate that is open: c is 100", *others, c + 100, public=True, grad=False)
    yield call("a gate that is shut: c is -100", *others, c - 100, grad=False)
    yield call("open, in float32", *_float32(*others, c + 100), grad=False)
    yield call("shut, in float32", *_float32(*others, c - 100), grad=False)
    yield call("as many inputs as units", *inputs(3, 5, 5), weight=2.0)
    yield call("a batch of one", *inputs(1, 7, 3))
    yield call("one unit", *inputs(5, 2, 1))
    x, h, *weights = inputs(7, 2, 3)
    yield call("large inputs", 10 * x, 10 * h, *weights, grad=False)
    yield call("float32", *inputs(2, 7, 5, torch.float32), public=True)
    yield call("memory that is not contiguous", *(noncontiguous(value) for value in inputs(3, 2, 5)), public=True)


def _candidate(x, h, W_x, W_h, b):
    return torch.relu(x @ W_x.T + h @ W_h.T + b)


@gated_cell.misconception(OVERFLOW)
def gate_overflows(x, h, W_x, W_h, b, V_x, V_h, c):
    z = overflowing(x @ V_x.T + h @ V_h.T + c)
    return z * h + (1 - z) * _candidate(x, h, W_x, W_h, b)


@gated_cell.misconception("Set c to +100, so that z is one. Is the state kept, or written anew?")
def gate_the_other_way_round(x, h, W_x, W_h, b, V_x, V_h, c):
    z = sigmoid(x @ V_x.T + h @ V_h.T + c)
    return (1 - z) * h + z * _candidate(x, h, W_x, W_h, b)


@gated_cell.misconception("Print the smallest value of your gate. Can one let through less than nothing?")
def tanh_for_the_gate(x, h, W_x, W_h, b, V_x, V_h, c):
    z = tanh(x @ V_x.T + h @ V_h.T + c)
    return z * h + (1 - z) * _candidate(x, h, W_x, W_h, b)


@gated_cell.misconception("Your candidate never exceeds one. Which function does the formula put around it?")
def tanh_for_the_candidate(x, h, W_x, W_h, b, V_x, V_h, c):
    z = sigmoid(x @ V_x.T + h @ V_h.T + c)
    return z * h + (1 - z) * tanh(x @ W_x.T + h @ W_h.T + b)


@gated_cell.misconception("Shut the gate (c = -100) and look for negative numbers. Where could they come from?")
def candidate_without_relu(x, h, W_x, W_h, b, V_x, V_h, c):
    z = sigmoid(x @ V_x.T + h @ V_h.T + c)
    return z * h + (1 - z) * (x @ W_x.T + h @ W_h.T + b)


@gated_cell.misconception("Open the gate (c = 100) with a negative state: does it come through unchanged?")
def relu_around_everything(x, h, W_x, W_h, b, V_x, V_h, c):
    z = sigmoid(x @ V_x.T + h @ V_h.T + c)
    return torch.relu(z * h + (1 - z) * (x @ W_x.T + h @ W_h.T + b))


@gated_cell.misconception("Shut the gate (c = -100): how much of the old state should be left?")
def nothing_is_forgotten(x, h, W_x, W_h, b, V_x, V_h, c):
    z = sigmoid(x @ V_x.T + h @ V_h.T + c)
    return h + (1 - z) * _candidate(x, h, W_x, W_h, b)


@gated_cell.misconception("Open the gate (c = 100): how much of the candidate should come in?")
def everything_is_written(x, h, W_x, W_h, b, V_x, V_h, c):
    z = sigmoid(x @ V_x.T + h @ V_h.T + c)
    return z * h + _candidate(x, h, W_x, W_h, b)


@gated_cell.misconception("Set V_h to zero: does your result change? What may a gate look at?")
def gate_blind_to_the_state(x, h, W_x, W_h, b, V_x, V_h, c):
    z = sigmoid(x @ V_x.T + c)
    return z * h + (1 - z) * _candidate(x, h, W_x, W_h, b)


@gated_cell.misconception("Set W_h to zero: does your result change? What may a candidate look at?")
def candidate_blind_to_the_state(x, h, W_x, W_h, b, V_x, V_h, c):
    return reference.gated_cell(x, h, W_x, 0 * W_h, b, V_x, V_h, c)


@gated_cell.misconception("Change V_x, V_h and c: does anything happen? Whose weights decide what is kept?")
def gate_with_the_candidates_weights(x, h, W_x, W_h, b, V_x, V_h, c):
    z = sigmoid(x @ W_x.T + h @ W_h.T + b)
    return z * h + (1 - z) * _candidate(x, h, W_x, W_h, b)


@gated_cell.misconception("Set x and h to zero. Which two biases should still show in the result?")
def candidate_without_its_bias(x, h, W_x, W_h, b, V_x, V_h, c):
    return reference.gated_cell(x, h, W_x, W_h, 0 * b, V_x, V_h, c)


@gated_cell.misconception("Set x and h to zero. Which two biases should still show in the result?")
def gate_without_its_bias(x, h, W_x, W_h, b, V_x, V_h, c):
    return reference.gated_cell(x, h, W_x, W_h, b, V_x, V_h, 0 * c)


@gated_cell.misconception("Two biases: which one belongs to the candidate, and which to the gate?")
def biases_exchanged(x, h, W_x, W_h, b, V_x, V_h, c):
    return reference.gated_cell(x, h, W_x, W_h, c, V_x, V_h, b)


@gated_cell.misconception("W_h and V_h are square, so no shape complains. Weights are (out, in): which axis meets h?")
def state_weights_not_transposed(x, h, W_x, W_h, b, V_x, V_h, c):
    return reference.gated_cell(x, h, W_x, W_h.T, b, V_x, V_h.T, c)


@gated_cell.misconception(NOT_TURNED)
def weights_not_transposed(x, h, W_x, W_h, b, V_x, V_h, c):
    z = sigmoid(x @ V_x + h @ V_h + c)
    return z * h + (1 - z) * torch.relu(x @ W_x + h @ W_h + b)
