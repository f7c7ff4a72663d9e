"""A small exercise for the judge's own tests."""

from __future__ import annotations

import torch

from course.exercise import call, draws, exercise
from course.exercise.declaration import Exercise

FORWARD = """
def rnn_forward(xs, h0, W_x, W_h, b):
    h, states = h0, []
    for t in range(xs.shape[1]):
        h = rnn_cell(xs[:, t], h, W_x, W_h, b)
        states.append(h)
    return torch.stack(states, dim=1), h
"""
"""An answer to `rnn_forward` that calls `rnn_cell`."""


def cell(x, W, b):
    return torch.tanh(x @ W.T + b)


@exercise(cell, hints=("first", "second"), forbidden=("F.linear", "torch.softmax"), name="rnn_cell")
def sample(rng):
    for title, batch, public in [("a small batch", 2, True), ("a batch of one", 1, False)]:
        yield call(title, rng.normal(batch, 3), rng.normal(5, 3), rng.normal(5), public=public)
    yield call("float32", *(rng.normal(*shape, dtype=torch.float32) for shape in [(2, 3), (5, 3), (5,)]))


@sample.misconception("What comes out for x = 0?")
def no_bias(x, W, b):
    return torch.tanh(x @ W.T)


@sample.misconception("What is the range of your values?")
def no_tanh(x, W, b):
    return x @ W.T + b


@sample.misconception("How does the loss learn W?", convention="detached states")
def detached(x, W, b):
    return torch.tanh(x @ W.T + b).detach().requires_grad_()


def coin(p, n, generator):
    return (torch.rand(n, generator=generator, dtype=torch.float64) < p).long()


@exercise(coin, name="sample_text")
def tosses(rng):
    yield draws("many tosses", 50, 0.3, 40, rng.generator(), public=True).law(
        "frequencies", probabilities=torch.tensor([0.7, 0.3]), draws=50 * 40
    )


@tosses.misconception("How often should 1 come up?")
def fair(p, n, generator):
    return torch.randint(0, 2, (n,), generator=generator)


@tosses.misconception("Is p the chance of a 1?")
def inverted(p, n, generator):
    return (torch.rand(n, generator=generator, dtype=torch.float64) >= p).long()


__all__ = ["Exercise", "cell", "coin", "sample", "tosses"]
