"""Tables of hidden Markov models, and the three sums with one piece exchanged at a time."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from course.exercise.rng import Rng

Tables = tuple[Tensor, Tensor, Tensor]


def tables(rng: Rng, states: int, symbols: int, dtype: torch.dtype = torch.float64) -> Tables:
    """Logarithms of a start (S,), a chain (S, S) and its emissions (S, V); nothing is impossible."""
    start, chain, emissions = (rng.normal(*shape) for shape in ((states,), (states, states), (states, symbols)))
    start, chain, emissions = (table.log_softmax(-1).to(dtype) for table in (start, 1.5 * chain, 1.5 * emissions))
    return start, chain, emissions


def tables_and_texts(
    rng: Rng, texts: int, length: int, states: int, symbols: int, dtype: torch.dtype = torch.float64
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """`tables`, and any texts (B, T) to be read by them."""
    return *tables(rng, states, symbols, dtype), rng.integers(0, symbols, texts, length)


def sparse(rng: Rng, states: int, symbols: int) -> Tables:
    """The same with zeros in all three: state i is followed by i, i + 1 or i + 2, and emits two of the symbols.

    Symbol 0 comes from state 0 alone, and no other state leads to state 0: it can stand at the beginning only.
    """
    start, chain, emissions = tables(rng, states, symbols)
    i = torch.arange(states)
    near = (i - i[:, None]) % states <= 2
    near[1:, 0] = False
    place = torch.arange(symbols)
    emits = (place - i[:, None]) % (symbols - 1) < 3
    emits[:, 0] = i == 0
    started = i < states - 1
    kept = ((start, started), (chain, near), (emissions, emits))
    start, chain, emissions = (table.masked_fill(~may, -math.inf).log_softmax(-1) for table, may in kept)
    return start, chain, emissions


def emitted_by(found: Tables, rng: Rng, texts: int, length: int) -> Tensor:
    """Texts (B, T) drawn from a model, so that they are possible."""
    start, chain, emissions = (table.exp() for table in found)
    generator = torch.Generator().manual_seed(rng.seed())
    state = torch.multinomial(start.expand(texts, -1), 1, generator=generator)
    seen = []
    for _ in range(length):
        seen.append(torch.multinomial(emissions[state[:, 0]], 1, generator=generator))
        state = torch.multinomial(chain[state[:, 0]], 1, generator=generator)
    return torch.cat(seen, 1)


def log_sum(x: Tensor, dim: int) -> Tensor:
    """Right, if nobody asks for a gradient where all is impossible."""
    return x.logsumexp(dim)


def log_sum_by_hand(x: Tensor, dim: int) -> Tensor:
    """Its maximum is -inf where all is, and -inf - -inf is NaN."""
    largest = x.amax(dim, keepdim=True)
    return (x - largest).exp().sum(dim).log() + largest.squeeze(dim)


def log_sum_underflowing(x: Tensor, dim: int) -> Tensor:
    """Out of the logarithms and back: exp(-2000) is zero."""
    return x.exp().sum(dim).log()


def log_sum_with_a_little(x: Tensor, dim: int) -> Tensor:
    """A small number keeps the logarithm finite, and makes what is impossible possible."""
    return (x.exp().sum(dim) + 1e-10).log()


Sum = Callable[[Tensor, int], Tensor]


def forward(
    log_start: Tensor,
    log_A: Tensor,
    log_E: Tensor,
    seen: Tensor,
    add: Sum = log_sum,
    first: bool = True,
    late: int = 0,
) -> tuple[Tensor, Tensor]:
    """The forward sum; without the `first` emission, or with emissions that come `late` by so many steps."""
    emitted = log_E.T[seen]
    log_alpha = [log_start + emitted[:, 0] * first]
    for t in range(1, seen.shape[1]):
        log_alpha.append(add(log_alpha[-1][:, :, None] + log_A, 1) + emitted[:, t - late])
    return torch.stack(log_alpha, 1), add(log_alpha[-1], 1)


def backward(log_A: Tensor, log_E: Tensor, seen: Tensor, add: Sum = log_sum) -> Tensor:
    """log p(seen after t | state at t), (B, T, S)."""
    emitted = log_E.T[seen]
    log_beta = [torch.zeros_like(emitted[:, 0])]
    for t in reversed(range(1, seen.shape[1])):
        log_beta.append(add(log_A + (emitted[:, t] + log_beta[-1])[:, None, :], 2))
    return torch.stack(log_beta[::-1], 1)
