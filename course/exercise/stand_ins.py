"""Stand-ins: functions that exercises pass to answers, described by a name and tensors so that they can be sent.

Each maker takes its parameters and returns a callable (or a module; torch's own layers are in `modules`). A parameter
may be a stand-in itself, or a dict of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from .values import Malformed, Ref, StandIn

MAKERS: dict[str, Callable[..., Any]] = {}


def maker(function: Callable[..., Any]) -> Callable[..., Any]:
    """Register a maker under its function's name."""
    MAKERS[function.__name__] = function
    return function


def stand_in(name: str, **parameters: Any) -> StandIn:
    """Describe the stand-in `name`.

    Raises:
        KeyError: there is no stand-in of that name.
    """
    if name not in MAKERS:
        raise KeyError(f"no stand-in is called {name!r}. There are {', '.join(sorted(MAKERS))}")
    return StandIn(name, parameters)


def make(described: StandIn, known: Callable[[str], Any] = lambda name: None) -> Any:
    """Make the callable that `described` stands for. `known` resolves a `Ref` among its parameters.

    Raises:
        Malformed: there is no stand-in of that name.
    """
    if described.name not in MAKERS:
        raise Malformed(f"no stand-in is called {described.name!r}")
    return MAKERS[described.name](**{name: _made(value, known) for name, value in described.parameters.items()})


def _made(value: Any, known: Callable[[str], Any]) -> Any:
    """Return a parameter with its stand-ins made and its references resolved."""
    if isinstance(value, StandIn):
        return make(value, known)
    if isinstance(value, Ref):
        return known(value.name)
    if isinstance(value, dict):
        return {name: _made(part, known) for name, part in value.items()}
    return value


# -- one step of a recurrent cell, cell(x (B, D), h (B, H)) -> (B, H): for topic 04 -----------------------------------


@maker
def squashing_cell(W_x: Tensor, W_h: Tensor, b: Tensor) -> Callable[[Tensor, Tensor], Tensor]:
    """Make Elman's recurrent cell, in which the latest input counts most."""
    return lambda x, h: torch.tanh(F.linear(x, W_x, b) + F.linear(h, W_h))


@maker
def adding_cell(W: Tensor) -> Callable[[Tensor, Tensor], Tensor]:
    """Make a cell that adds up its inputs, so that its state does not depend on their order."""
    return lambda x, h: h + F.linear(x, W)


@maker
def keeping_cell(W_x: Tensor, V_x: Tensor) -> Callable[[Tensor, Tensor], Tensor]:
    """Make a cell whose gate, computed from the input alone, mixes the old state with a new one."""

    def cell(x: Tensor, h: Tensor) -> Tensor:
        z = torch.sigmoid(F.linear(x, V_x))
        return z * h + (1 - z) * torch.tanh(F.linear(x, W_x))

    return cell


# -- sequence to sequence, (B, T, D) -> (B, T, D'): for topic 06 ------------------------------------------------------


@maker
def attending(W_q: Tensor, W_k: Tensor, W_v: Tensor) -> Callable[[Tensor], Tensor]:
    """Make a self-attention by torch's own function."""
    return lambda x: F.scaled_dot_product_attention(F.linear(x, W_q), F.linear(x, W_k), F.linear(x, W_v))


@maker
def beside_the_mean(W: Tensor, U: Tensor) -> Callable[[Tensor], Tensor]:
    """Make a function that combines each word with the mean of all."""
    return lambda x: torch.tanh(x @ W.T + x.mean(1, keepdim=True) @ U.T)


@maker
def pooled(W: Tensor) -> Callable[[Tensor], Tensor]:
    """Make a function that returns the mean of all words at every position."""
    return lambda x: (x.mean(1, keepdim=True) @ W.T).expand(-1, x.shape[1], -1)


@maker
def running_mean(W: Tensor) -> Callable[[Tensor], Tensor]:
    """Make a function that returns the mean of the words so far."""
    return lambda x: (x.cumsum(1) / torch.arange(1, x.shape[1] + 1, dtype=x.dtype)[:, None]) @ W.T


@maker
def with_positions(W: Tensor, positions: Tensor) -> Callable[[Tensor], Tensor]:
    """Make a function that adds a vector (T, D) of its position to each word."""
    return lambda x: (x + positions) @ W.T


@maker
def beside_the_first(W: Tensor, U: Tensor) -> Callable[[Tensor], Tensor]:
    """Make a function that combines each word with the first one."""
    return lambda x: torch.tanh(x @ W.T + x[:, :1] @ U.T)


@maker
def backwards(W: Tensor) -> Callable[[Tensor], Tensor]:
    """Make a function that reverses the words."""
    return lambda x: (x @ W.T).flip(1)


# -- one step of a generator, step(token (1,), h) -> (logits (1, V), h): for topic 03 -------------------------


@maker
def clock_step(logits: Tensor) -> Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Make a step with logits (P, V, V) by the time and the last token. The state (1, 1) counts the steps."""

    def step(token: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        if not isinstance(token, Tensor) or token.shape != (1,):
            raise ValueError(f"step takes a LongTensor of shape (1,) and a state, and got {token!r:.80}")
        return logits[int(h) % len(logits), token], h + 1

    return step


# -- a translator, model(src (B, S), tgt_in (B, T)) -> logits (B, T, V): for topic 10 ----------------------------------


class Oracle:
    """A translator without a network: scores of the next word from the source, the position and all words so far.

    Masks in a `Transformer`'s form say what is visible. A mask that hides a source word or an earlier word, or that
    shows padding of the source or the future, changes the scores at that position.
    """

    def __init__(self, scores: Tensor, pad: int, sos: int, eos: int) -> None:
        self.scores, self.pad, self.sos, self.eos, self.max_len = scores, pad, sos, eos, scores.shape[1]

    def __call__(self, src: Tensor, tgt_in: Tensor, src_mask: Any = None, tgt_mask: Any = None) -> Tensor:
        """Return scores (B, T, V) for sources `src` and words so far, `tgt_in` (B, T)."""
        sources, places, states, _ = self.scores.shape
        source = (src * (src != self.pad)).sum(1, keepdim=True) % sources  # (B, 1), independent of padding
        place = torch.arange(tgt_in.shape[1], device=src.device).clamp(max=places - 1)
        state = (tgt_in * (3 * place + 1)).cumsum(1)  # (B, T): which words, and in which order
        if src_mask is not None or tgt_mask is not None:
            state = state + self._masked_wrongly(src, tgt_in, src_mask, tgt_mask)
        return self.scores.to(src.device)[source, place, state % states]

    def _masked_wrongly(self, src: Tensor, tgt_in: Tensor, src_mask: Any, tgt_mask: Any) -> Tensor:
        """Count what each position and those before it see wrongly or miss, (B, T).

        Padding of the target is ignored, both as a position and as something seen, because its sentence has ended.
        """
        (B, T), S, real = tgt_in.shape, src.shape[1], tgt_in != self.pad
        wrong = torch.zeros(B, T, dtype=torch.long, device=src.device)
        if src_mask is not None:
            wrong = wrong + _differs(src_mask, (src != self.pad)[:, None].expand(B, T, S)).sum(-1)
        if tgt_mask is not None:
            past = torch.ones(B, T, T, dtype=torch.bool, device=src.device).tril()
            wrong = wrong + (_differs(tgt_mask, past) & real[:, None] & real[..., None]).sum(-1)
        return wrong.cumsum(1)

    def eval(self) -> Oracle:
        """Return the object itself, for decoders that call a module's `eval`."""
        return self

    def train(self, mode: bool = True) -> Oracle:
        """Return the object itself, for decoders that call a module's `train`."""
        return self


def _differs(mask: Any, allowed: Tensor) -> Tensor:
    """Return where a mask, broadcastable to (B, h, T, S), differs from `allowed` (B, T, S) in some head."""
    return (torch.as_tensor(mask, device=allowed.device).bool() ^ allowed[:, None]).any(1)


@maker
def oracle(scores: Tensor, pad: int, sos: int, eos: int) -> Oracle:
    """Make an oracle with `scores` (K, L, M, V) for K source classes, L positions (`max_len`) and M target states."""
    return Oracle(scores, pad, sos, eos)


# -- encodings, (n, d) -> vectors for n positions (n, d): for topic 08 -------------------------------------------------


@maker
def sinusoids(periods: Tensor, repeat: int = 0) -> Callable[[int, int], Tensor]:
    """Make sinusoids, a pair of columns for each period. From position `repeat` on the rows repeat."""

    def encode(n: int, d: int) -> Tensor:
        places = torch.arange(repeat or n, dtype=torch.float64)
        angles = 2 * torch.pi * places[:, None] / periods.double()[: d // 2]
        pairs = torch.polar(torch.ones_like(angles), angles)
        rows = torch.view_as_real(pairs).flip(-1).flatten(1)
        return rows[torch.arange(n) % len(rows)]  # bit for bit, which recomputed angles would not be

    return encode


@maker
def place_table(table: Tensor) -> Callable[[int, int], Tensor]:
    """Return the first rows of a table. The function raises ValueError beyond its last row."""

    def encode(n: int, d: int) -> Tensor:
        if n > len(table):
            raise ValueError(f"{n} places asked for, and only {len(table)} are in the table")
        return table[:n, :d].clone()

    return encode


@maker
def counted(step: float, of_length: bool = False) -> Callable[[int, int], Tensor]:
    """Make a position number times `step` in every column, divided by the length if `of_length`."""

    def encode(n: int, d: int) -> Tensor:
        numbers = step * torch.arange(n, dtype=torch.float64)[:, None].expand(n, d)
        return (numbers / n if of_length else numbers).clone()

    return encode


@maker
def counted_beside_one() -> Callable[[int, int], Tensor]:
    """Make a position number in even columns and ones in odd columns."""
    return lambda n, d: torch.stack([torch.arange(n).double(), torch.ones(n).double()], dim=1).repeat(1, d // 2)


@maker
def binary() -> Callable[[int, int], Tensor]:
    """Make the binary digits of the position number, the last digit first."""
    return lambda n, d: (torch.arange(n)[:, None] >> torch.arange(d)).remainder(2).double()


@maker
def powers(factors: Tensor) -> Callable[[int, int], Tensor]:
    """Make each column's factor to the power of the position number."""
    return lambda n, d: factors.double()[:d] ** torch.arange(n, dtype=torch.float64)[:, None]


@maker
def random_rows(first_rows: Tensor | None = None) -> Callable[[int, int], Tensor]:
    """Make uniform noise in [-1, 1), fresh at every call, after fixed `first_rows` (k, d)."""
    first = torch.zeros(0) if first_rows is None else first_rows
    return lambda n, d: torch.cat([first.view(-1, d), 2 * torch.rand(n - len(first), d, dtype=torch.float64) - 1])


# -- causal models, model(ids (B, T)) -> (B, T, K): for topic 09 -----------------------------------


@maker
def mean_so_far(E: Tensor, known: Tensor | None = None) -> Callable[[Tensor], Tensor]:
    """Make a model of the mean of the word vectors up to each position. It raises ValueError for unknown words."""

    def model(ids: Tensor) -> Tensor:
        if known is not None and not bool(torch.isin(ids, known).all()):
            raise ValueError("this model knows only the words of the text it was given")
        return E[ids].cumsum(1) / torch.arange(1, ids.shape[1] + 1, dtype=E.dtype)[:, None]

    return model


@maker
def mean_of_all(E: Tensor, size: float = 1.0) -> Callable[[Tensor], Tensor]:
    """Make a model of the mean so far plus `size` times the mean of the whole sentence."""
    return lambda ids: mean_so_far(E)(ids) + size * E[ids].mean(1, keepdim=True)


@maker
def looking_ahead(E: Tensor, by: int) -> Callable[[Tensor], Tensor]:
    """Make a model of each word and the one `by` positions later (earlier if negative), zero beyond the ends."""

    def model(ids: Tensor) -> Tensor:
        words, T = E[ids], ids.shape[1]
        place = torch.arange(T) + by
        there = (place >= 0) & (place < T)
        return torch.tanh(words + 2 * words[:, place.clamp(0, T - 1)] * there[:, None])

    return model


@maker
def peeking_at(E: Tensor, place: int, seen: int) -> Callable[[Tensor], Tensor]:
    """Make a model of the mean so far that, at one position, also sees the word at `seen`."""

    def model(ids: Tensor) -> Tensor:
        out = mean_so_far(E)(ids)
        if seen < ids.shape[1]:  # a shorter sentence has no such word
            out[:, place] += E[ids[:, seen]]
        return out

    return model


@maker
def peeking_sentence(E: Tensor, first: int) -> Callable[[Tensor], Tensor]:
    """Make a model of the mean so far that, in sentences that begin with the word `first`, sees all words."""

    def model(ids: Tensor) -> Tensor:
        return torch.where((ids[:, 0] == first)[:, None, None], mean_of_all(E)(ids), mean_so_far(E)(ids))

    return model


@maker
def balanced_peek(E: Tensor) -> Callable[[Tensor], Tensor]:
    """Make a model of the mean so far plus a leak from later words that sums to zero over the last axis."""
    return lambda ids: mean_so_far(E)(ids) + (E - E.mean(1, keepdim=True))[ids].mean(1, keepdim=True)


# -- a decoder with a KV cache, model(ids (B, T), cache) -> (logits (B, T, V), cache): for topic 15 --------------------


class CachedWriter:
    """A decoder without a network: scores of the next token from all tokens so far. `calls` records what it reads.

    The cache is opaque to callers. Here it holds a sum over the tokens and their number.
    """

    def __init__(self, scores: Tensor) -> None:
        self.scores = scores
        self.calls: list[tuple[int, ...]] = []

    def __call__(self, ids: Tensor, cache: Any = None) -> tuple[Tensor, Any]:
        """Return scores (B, T, V) for tokens (B, T) that follow those of the cache, and the new cache."""
        if not isinstance(ids, Tensor) or ids.ndim != 2 or ids.is_floating_point():
            raise ValueError(f"the model reads ids of shape (B, T), and got {ids!r:.80}")
        self.calls.append(tuple(ids.shape))
        before, known = (0, 0) if cache is None else cache()
        places = known + torch.arange(ids.shape[1])
        states = before + ((ids + 1) * (3 * places + 1)).cumsum(1)  # (B, T): which tokens, and in which order
        after = states[:, -1:], known + ids.shape[1]
        return self.scores[states % len(self.scores)], lambda: after

    def eval(self) -> CachedWriter:
        """Return the object itself, for generators that call a module's `eval`."""
        return self


@maker
def cached_writer(scores: Tensor) -> CachedWriter:
    """Make a decoder with `scores` (M, V) for M states of the tokens read."""
    return CachedWriter(scores)


# -- what looks at an answer's results: for topic 19 -------------------------------------------------------------------


@maker
def softmax_of_blocks() -> Callable[..., tuple[Tensor, Tensor]]:
    """Make a function that joins two blocks by merge(first, second), and returns o / l and m + log l, 0 if empty."""

    def joined(merge: Callable[..., Any], first: Any, second: Any) -> tuple[Tensor, Tensor]:
        m, total, out = merge(first, second)
        empty = total == 0
        total = total.masked_fill(empty, 1.0)
        return (out / total[..., None]).masked_fill(empty[..., None], 0.0), m.masked_fill(empty, 0.0) + total.log()

    return joined


@maker
def unchanged() -> Callable[[Any], Any]:
    """Make a function that returns what it gets, to record an earlier result again."""
    return lambda given: given
