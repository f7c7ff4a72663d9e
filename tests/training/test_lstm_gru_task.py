"""The task of topic 04 over ten seeds: gates clear every bar of the judge, Elman and the commonest bugs do not.

Measured on one core with the budget of the syllabus (100,000 sequences, about 10 s a run) and the notebook's falling
rate, on the lengths of training, on 24 tokens and on 48: an LSTM reaches 96 to 98 %, 90 to 95 % and 63 to 72 %; a GRU
96 to 97 %, 90 to 91 % and 66 to 69 %. Elman's network, at two learning rates, gets 84 to 88 %, 69 to 77 % and 57 to 63
%: it clears the last bar now and then, and no other; a cell state that is not carried 78 to 84 %, 63 to 70 % and 56 to
58 %; a detached state 72 to 74 %; reading the last column 57 % where the padding is random. (At a constant rate: an
LSTM 95 to 99 %, 86 to 96 % and 61 to 78 % forty times of forty, Elman's network 77 to 84 %, 60 to 69 % and 52 to 58
%.)
"""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from course.data.parentheses import LONGER, TOKENS, examples
from course.reference.lstm_gru import GatedClassifier, gru_cell, lstm_cell
from course.reference.rnn import ElmanClassifier
from tests.training.judged import falling, trained, verdict_on

pytestmark = pytest.mark.slow

SEEDS = range(10)


class Gru(GatedClassifier):
    """The same on the other cell."""

    def __init__(self, vocab_size: int, hidden: int, classes: int) -> None:
        super().__init__(vocab_size, hidden, classes)
        self.W, self.U, self.b = (nn.Parameter(part[: 3 * hidden].detach()) for part in (self.W, self.U, self.b))

    def states(self, ids: torch.Tensor) -> torch.Tensor:
        xs = F.one_hot(ids, self.vocab_size).to(self.W.dtype)
        h, states = xs.new_zeros(len(ids), self.hidden), []
        for x in xs.unbind(1):
            h = gru_cell(x, h, self.W, self.U, self.b)
            states.append(h)
        return torch.stack(states, dim=1)


class Elman(ElmanClassifier):
    """Topic 03's network, with the start that helps it most."""

    def __init__(self, vocab_size: int, hidden: int, classes: int) -> None:
        super().__init__(vocab_size, hidden, classes)
        nn.init.normal_(self.from_input.weight)


class CellNotCarried(GatedClassifier):
    """The commonest bug: h goes on from step to step, and c begins anew."""

    def states(self, ids: torch.Tensor) -> torch.Tensor:
        xs = F.one_hot(ids, self.vocab_size).to(self.W.dtype)
        h = zero = xs.new_zeros(len(ids), self.hidden)
        states = []
        for x in xs.unbind(1):
            h, _ = lstm_cell(x, h, zero, self.W, self.U, self.b)
            states.append(h)
        return torch.stack(states, dim=1)


class Detached(GatedClassifier):
    """Truncated to one step by a `detach` that came along from a language model's code."""

    def states(self, ids: torch.Tensor) -> torch.Tensor:
        xs = F.one_hot(ids, self.vocab_size).to(self.W.dtype)
        h = c = xs.new_zeros(len(ids), self.hidden)
        states = []
        for x in xs.unbind(1):
            h, c = lstm_cell(x, h.detach(), c.detach(), self.W, self.U, self.b)
            states.append(h)
        return torch.stack(states, dim=1)


class LastColumn(GatedClassifier):
    """Reads on through the padding."""

    def forward(self, ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        return super().forward(ids, torch.full_like(lengths, ids.shape[1]))


def train(kind: type[nn.Module], seed: int, lr: float = 1e-2) -> nn.Module:
    """The notebook's model and loop, with a rate that falls to a tenth."""
    build, clip = partial(kind, 10, 64, 2), partial(nn.utils.clip_grad_norm_, max_norm=1.0)
    return trained("lstm_gru_task", build, seed, lr=lr, schedule=falling(0.1), clip=clip)


@torch.no_grad()
def accuracy(model: nn.Module, lengths: tuple[int, int]) -> float:
    generator = torch.Generator().manual_seed(12345)
    ids, sizes, labels = examples(3000, lengths, generator)
    real = torch.arange(ids.shape[1]) < sizes[:, None]
    ids = torch.where(real, ids, torch.randint(TOKENS, ids.shape, generator=generator))
    return (model(ids, sizes).argmax(dim=1) == labels).double().mean().item()


def told(kind: type[nn.Module], seed: int, model: nn.Module) -> None:
    longest = LONGER[1]
    at = [accuracy(model, lengths) for lengths in (LONGER, (longest, longest), (2 * longest, 2 * longest))]
    print(f"{kind.__name__} {seed}: " + ", ".join(f"{share:.1%}" for share in at))


@pytest.mark.parametrize("seed", SEEDS)
def test_an_lstm_clears_the_bars_with_every_seed(seed):
    model = train(GatedClassifier, seed)
    told(GatedClassifier, seed, model)
    assert verdict_on("lstm_gru_task", model, seed).kind == "passed"


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_so_does_a_gru(seed):
    model = train(Gru, seed)
    told(Gru, seed, model)
    assert verdict_on("lstm_gru_task", model, seed).kind == "passed"


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("kind", "lr"),
    [(Elman, 5e-3), (Elman, 1e-2), (CellNotCarried, 1e-2), (Detached, 1e-2), (LastColumn, 1e-2)],
)
def test_elman_and_the_commonest_bugs_do_not(kind, lr, seed):
    model = train(kind, seed, lr)
    told(kind, seed, model)
    verdict = verdict_on("lstm_gru_task", model, seed)
    print(f"    {verdict.score} of {verdict.points} points, {verdict.misconception or 'nothing known'}")
    assert verdict.score < verdict.points
    assert verdict.misconception
