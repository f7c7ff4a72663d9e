"""Right answers to `bptt` that look nothing like the reference."""

from __future__ import annotations

import numpy as np
import torch

from tests.hidden.alternatives.rnn.scaffold import forward_into_a_tensor


def bptt_then_one_product(xs, h0, W_x, W_h, b, grad_h_T):
    """All deltas first, then each sum over time as one einsum."""
    hs, _ = forward_into_a_tensor(xs, h0, W_x, W_h, b)
    deltas, grad = torch.empty_like(hs), grad_h_T
    for t in range(xs.shape[1] - 1, -1, -1):
        deltas[:, t] = grad * (1 - hs[:, t].square())
        grad = torch.einsum("bk,kh->bh", deltas[:, t], W_h)
    before = torch.cat([h0[:, None], hs[:, :-1]], 1)
    return {
        "h0": grad,
        "b": deltas.sum((0, 1)),
        "W_h": torch.einsum("btk,bth->kh", deltas, before),
        "W_x": torch.einsum("btk,btd->kd", deltas, xs),
    }


class _Step:
    """One step that knows its own way back, as the layers of a library do."""

    def __init__(self, x, h, W_x, W_h, b):
        self.x, self.h, self.W_h = x, h, W_h
        self.after = torch.tanh(x @ W_x.T + h @ W_h.T + b)

    def backward(self, grad):
        delta = grad * (1 - self.after.square())
        return delta.T @ self.x, delta.T @ self.h, delta.sum(0), delta @ self.W_h


def bptt_by_steps_with_a_way_back(xs, h0, W_x, W_h, b, grad_h_T):
    with torch.set_grad_enabled(False):
        steps, h = [], h0
        for x in xs.unbind(1):
            steps.append(_Step(x, h, W_x, W_h, b))
            h = steps[-1].after
        found = {name: torch.zeros_like(weight) for name, weight in (("W_x", W_x), ("W_h", W_h), ("b", b))}
        for step in reversed(steps):
            *gradients, grad_h_T = step.backward(grad_h_T)
            found = {name: total + more for (name, total), more in zip(found.items(), gradients, strict=True)}
    return {**found, "h0": grad_h_T}


def bptt_in_numpy(xs, h0, W_x, W_h, b, grad_h_T):
    x, h, W, U, bias, grad = (tensor.numpy() for tensor in (xs, h0, W_x, W_h, b, grad_h_T))
    states = [h]
    for t in range(x.shape[1]):
        states.append(np.tanh(x[:, t] @ W.T + states[-1] @ U.T + bias))
    found = {name: np.zeros_like(like) for name, like in (("W_x", W), ("W_h", U), ("b", bias))}
    for t in reversed(range(x.shape[1])):
        inside = grad * (1 - states[t + 1] ** 2)
        found["W_x"] += inside.T @ x[:, t]
        found["W_h"] += inside.T @ states[t]
        found["b"] += inside.sum(0)
        grad = inside @ U
    return {name: torch.from_numpy(value) for name, value in (found | {"h0": grad}).items()}


ALTERNATIVES = [bptt_then_one_product, bptt_by_steps_with_a_way_back, bptt_in_numpy]
