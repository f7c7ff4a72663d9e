"""Wrong answers to `run_bidirectional`: a beginner's first attempts."""

from __future__ import annotations

import torch


def _walk(cell, xs, h, places):
    states = []
    for t in places:
        h = cell(xs[:, t], h)
        states.append(h)
    return states


def kept_before_the_step(cell_f, cell_b, xs, h0_f, h0_b):
    T = xs.shape[1]
    forward = [h0_f, *_walk(cell_f, xs, h0_f, range(T))][:T]
    backward = [h0_b, *_walk(cell_b, xs, h0_b, reversed(range(T)))][:T]
    return torch.cat([torch.stack(forward, dim=1), torch.stack(backward[::-1], dim=1)], dim=-1)


def stacked_in_front(cell_f, cell_b, xs, h0_f, h0_b):
    T = xs.shape[1]
    forward, backward = _walk(cell_f, xs, h0_f, range(T)), _walk(cell_b, xs, h0_b, reversed(range(T)))
    return torch.cat([torch.stack(forward), torch.stack(backward[::-1])], dim=-1)


FIRST_ATTEMPTS = {
    kept_before_the_step: "Has the cell read a token by then?",
    stacked_in_front: "The values are right with the axes in the order (1, 0, 2)",
}
