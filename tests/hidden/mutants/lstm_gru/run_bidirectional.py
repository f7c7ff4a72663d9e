"""Wrong answers to `run_bidirectional`: a beginner's first attempts."""

from __future__ import annotations

import torch


def _walk(cell, xs, h, places):
    states = []
    for t in places:
        h = cell(xs[:, t], h)
        states.append(h)
    return states


def one_loop_for_both(cell_f, cell_b, xs, h0_f, h0_b):
    T, states = xs.shape[1], []
    for t in range(T):
        h0_f, h0_b = cell_f(xs[:, t], h0_f), cell_b(xs[:, T - 1 - t], h0_b)
        states.append(torch.cat([h0_f, h0_b], dim=1))
    return torch.stack(states, dim=1)


def over_the_batch(cell_f, cell_b, xs, h0_f, h0_b):
    forward, backward = [], []
    for x, last in zip(xs, reversed(xs), strict=True):
        h0_f, h0_b = cell_f(x, h0_f), cell_b(last, h0_b)
        forward.append(h0_f)
        backward.insert(0, h0_b)
    return torch.cat([torch.stack(forward, dim=1), torch.stack(backward, dim=1)], dim=-1)


def first_token_never_read(cell_f, cell_b, xs, h0_f, h0_b):
    T = xs.shape[1]
    forward, backward = _walk(cell_f, xs, h0_f, range(T)), _walk(cell_b, xs, h0_b, range(T - 1, 0, -1))
    return torch.cat([torch.stack(forward, dim=1), torch.stack(backward[::-1], dim=1)], dim=-1)


def state_goes_on(cell_f, cell_b, xs, h0_f, h0_b):
    T = xs.shape[1]
    forward = _walk(cell_f, xs, h0_f, range(T))
    backward = _walk(cell_b, xs, forward[-1], reversed(range(T)))
    return torch.cat([torch.stack(forward, dim=1), torch.stack(backward[::-1], dim=1)], dim=-1)


def kept_before_the_step(cell_f, cell_b, xs, h0_f, h0_b):
    T = xs.shape[1]
    forward = [h0_f, *_walk(cell_f, xs, h0_f, range(T))][:T]
    backward = [h0_b, *_walk(cell_b, xs, h0_b, reversed(range(T)))][:T]
    return torch.cat([torch.stack(forward, dim=1), torch.stack(backward[::-1], dim=1)], dim=-1)


def last_states_alone(cell_f, cell_b, xs, h0_f, h0_b):
    T = xs.shape[1]
    forward, backward = _walk(cell_f, xs, h0_f, range(T)), _walk(cell_b, xs, h0_b, reversed(range(T)))
    return torch.cat([forward[-1], backward[-1]], dim=1)


def stacked_in_front(cell_f, cell_b, xs, h0_f, h0_b):
    T = xs.shape[1]
    forward, backward = _walk(cell_f, xs, h0_f, range(T)), _walk(cell_b, xs, h0_b, reversed(range(T)))
    return torch.cat([torch.stack(forward), torch.stack(backward[::-1])], dim=-1)


FIRST_ATTEMPTS = {
    one_loop_for_both: "At which position of your result is that state?",
    over_the_batch: "What does a loop over xs hand to your cell",
    first_token_never_read: "Which token has your backward cell never read?",
    state_goes_on: "From which state does it start?",
    kept_before_the_step: "Has the cell read a token by then?",
    last_states_alone: "how many do you return?",
    stacked_in_front: "The values are right with the axes in the order (1, 0, 2)",
}
